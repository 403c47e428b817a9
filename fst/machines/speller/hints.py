"""The options of a dictionary that only suggestions read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fst.core.json_fields import FLAG, TEXTS, Rule, is_text, is_whole, or_null, stored_as, whole

MAX_ROWS, MAX_STRINGS = 1 << 20, 1 << 16  # maximum number of rows of a list, and of strings of a row
MAX_SIGNS = 1 << 12  # maximum number of characters of KEY and TRY
LIMIT = or_null(whole(0, 1 << 20))


def _is_fault(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and TEXTS.holds(value[:2]) and value[0] != "" and is_whole(value[2], 0, 3)


def _rows(is_row: Any, expected: str) -> Rule:
    def holds(value: Any) -> bool:
        return isinstance(value, list) and len(value) <= MAX_ROWS and all(map(is_row, value))

    return Rule(holds, expected)


def _strings(size: int, what: str) -> Rule:
    def is_row(row: Any) -> bool:
        return TEXTS.holds(row) and len(row) == size and row[0] != ""

    return _rows(is_row, f"a list of {what}, which are lists of strings")


def _is_class(row: Any) -> bool:
    return TEXTS.holds(row) and 0 < len(row) <= MAX_STRINGS and all(row)


SIGNS = Rule(lambda value: is_text(value) and len(value) <= MAX_SIGNS, f"a string of at most {MAX_SIGNS} characters")


@dataclass(frozen=True)
class Hints:
    """The options of suggestions; names in capitals are those of ``man 5 hunspell``.

    Attributes:
        keyboard: the rows of the keyboard (KEY).
        tried: the characters of words, the most frequent first (TRY).
        similar: classes of similar strings (MAP).
        faults: frequent faults (REP): the fault, its correction, and 1 if it must begin the word, plus 2 if it must end the word.
        outputs: conversions of suggestions (OCONV): the string; its replacements inside, at the beginning, at the end, of an entire word.
        phonetic: strings and their sounds (PHONE).
        most_similar, most_compounds, most_difference: limits of suggestions (MAXNGRAMSUGS, MAXCPDSUGS, MAXDIFF); None: the default.
        only_most_similar: suggest only the most similar words (ONLYMAXDIFF).
        never_splits: no suggestions of two words (NOSPLITSUGS).
        suggests_dots: suggestions end with the dots of the word (SUGSWITHDOTS).
    """

    keyboard: str = stored_as(SIGNS)
    tried: str = stored_as(SIGNS)
    similar: Sequence[Sequence[str]] = stored_as(_rows(_is_class, "a list of classes, which are lists of strings that are not empty"))
    faults: Sequence[Any] = stored_as(_rows(_is_fault, "a list of lists with two strings and a number from 0 to 3"))
    outputs: Sequence[Sequence[str]] = stored_as(_strings(5, "conversions"))
    phonetic: Sequence[Sequence[str]] = stored_as(_strings(2, "pairs"))
    most_similar: int | None = stored_as(LIMIT)
    most_compounds: int | None = stored_as(LIMIT)
    most_difference: int | None = stored_as(LIMIT)
    only_most_similar: bool = stored_as(FLAG)
    never_splits: bool = stored_as(FLAG)
    suggests_dots: bool = stored_as(FLAG)

    def texts(self) -> Iterator[str]:
        """The strings of all options."""
        yield from (self.keyboard, self.tried)
        for fault, correction, _ in self.faults:
            yield from (fault, correction)
        for row in (*self.similar, *self.outputs, *self.phonetic):
            yield from row
