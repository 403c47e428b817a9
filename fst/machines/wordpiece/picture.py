"""Pictures of WordPiece's transducer: failure links are folded in, so each character is one arc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fst.automata.dot import visible
from fst.automata.picture import END, Automaton, Picture, Step
from fst.automata.rows import CODE_POINTS, ENTRY, FAIL, ROOT, are_parts, field_kind
from fst.machines.wordpiece.table import Walk, WordPieceTable

END_OF_WORD = 0  # the class that ends a word


class _Steps(Walk):
    """A walk that keeps the classes that it reads, and the characters of each class."""

    def __init__(self, table: WordPieceTable, text: str) -> None:
        super().__init__(table)
        self.classes, self.shown, self._text = list[int](), {END_OF_WORD: END}, text
        self.run(text)

    def _step(self, number: int) -> None:
        start, end = self._place
        self.shown.setdefault(number, visible(self._text[start:end]))
        if number != END_OF_WORD or self.state != ROOT:
            self.classes.append(number)
        super()._step(number)


def picture_of(table: WordPieceTable, text: str | None) -> Picture:
    """A state is named by the characters that no token covers yet; an arc writes the tokens that are certain after its character.
    The label ``word=[UNK]`` marks an unknown token that replaces all tokens of a word. Two exceptions to the transducer are
    not shown: the table of words, which gives the same tokens, and the limit of characters in a word.
    """
    if text is None:
        shown = _shown(table)
        return _automaton(table, shown).whole(shown)
    steps = _Steps(table, text)
    return _automaton(table, steps.shown).around([steps.classes])


def _shown(table: WordPieceTable) -> Mapping[int, str]:
    """One character of each class that is a part of words."""
    numbers, first = np.unique(table.classes_of(np.arange(CODE_POINTS)), return_index=True)
    is_part = are_parts(table.classes[0::2])
    characters = {number: visible(chr(at)) for number, at in zip(numbers.tolist(), first.tolist(), strict=True) if is_part[number]}
    return {END_OF_WORD: END, **characters}


def _automaton(table: WordPieceTable, shown: Mapping[int, str]) -> Automaton:
    tokens = dict(zip(table.token_ids.tolist(), table.tokens, strict=True))
    prefix, dead, is_part = table.metadata.model.continuing_subword_prefix, table.metadata.automaton.dead, are_parts(table.classes[0::2])

    def step(state: Any, number: Any) -> Step | None:
        if number == END_OF_WORD and state == ROOT:
            return None
        walk = Walk(table)
        walk.state, walk.word_places = state, [(0, 0)] * (state != ROOT)
        walk._step(number)
        written = [tokens[each] for each in walk.ids]
        is_unknown = not is_part[number] and field_kind(table.entries[state]) == FAIL
        return Step(walk.state, [f"word={written[0]}", *written[1:]] if is_unknown else written)

    def name(state: Any, read: Sequence[Any], _: Sequence[str]) -> str:
        if state in (ROOT, dead):
            return "start" if state == ROOT else "unknown"
        word = len(read) - next((at for at in range(len(read), 0, -1) if not is_part[read[at - 1]]), 0)
        open_ = int(ENTRY.targets_of(table.entries[state]))
        return prefix * (word > open_) + "".join(shown[number] for number in read[len(read) - open_ :])

    return Automaton(ROOT, step, name, shown.__getitem__)
