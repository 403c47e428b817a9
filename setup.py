"""Packages are found, not listed: the folders compile, runtime and cli install as parts of the package fst, and pyproject.toml has no rule
for that. Everything else is in pyproject.toml. Native code is added to finished wheels, see .ci/release.
"""

from setuptools import find_packages, setup

PARTS = ("compile", "runtime", "cli")

own = find_packages(include=["fst", "fst.*"])
parts = find_packages(include=[pattern for part in PARTS for pattern in (part, f"{part}.*")])
setup(packages=[*own, *(f"fst.{package}" for package in parts)], package_dir={f"fst.{part}": part for part in PARTS})
