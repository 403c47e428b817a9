"""Versions, bounds and the changelog follow the page of versions and promises."""

from __future__ import annotations

import re
from datetime import date

from support.shared_data import REPOSITORY

from fst.core.version import VERSION

PAGE = (REPOSITORY / "docs" / "versions.md").read_text(encoding="utf-8")
PROJECT = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (Python|NumPy) (\d+)\.(\d+) \| (\w+) (\d{4}) \| (\w+) (\d{4}) \|$", re.MULTILINE)
YEARS = {"Python": 3, "NumPy": 2}
BOUND = {"Python": r'requires-python = ">=(\d+)\.(\d+)"', "NumPy": r'"numpy>=(\d+)\.(\d+)'}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
CHANGES = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_support_ends_as_in_spec_0() -> None:
    """Python is supported for three years after its release, NumPy for two."""
    rows = ROW.findall(PAGE)
    assert {name for name, *_ in rows} == {*YEARS}
    for name, _, _, month, year, last_month, last_year in rows:
        assert (last_month, int(last_year)) == (month, int(year) + YEARS[name])


def test_no_bound_excludes_a_supported_version() -> None:
    """Every version of Python and NumPy that is still supported can be installed with this package."""
    today = date.today()
    for name, major, minor, _, _, month, year in ROW.findall(PAGE):
        bound = re.search(BOUND[name], PROJECT)
        assert bound
        if (int(year), MONTHS.index(month) + 1) >= (today.year, today.month):
            assert (int(major), int(minor)) >= (int(bound[1]), int(bound[2]))


def test_changelog_has_the_usual_headings() -> None:
    """The changelog begins with the section Unreleased or with this version; its sections are versions with dates, and kinds of changes."""
    versions = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert versions[0] == "Unreleased" or versions[0].startswith(VERSION)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}", version) for version in versions if version != "Unreleased")
    assert {*re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)} <= {*CHANGES}


def test_citation_has_the_version() -> None:
    """CITATION.cff names the version of the package."""
    assert f"\nversion: {VERSION}\n" in (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
