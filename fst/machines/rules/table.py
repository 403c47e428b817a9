"""The machine of rewrite rules: stages, each of which rewrites a text by two passes.

A stage contains rules that read the same text; the next stage reads what the stage has written. The *pass to the left* reads a text from
its end, and stores for each character the *column* that it found: all information about the character and the text after it that the next
pass needs. The *pass to the right* looks up its state and the column, and copies the character, or writes a string, or both. So a character
takes two look-ups in each stage, for any rules.

Example: ``a -> b / _ c``. In the pass to the left, the sets are "a c comes next" and "no c comes next"; the columns are "an a before a c"
and "anything else". In the pass to the right, the first column writes b, and the second copies the character.

Adjacent stages of one direction may have a *composition*, one stage that writes the same text as the stages in turn. Texts are rewritten by
compositions; the slow walk, and the spans of characters, use the stages.

A stage of many strings without contexts has *keys* instead of passes, see `fst.machines.rules.keys`. Where a stage rarely changes a text,
kernels run its passes only around the changes, see `fst.machines.rules.quiet`.

A stage of rules from right to left is *mirrored*: it reads the characters of a text in reverse order, and the characters that it writes are
then put in reverse order.

Source: Schützenberger 1961, *A remark on finite transducers* (two passes); Kaplan and Kay 1994, *Regular models of phonological rule
systems* (rules); Karttunen 1996, *Directed replacement* (leftmost-longest).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import byteorder
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import CODE_POINTS, Array
from fst.core.lazy import Lazy
from fst.machines.rules.arguments import Stage, heads_of
from fst.machines.rules.entries import (
    COPY,
    ENDED,
    MAX_COLUMNS,
    MAX_ENTRIES,
    NOTHING,
    PAGE,
    PAGES,
    columns_of,
    copies_of,
    rows_of,
    strings_of,
)
from fst.machines.rules.header import RIGHT_TO_LEFT, RulesMetadata
from fst.machines.rules.keys import MAX_KEY_BYTES, MAX_KEYS_BYTES, Keys
from fst.machines.rules.quiet import Quiet, quiet
from fst.tables.proof import need, need_none
from fst.tables.strings import StringColumn, prove_strings
from fst.tables.table import Each, member
from fst.tables.table import Table as AnyTable
from fst.text.reading_arguments import borrowable

SHAPE = SETS, CLASSES, STATES, COLUMNS = range(4)  # columns of `shapes`
CODES = f"utf-32-{byteorder[0]}e"


class Written(NamedTuple):
    """A character of a new text, and the span of the characters of the text that became it.

    Attributes:
        char: the character.
        start, end: the first character of the span, and one past its last. Both are equal if the character was inserted.
    """

    char: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class RulesTable(AnyTable):
    """Compiled rewrite rules.

    Attributes:
        shapes: uint32[stages, 4], the numbers of sets, classes, states and columns of each stage.
        pages: uint16[stages, PAGES]; blocks: uint16[blocks, PAGE], see `Stage`.
        to_left, to_right: uint64[n]; finals: uint32[n]: the arrays of all stages, see `Stage`, concatenated.
        string_bytes: uint8[n]; string_ends: int64[strings], the strings of all stages. Strings of mirrored stages are reversed.
        key_bytes: uint8[n]; key_ends: int64[keys], the keys of all stages, in UTF-8. Keys of mirrored stages are reversed.
        key_strings: uint32[keys], the number of the string that replaces each key.
    """

    kind: ClassVar[str] = "rules"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.rules.kernel"
    public_class: ClassVar[str] = "fst.runtime.rewriting.rewriter.Rewriter"
    picture: ClassVar[str] = "fst.machines.rules.picture.picture_of"
    ties: ClassVar[str] = ""  # rules return one new text only
    rewriting: ClassVar[str] = "fst.runtime.machines.rules.running.Stages"
    has_tokens: ClassVar[bool] = False
    has_bounded_ids: ClassVar[bool] = False

    shapes: Array = member("<u4", axes=2)
    pages: Array = member("<u2", axes=2)
    blocks: Array = member("<u2", axes=2)
    to_left: Array = member("<u8")
    to_right: Array = member("<u8")
    finals: Array = member("<u4")
    string_bytes: Array = member("|u1")
    string_ends: Array = member("<i8")
    key_bytes: Array = member("|u1")
    key_ends: Array = member("<i8")
    key_strings: Array = member("<u4")

    @Lazy
    def metadata(self) -> RulesMetadata:
        """The metadata of the table."""
        return RulesMetadata.from_json(self.header)

    @property
    def stages(self) -> Sequence[Mapping[str, Any]]:
        """The direction and the rules of each stage."""
        return self.metadata.settings.stages

    @property
    def are_mirrored(self) -> list[bool]:
        """Whether each stage is mirrored."""
        return [stage["direction"] == RIGHT_TO_LEFT for stage in self.stages]

    @property
    def path(self) -> list[tuple[int, bool]]:
        """The numbers of the stages that rewrite a text in turn, or of compositions in place of stages, and whether each is mirrored."""
        found, at, composed = list[tuple[int, bool]](), 0, self.metadata.settings.composed
        for number, (first, last) in enumerate(composed, len(self.stages)):
            found += enumerate(self.are_mirrored[at:first], at)
            found.append((number, self.are_mirrored[first]))
            at = last
        return [*found, *enumerate(self.are_mirrored[at:], at)]

    @property
    def summary(self) -> Mapping[str, Any]:
        """The number of stages and of rules."""
        rules = sum(len(stage["rules"]) + stage["keys"] for stage in self.stages)
        return {"kind": self.kind, "stages": len(self.stages), "rules": rules}

    @property
    def ids_per_unit(self) -> int:
        """The capacity in characters per byte of text, an estimate."""
        return 2

    @Lazy
    def strings(self) -> Sequence[str]:
        """The strings that rules write."""
        return StringColumn(self.string_bytes, self.string_ends)

    @Lazy
    def keys(self) -> Sequence[Keys]:
        """The keys of each stage."""
        ends = np.cumsum([stage["keys"] for stage in self.stages])
        parts = [slice(end - stage["keys"], end) for stage, end in zip(self.stages, ends.tolist(), strict=True)]
        texts = StringColumn(self.key_bytes, self.key_ends)
        return [Keys(texts[part], self.key_strings[part]) for part in parts]

    def run(self, text: str) -> list[int]:
        """The code points of the new text, by the slow walk."""
        return [ord(written.char) for written in self.written(text)]

    def written(self, text: str) -> list[Written]:
        """The characters of the new text, by the slow walk."""
        found = [Written(char, at, at + 1) for at, char in enumerate(text)]
        for number, is_mirrored in enumerate(self.are_mirrored):
            found = mirrored(self.rewritten(number, mirrored(found))) if is_mirrored else self.rewritten(number, found)
        return found

    def rewritten(self, number: int, text: Sequence[Written]) -> list[Written]:
        """Rewrite a text by one stage, by the slow walk."""
        return self._replaced(self.keys[number], text) if self.keys[number].texts else self._passed(self._arguments[number], text)

    def _replaced(self, keys: Keys, text: Sequence[Written]) -> list[Written]:
        """Replace keys, the longest at each position."""
        found, at, chars = list[Written](), 0, "".join(each.char for each in text)
        while at < len(text):
            size, string = keys.longest(chars, at)
            start, end = text[at].start, text[at + max(size, 1) - 1].end
            found += (Written(char, start, end) for char in self.strings[string]) if size else [text[at]]
            at += max(size, 1)
        return found

    def _passed(self, stage: Stage, text: Sequence[Written]) -> list[Written]:
        """Run both passes."""
        columns, row = list[int](), 0
        for char, _, _ in reversed(text):
            page, place = divmod(ord(char), PAGE)
            entry = stage.to_left[row + stage.blocks[stage.pages[page] * PAGE + place]]
            columns.append(int(columns_of(entry)))
            row = int(rows_of(entry))
        found, begun, row = list[Written](), 0, 0
        for at, column in enumerate(reversed(columns)):
            entry = stage.to_right[row + column]
            row, string, is_copied = int(rows_of(entry)), int(strings_of(entry)), bool(copies_of(entry))
            if is_copied:
                start = text[at].start
                found += [*(Written(char, start, start) for char in self.strings[string]), text[at]]
                begun = at + 1
            elif string != NOTHING:
                found += (Written(char, text[begun].start, text[at].end) for char in self.strings[string])
                begun = at + 1
        end = text[-1].end if text else 0
        string = int(stage.finals[row // stage.columns.item()])
        return [*found, *(Written(char, end, end) for char in self.strings[string])]

    @Lazy
    def cuts(self) -> Array:
        """bool[0x110000], the characters after which any text may be cut: each stage copies such a character, and the text on one side of
        it does not change what the stage writes on the other side.
        """
        found = np.ones(CODE_POINTS, np.bool_)
        for number, _ in self.path:
            stage = self._arguments[number]
            found &= _class_cuts(stage)[_classes_of(stage)]
        found[np.frombuffer(str(self.key_bytes.data, "utf-8").encode(CODES), np.uint32)] = False
        return found

    def quiet(self, number: int) -> Quiet:
        """The stops of a stage or a composition, and the sets and states around characters that are no stops."""
        stage = self._arguments[number]
        return quiet(*_passes_of(stage), stage.finals, _classes_of(stage))

    @property
    def string_arrays(self) -> tuple[Array, Array]:
        """`string_bytes` and `string_ends`, for kernels."""
        return borrowable(self.string_bytes, np.uint8), borrowable(self.string_ends, np.int64)

    def arguments(self) -> tuple[Stage, ...]:
        """The arrays of each stage."""
        return self._arguments

    @Lazy
    def _arguments(self) -> tuple[Stage, ...]:
        sets, classes, states, columns = self.shapes.astype(np.int64).T
        moves = _parts(self.to_left, sets * classes, np.uint64), _parts(self.to_right, states * columns, np.uint64)
        finals, blocks = _parts(self.finals, states, np.uint32), borrowable(self.blocks, np.uint16).ravel()
        string_bytes, string_ends = self.string_arrays
        heads, string_sizes = heads_of(string_bytes, string_ends)
        return tuple(
            Stage(
                pages=borrowable(self.pages[number], np.uint16),
                blocks=blocks,
                to_left=moves[0][number],
                to_right=moves[1][number],
                finals=finals[number],
                string_bytes=string_bytes,
                string_ends=string_ends,
                heads=heads,
                sizes=string_sizes,
                classes=np.array([classes[number]], np.uint64),
                columns=np.array([columns[number]], np.uint64),
                has_finals=np.array([(finals[number] > ENDED).any()], np.uint64),
            )
            for number in range(len(sets))
        )

    def work(self) -> Any:
        """Not used: the runtime allocates arrays for each chunk of a text."""
        raise NotImplementedError

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        self._prove_composed()
        self._prove_sizes(len(self.stages) + len(self.metadata.settings.composed))
        self._prove_strings()
        self._prove_keys()
        need_none(np.any(self.pages >= len(self.blocks), axis=1), lambda stage: f"a page of stage {stage} has no block")
        for number, (stage, shape) in enumerate(zip(self._arguments, self.shapes.tolist(), strict=True)):
            self._prove_stage(number, stage, shape)

    def _prove_composed(self) -> None:
        """Prove that compositions consist of different stages of one direction, in their order."""
        at, mirrored = 0, self.are_mirrored
        for first, last in self.metadata.settings.composed:
            need(at <= first < last <= len(mirrored), f"a composition has the stages {first} to {last} of {at} to {len(mirrored)}")
            need(len({*mirrored[first:last]}) == 1, f"a composition has the stages {first} to {last} of two directions")
            need(not any(stage["keys"] for stage in self.stages[first:last]), f"a composition of the stages {first} to {last} has keys")
            at = last

    def _prove_sizes(self, stages: int) -> None:
        """Prove that the arrays have the sizes that `shapes` states."""
        need(self.shapes.shape == (stages, len(SHAPE)), f"shapes has the shape {self.shapes.shape}; expected {stages} × {len(SHAPE)}")
        need_none(np.any(self.shapes < 1, axis=1), lambda stage: f"stage {stage} has the shape {self.shapes[stage].tolist()}, with a 0")
        sets, classes, states, columns = self.shapes.astype(np.uint64).T
        for name, array, sizes in (
            ("to_left", self.to_left, sets * classes),
            ("to_right", self.to_right, states * columns),
            ("finals", self.finals, states),
        ):
            need_none(sizes > MAX_ENTRIES, lambda stage, sizes=sizes: f"stage {stage} has {sizes[stage]} entries")  # type: ignore[misc]
            need(sizes.sum() == len(array), f"{name} has {len(array)} entries; expected {sizes.sum()}")
        need_none(columns > MAX_COLUMNS, lambda stage: f"stage {stage} has {columns[stage]} columns; expected {MAX_COLUMNS} or fewer")
        need(self.pages.shape == (stages, PAGES), f"pages has the shape {self.pages.shape}; expected {stages} × {PAGES}")
        need(len(self.blocks) and self.blocks.shape[1] == PAGE, f"blocks has the shape {self.blocks.shape}")

    def _prove_strings(self) -> None:
        """Prove that the strings are UTF-8, and that the first two are empty."""
        ends = self.string_ends
        need(len(ends) > ENDED and not ends[: ENDED + 1].any(), "the first two strings are not empty")
        prove_strings(self.string_bytes, ends, len(ends), "strings")

    def _prove_keys(self) -> None:
        """Prove that keys are UTF-8, not empty and not too long, and have strings."""
        count = sum(stage["keys"] for stage in self.stages)
        need(len(self.key_strings) == len(self.key_ends) == count, f"there are {len(self.key_ends)} keys; expected {count}")
        if not count:
            need(not len(self.key_bytes), "there are bytes of keys without keys")
            return
        prove_strings(self.key_bytes, self.key_ends, count, "keys")
        sizes = np.diff(self.key_ends, prepend=0)
        need_none((sizes < 1) | (sizes > MAX_KEY_BYTES), lambda key: f"key {key} has {sizes[key]} bytes")
        need(len(self.key_bytes) <= MAX_KEYS_BYTES, f"the keys have {len(self.key_bytes)} bytes; expected at most {MAX_KEYS_BYTES}")
        need_none(self.key_strings >= len(self.string_ends), lambda key: f"key {key} has no string")

    def _prove_stage(self, number: int, stage: Stage, shape: Sequence[int]) -> None:
        """Prove that each entry of a stage leads to a row, and has a column or a string."""
        _, classes, _, columns = shape
        need(int(self.blocks[np.unique(stage.pages)].max()) < classes, f"a character of stage {number} has no class")
        for name, entries, width in (("to_left", stage.to_left, classes), ("to_right", stage.to_right, columns)):
            rows = rows_of(entries)
            fault = f"an entry of {name} in stage {number} leads to no row"
            need_none((rows >= len(entries)) | (rows % width > 0), lambda at, fault=fault: f"{fault}: {at}")  # type: ignore[misc]
        need_none(columns_of(stage.to_left) >= columns, lambda at: f"entry {at} of to_left in stage {number} has no column")
        for name, strings in (("to_right", strings_of(stage.to_right)), ("finals", stage.finals)):
            fault = f"an entry of {name} in stage {number} has no string"
            need_none(strings >= len(self.string_ends), lambda at, fault=fault: f"{fault}: {at}")  # type: ignore[misc]


def _parts(array: Array, sizes: Array, dtype: type[np.generic]) -> list[Array]:
    """Cut an array into parts of the given sizes."""
    return [borrowable(part, dtype) for part in np.split(array, np.cumsum(sizes)[:-1])]


def _classes_of(stage: Stage) -> Array:
    """uint16[0x110000], the class of each code point."""
    found: Array = stage.blocks.reshape(-1, PAGE)[stage.pages].ravel()
    return found


def _passes_of(stage: Stage) -> tuple[Array, Array]:
    """The entries of the two passes of a stage, as arrays with two axes."""
    return stage.to_left.reshape(-1, stage.classes.item()), stage.to_right.reshape(-1, stage.columns.item())


def _class_cuts(stage: Stage) -> Array:
    """bool[classes], whether on a class, all sets move to one set, and all states copy the character and move to one state."""
    to_left, to_right = _passes_of(stage)
    copies = (to_right == to_right[0]).all(axis=0) & (columns_of(to_right[0]) == COPY)
    columns, moves = columns_of(to_left), to_right[0][columns_of(to_left)]
    are_equal = (rows_of(to_left) == rows_of(to_left[0])).all(axis=0) & (moves == moves[0]).all(axis=0)
    found: Array = are_equal & copies[columns].all(axis=0)
    return found


def mirrored(text: Sequence[Written]) -> list[Written]:
    """The characters in reverse order; positions count backwards from 0."""
    return [Written(char, -end, -start) for char, start, end in reversed(text)]
