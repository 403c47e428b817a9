"""The workflow files test the versions of Python that the package names, run commands that exist, and give rights to one job only."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.shared_data import REPOSITORY

if not (REPOSITORY / ".github").exists():
    pytest.skip("the source distribution has no workflows", allow_module_level=True)
tomllib: Any = pytest.importorskip("tomllib", reason="the classifiers are read by Python 3.11 or later")

WORKFLOWS = {path.stem: path.read_text(encoding="utf-8") for path in (REPOSITORY / ".github" / "workflows").glob("*.yml")}
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = re.compile(r"^ *python: \[(.*)\]$", re.MULTILINE)
ACTION = re.compile(r"uses: (\S+)@(\S+)(?: # (\S+))?")


def pythons(name: str) -> list[str]:
    """The versions of Python in the matrix of a workflow."""
    found = PYTHONS.search(WORKFLOWS[name])
    assert found
    return re.findall(r'"([\d.]+)"', found[1])


def test_all_named_versions_of_python_are_tested() -> None:
    """The tests run on each version of Python that the classifiers name, and the first of them is the oldest that installs."""
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: Python :: 3\.\d+$", line)]
    assert pythons("tests") == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert {*pythons("release")} <= {*named}


def test_scripts_exist() -> None:
    """Every script and every extra that a workflow names exists."""
    text = "\n".join(WORKFLOWS.values())
    scripts, extras = re.findall(r"run: (\.ci/\w+)", text), re.findall(r'-e "\.\[(\w+)\]"', text)
    assert scripts
    assert extras
    assert all((REPOSITORY / script).is_file() for script in scripts)
    assert {*extras} <= {*PROJECT["optional-dependencies"]}


def test_actions_are_pinned() -> None:
    """Every action is pinned by the digest of a commit, with its version as a comment; equal actions have equal digests."""
    found = {match.groups() for text in WORKFLOWS.values() for match in ACTION.finditer(text)}
    assert all(re.fullmatch(r"[0-9a-f]{40}", digest) and (version or "").startswith("v") for _, digest, version in found)
    assert len({name for name, _, _ in found}) == len(found)


def test_one_job_alone_may_publish() -> None:
    """Workflows read the repository only; a token for PyPI is given to the last job of the release alone."""
    for text in WORKFLOWS.values():
        assert "\npermissions:\n  contents: read\n" in text
        assert "secrets." not in text
    assert "id-token" not in WORKFLOWS["tests"]
    before, _, publish = WORKFLOWS["release"].partition("\n  publish:\n")
    assert "id-token" not in before
    assert "environment: pypi" in publish
