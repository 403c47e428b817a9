"""Pictures of rewrite rules: the two passes of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.automata.dot import visible
from fst.automata.picture import END, Arc, Automaton, Picture, Step
from fst.automata.rows import CODE_POINTS
from fst.machines.rules.arguments import Stage
from fst.machines.rules.entries import PAGE, columns_of, copies_of, rows_of, strings_of
from fst.machines.rules.keys import Keys
from fst.machines.rules.table import RulesTable, Written, mirrored

MOST_SHOWN = 6  # maximum number of characters of a class that a label lists
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class _Symbol(NamedTuple):
    """A symbol: a character of a class, and in the pass to the right its column."""

    number: int
    char: str
    column: int = -1

    @property
    def shown(self) -> str:
        """The label of the symbol, with the column as an index."""
        return self.char + (str(self.column).translate(SUBSCRIPTS) if self.column >= 0 else "")


def picture_of(table: RulesTable, text: str | None) -> Picture:
    """The sets of the pass to the left are ``stage←number``; an arc writes the column that it stores. The states of the pass to the right
    are ``stage→number``; an arc reads a character with its column as an index, and copies the character or writes a string.

    Each stage reads the text that the previous stage has written. A stage of rules from right to left reads and writes in reverse order. A
    stage of many strings has one state; an arc reads a whole string, or copies a character.
    """
    names, arcs, starts = dict[Any, str](), list[Arc](), list[Any]()
    found = [Written(char, at, at + 1) for at, char in enumerate(text or "")]
    for number, (stage, is_mirrored) in enumerate(zip(table.arguments(), table.are_mirrored, strict=False)):
        read = mirrored(found) if is_mirrored else found
        keys = table.keys[number]
        shown = _Strings(table.strings, keys, number) if keys.texts else _Passes(table.strings, stage, number)
        for picture in shown.whole() if text is None else shown.around([written.char for written in read]):
            names |= picture.names
            arcs += picture.arcs
            starts += picture.starts
        found = table.rewritten(number, read)
        found = mirrored(found) if is_mirrored else found
    return Picture(names, arcs, starts)


class _Passes:
    """The two passes of a stage as automata."""

    def __init__(self, strings: Sequence[str], stage: Stage, number: int) -> None:
        self._strings, self._stage, self._number = strings, stage, number
        left, right = (number, "←", 0), (number, "→", 0)
        self._left = Automaton(left, self._to_left, self._name, lambda symbol: symbol.shown)
        self._right = Automaton(right, self._to_right, self._name, lambda symbol: symbol if symbol == END else symbol.shown)

    def around(self, text: Sequence[str]) -> list[Picture]:
        """The pictures of both passes around a text."""
        codes = np.array([*map(ord, text)], np.int64)
        symbols = [_Symbol(number, visible(char)) for number, char in zip(self._classes_of(codes).tolist(), text, strict=True)]
        state, read = self._left.start, list[_Symbol | str]()
        for symbol in reversed(symbols):
            read.append(symbol._replace(column=self._column(state, symbol)))
            state = self._to_left(state, symbol).state
        return [self._left.around([symbols[::-1]]), self._right.around([[*reversed(read), END]])]

    def whole(self) -> list[Picture]:
        """The pictures of both passes with all sets and states."""
        classes, width = self._classes_of(np.arange(CODE_POINTS)), self._stage.classes.item()
        symbols = [_Symbol(number, _shown(np.flatnonzero(classes == number))) for number in range(int(width)) if (classes == number).any()]
        columns = columns_of(self._stage.to_left).reshape(-1, int(width))
        with_columns = [symbol._replace(column=column) for symbol in symbols for column in np.unique(columns[:, symbol.number]).tolist()]
        return [self._left.whole(symbols), self._right.whole([*with_columns, END])]

    def _classes_of(self, codes: Any) -> Any:
        stage = self._stage
        return stage.blocks[stage.pages[codes // PAGE].astype(np.int64) * PAGE + codes % PAGE]

    def _name(self, state: Any, *_: Any) -> str:
        number, arrow, row = state
        return f"{number}{arrow}{row // int((self._stage.classes if arrow == '←' else self._stage.columns).item())}"

    def _to_left(self, state: Any, symbol: Any) -> Step:
        entry = self._stage.to_left[state[2] + symbol.number]
        return Step((self._number, "←", int(rows_of(entry))), [str(self._column(state, symbol))])

    def _column(self, state: Any, symbol: _Symbol) -> int:
        return int(columns_of(self._stage.to_left[state[2] + symbol.number]))

    def _to_right(self, state: Any, symbol: Any) -> Step | None:
        if symbol == END:
            written = self._strings[int(self._stage.finals[state[2] // int(self._stage.columns.item())])]
            return Step(state, [written]) if written else None
        entry = self._stage.to_right[state[2] + symbol.column]
        written, is_copied = self._strings[int(strings_of(entry))], bool(copies_of(entry))
        after = self._number, "→", int(rows_of(entry))
        if is_copied:
            return Step(after, [written + symbol.char] if written else [])
        return Step(after, [written or "ε"])


class _Strings:
    """A stage of many strings as an automaton."""

    def __init__(self, strings: Sequence[str], keys: Keys, number: int) -> None:
        self._strings, self._keys = strings, keys
        self._automaton = Automaton((number, "→", 0), self._step, lambda *_: f"{number}→0", visible)

    def around(self, text: Sequence[str]) -> list[Picture]:
        """The picture around a text."""
        chars, at, found = "".join(text), 0, list[str]()
        while at < len(chars):
            size = max(self._keys.longest(chars, at)[0], 1)
            found.append(chars[at : at + size])
            at += size
        return [self._automaton.around([found])]

    def whole(self) -> list[Picture]:
        """The picture of all strings."""
        return [self._automaton.whole(self._keys.texts)]

    def _step(self, state: Any, symbol: str) -> Step:
        size, number = self._keys.longest(symbol, 0)
        return Step(state, [self._strings[number] or "ε"] if size == len(symbol) else [])


def _shown(codes: Any) -> str:
    """The characters of a class."""
    if len(codes) > CODE_POINTS // 2:
        return "other"
    return visible("".join(map(chr, codes[:MOST_SHOWN].tolist()))) + "…" * (len(codes) > MOST_SHOWN)
