"""Rewrite rules by definition: at each position all matches are tried with `re`, and the longest is taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    r"""A rule: regular expressions of `re`, in which ``^`` and ``$`` are the ends of the text and ``\b`` is the edge of a word, and the
    string that it writes.
    """

    phi: str
    psi: str
    left: str = ""
    right: str = ""

    def output(self, matched: str) -> str | None:
        """The string that replaces a string; None if phi does not match it."""
        return self.psi if re.fullmatch(self.phi, matched) else None


class Replacement(NamedTuple):
    """A transducer between two contexts: a function from a string to its output, which is None if the transducer does not accept it."""

    output: Callable[[str], str | None]
    left: str = ""
    right: str = ""


AnyRule = Rule | Replacement


def rewritten(rules: Sequence[AnyRule], text: str, direction: str) -> str:
    """The text that parallel rules write."""
    return _from_right(rules, text) if direction == "rtl" else _from_left(rules, text, direction == "ltr")


def _from_left(rules: Sequence[AnyRule], text: str, keeps_written: bool) -> str:
    new, at = "", 0
    while at <= len(text):
        before = new if keeps_written else text[:at]
        possible = [(_longest(rule, text, at, before), rule) for rule in rules if _ends(rule.left, before, text[at:])]
        found = [(end, rule) for end, rule in possible if end is not None]
        end, rule = max(found, key=lambda each: each[0], default=(at, None))
        new += (rule.output(text[at:end]) or "") if rule else ""
        if end == at:
            new += text[at : at + 1]
            end += 1
        at = end
    return new


def _longest(rule: AnyRule, text: str, at: int, before: str) -> int | None:
    """The last end of a match that begins at a position; for an empty match, the right context is tested after `before`."""
    ends = (end for end in range(len(text), at, -1) if rule.output(text[at:end]) is not None)
    found = (end for end in ends if _begins(rule.right, text[:end], text[end:]))
    return next(found, at if rule.output("") is not None and _begins(rule.right, before, text[at:]) else None)


def _from_right(rules: Sequence[AnyRule], text: str) -> str:
    new, at = "", len(text)
    while at >= 0:
        possible = [(_first(rule, text, at, new), rule) for rule in rules if _begins(rule.right, text[:at], new)]
        found = [(begin, rule) for begin, rule in possible if begin is not None]
        begin, rule = min(found, key=lambda each: each[0], default=(at, None))
        new = ((rule.output(text[begin:at]) or "") if rule else "") + new
        if begin == at:
            new = text[max(at - 1, 0) : at] + new
            begin -= 1
        at = begin
    return new


def _first(rule: AnyRule, text: str, at: int, after: str) -> int | None:
    """The first start of a match that ends at a position; for an empty match, the left context is tested before `after`."""
    begins = (begin for begin in range(at) if rule.output(text[begin:at]) is not None)
    found = (begin for begin in begins if _ends(rule.left, text[:begin], text[begin:]))
    return next(found, at if rule.output("") is not None and _ends(rule.left, text[:at], after) else None)


def _begins(pattern: str, before: str, after: str) -> bool:
    """Whether a match of a pattern begins at the boundary between two texts."""
    return re.compile(pattern).match(before + after, len(before)) is not None


def _ends(pattern: str, before: str, after: str) -> bool:
    """Whether a match of a pattern ends at the boundary between two texts."""
    return re.search(rf"(?:{pattern})(?s:(?<=\A.{{{len(before)}}}))", before + after) is not None
