"""Every reader of files reads valid files, and reads or refuses all others, with an error of this package in one line."""

from __future__ import annotations

import random

import pytest
from support.fuzz.readers import READERS
from support.tiers import ALL

import fst

CHANGES = 400 if ALL else 6  # of valid files, for each reader
FOUND = [(name, place) for name, reader in READERS.items() for place in range(len(reader.found))]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_accepted(name: str) -> None:
    """Every valid file is accepted, so that changed files come to all parts of the reader."""
    assert all(map(READERS[name].check, READERS[name].seeds()))


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_read_or_refused(name: str) -> None:
    """A file with random changes is read, or refused with an error of this package."""
    reader, draw = READERS[name], random.Random(name)
    seeds = reader.seeds()
    for _ in range(CHANGES):
        data = draw.choice(seeds)
        for _ in range(draw.choice((1, 1, 3))):
            data = reader.mutate(data, draw, draw.choice(seeds))
        reader.check(data)


@pytest.mark.parametrize(("name", "place"), FOUND)
def test_found_files_are_read_or_refused(name: str, place: int) -> None:
    """A file for which a reader once raised another error, or took too long, is read or refused."""
    READERS[name].check(READERS[name].found[place])


def test_messages_are_one_printable_line() -> None:
    """The message of an error or a warning escapes control characters, lone surrogates and marks of direction, so that a file cannot write
    to a terminal.
    """
    for kind in (fst.VocabularyError, fst.TextError, fst.FstWarning):
        assert str(kind("a\n\x1b[2J\u202eé\ud800")) == "a\\n\\x1b[2J\\u202eé\\ud800"
