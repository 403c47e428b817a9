"""Codes at the start of a text, in the metadata of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fst.automata.rows import MAX_OUTPUT
from fst.core.json_fields import Rule, is_text, record, stored_as, whole
from fst.tables.ids import TOKEN_IDS

SOME_TEXT = Rule(lambda value: is_text(value) and value != "", "a string, not empty")


@dataclass(frozen=True)
class LeadingCodes:
    """Codes, such as ``>>fra<<``, that are one token at the start of a text or after another added token.

    A code begins with `begin`, and ends with the first `end` after it.

    Attributes:
        begin, end: the strings around a code.
        ids: the known codes, and their ids.
        unknown: the id of all other codes.
    """

    begin: str = stored_as(SOME_TEXT)
    end: str = stored_as(SOME_TEXT)
    ids: Mapping[str, int] = stored_as(TOKEN_IDS)
    unknown: int = stored_as(whole(0, MAX_OUTPUT))

    def size(self, text: str) -> int:
        """The number of characters of the code at the start of a text; 0 if the text does not begin with a code."""
        place = text.find(self.end) if text.startswith(self.begin) else -1
        return place + len(self.end) if place >= 0 else 0


LEADING_CODES = record(LeadingCodes, "a mapping of 'begin', 'end', 'ids' and 'unknown'")
