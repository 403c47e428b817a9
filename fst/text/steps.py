"""Normalizers that change a text one after the other, for machines that otherwise fold them into an alphabet.

A single `Rewriting` orders marks once. Offsets depend on each ordering, so a sequence of normalizers such as NFC, BertNormalizer takes a
`Rewriting` for each. Added tokens of raw text are found before the first step, those of normalized text after the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fst.tables.header import AddedTokens
from fst.text.composition import Place
from fst.text.normalizer import Rewriting, Stretch, early, found, late, word_of

MAX_STEPS = 100  # the limit for a sequence of normalizers, too


@dataclass(frozen=True)
class NormalizerSteps:
    """Normalizers, step by step.

    Attributes:
        rewritings: the steps, at least one. None writes whitespace again.
    """

    rewritings: Sequence[Rewriting]

    def stored(self) -> dict[str, Any]:
        """The JSON form."""
        return {"steps": [by.stored() for by in self.rewritings]}

    @classmethod
    def from_stored(cls, stored: Any) -> NormalizerSteps:
        """Read the steps from their JSON form.

        Raises:
            ValueError: it is not a JSON form that `stored` gives.
        """
        if not isinstance(stored, dict) or stored.keys() != {"steps"}:
            raise ValueError("the normalizer has other keys than 'steps'")
        steps = stored["steps"]
        if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS or not all(isinstance(step, dict) for step in steps):
            raise ValueError(f"the steps of the normalizer are not a list of 1 to {MAX_STEPS} mappings")
        found = cls([Rewriting.from_stored(step) for step in steps])
        if not all(by.is_plain for by in found.rewritings):
            raise ValueError("a step of the normalizer writes white space anew")
        return found

    def normalized(self, text: str) -> tuple[str, Sequence[Place]]:
        """A stretch between added tokens, normalized, and the span of each of its characters."""
        places: Sequence[Place] = [(at, at + 1) for at in range(len(text))]
        for by in self.rewritings:
            text, own = by.normalized(text)
            places = [(places[first][0], places[last - 1][1]) for first, last in own]
        return text, places

    def stretches(self, text: str, added: AddedTokens) -> Iterator[Stretch]:
        """The parts of a normalized text, in order."""
        raw, normalized, word = early(added), late(added), word_of(added)
        for begin, end, number in found(text, raw, word):
            if number is not None:
                yield Stretch(text[begin:end], [(begin, end)], number)
                continue
            stretch, own = self.normalized(text[begin:end])
            places = [(begin + first, begin + last) for first, last in own]
            for first, last, inner in found(stretch, normalized, word):
                part = places[first:last]
                yield Stretch(stretch[first:last], part if inner is None else [(part[0][0], part[-1][1])], inner)
