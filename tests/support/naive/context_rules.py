"""Rewrite rules with contexts by their definition, over strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BEGIN, END = "^", "$"  # the ends of a text in contexts


@dataclass(frozen=True)
class Rule:
    """A rule of strings, none of which replaces the empty string.

    Attributes:
        pairs: input, output and weight.
        left, right: the strings of the contexts, which may begin with `BEGIN` or end with `END`.
        direction: "ltr", "rtl" or "sim".
        is_optional: whether a match may be copied.
    """

    pairs: Sequence[tuple[str, str, float]]
    left: Sequence[str]
    right: Sequence[str]
    direction: str = "ltr"
    is_optional: bool = False

    def mirrored(self) -> Rule:
        """The rule for texts that are read backwards."""
        pairs = [(read[::-1], written[::-1], weight) for read, written, weight in self.pairs]
        left, right = ([text[::-1].translate({94: 36, 36: 94}) for text in side] for side in (self.right, self.left))
        return Rule(pairs, left, right, "ltr", self.is_optional)


def rewritten(rule: Rule, text: str) -> dict[str, float]:
    """Every result of a text, with its smallest weight."""
    if rule.direction == "rtl":
        return {result[::-1]: weight for result, weight in rewritten(rule.mirrored(), text[::-1]).items()}
    found: dict[str, float] = {}
    for result, weight in _results(rule, text, 0, ""):
        found[result] = min(weight, found.get(result, weight))
    return found


def _results(rule: Rule, text: str, place: int, written: str) -> Iterator[tuple[str, float]]:
    """The results of the rest of a text, after `place` characters have become `written`."""
    before = text[:place] if rule.direction == "sim" else written
    matches = [
        (read, output, weight)
        for read, output, weight in rule.pairs
        if text.startswith(read, place)
        and any((BEGIN + before).endswith(left) for left in rule.left)
        and any((text[place + len(read) :] + END).startswith(right) for right in rule.right)
    ]
    for read, output, weight in matches:
        for result, more in _results(rule, text, place + len(read), written + output):
            yield result, weight + more
    if place == len(text):
        yield written, 0.0
    elif rule.is_optional or not matches:
        yield from _results(rule, text, place + 1, written + text[place])
