"""Rewrite rules by definition: at each position all matches are tried with `re`, and the longest is taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    """A rule: the regular expressions of `re`, in which ``^`` and ``$`` are the ends of the text, and the string that it writes."""

    phi: str
    psi: str
    left: str = ""
    right: str = ""


def rewritten(rules: Sequence[Rule], text: str, direction: str) -> str:
    """The text that parallel rules write."""
    return _from_right(rules, text) if direction == "rtl" else _from_left(rules, text, direction == "ltr")


def _from_left(rules: Sequence[Rule], text: str, keeps_written: bool) -> str:
    new, at = "", 0
    while at <= len(text):
        before = new if keeps_written else text[:at]
        found = [(end, rule) for rule in rules if _ends(rule.left, before) for end in [_longest(rule, text, at)] if end is not None]
        end, rule = max(found, key=lambda each: each[0], default=(at, None))
        new += rule.psi if rule else ""
        if end == at:
            new += text[at : at + 1]
            end += 1
        at = end
    return new


def _longest(rule: Rule, text: str, at: int) -> int | None:
    ends = range(len(text), at - 1, -1)
    return next((end for end in ends if re.fullmatch(rule.phi, text[at:end]) and re.match(rule.right, text[end:])), None)


def _from_right(rules: Sequence[Rule], text: str) -> str:
    new, at = "", len(text)
    while at >= 0:
        found = [(begin, rule) for rule in rules if re.match(rule.right, new) for begin in [_first(rule, text, at)] if begin is not None]
        begin, rule = min(found, key=lambda each: each[0], default=(at, None))
        new = (rule.psi if rule else "") + new
        if begin == at:
            new = text[max(at - 1, 0) : at] + new
            begin -= 1
        at = begin
    return new


def _first(rule: Rule, text: str, at: int) -> int | None:
    """The first begin of a match that ends at a position."""
    return next((begin for begin in range(at + 1) if re.fullmatch(rule.phi, text[begin:at]) and _ends(rule.left, text[:begin])), None)


def _ends(pattern: str, text: str) -> bool:
    """Whether a string that matches is at the end of a text."""
    return re.search(rf"(?:{pattern})\Z", text) is not None
