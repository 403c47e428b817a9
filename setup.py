"""Packages are found, not listed: the folders compile, runtime and cli install as parts of the package fst, and pyproject.toml has no rule
for that. If there is native code (fst/core/native.py), it becomes a part of the wheel, together with the extension that calls it, which is
compiled once for all versions of Python. Everything else is in pyproject.toml.
"""

from pathlib import Path

from setuptools import Extension, find_packages, setup

PARTS = ("compile", "runtime", "cli")

own = find_packages(include=["fst", "fst.*"])
parts = find_packages(include=[pattern for part in PARTS for pattern in (part, f"{part}.*")])
native = {}
if Path("fst/native/manifest.json").exists():
    own.append("fst.native")
    native = {
        "ext_modules": [Extension("fst.native.calls", ["fst/core/calls.c"], py_limited_api=True)],
        "options": {"bdist_wheel": {"py_limited_api": "cp310"}},
    }
setup(packages=[*own, *(f"fst.{package}" for package in parts)], package_dir={f"fst.{part}": part for part in PARTS}, **native)
