"""The machine of the best path: a weighted transducer over bytes, which rewrites a text to the output of its path of least weight.

A *layer* contains the states that the machine can be in after a number of bytes, each with the weight of the best path to it, and with the
last arc of this path. An arc reads one byte and leads to the next layer, or reads nothing (an ε-arc) and leads to a state of the same
layer. Arcs write strings. The last arcs, followed from the end of a text to its start, are the best path.

Weights are whole numbers, so that sums are exact. Among paths with equal weights, in each state, the path whose last arc comes first in the
table wins; at the end of a text, the path whose last state comes first wins. A layer depends only on the layer before it and the byte. So
kernels keep layers. If the least weight of a layer is subtracted from all its weights, texts have few different layers, and most bytes take
one look-up.

States are numbered so that every ε-arc leads to a state of a higher number. So there is no cycle of ε-arcs.

Source: Viterbi 1967, *Error bounds for convolutional codes and an asymptotically optimum decoding algorithm* (layers); Mohri 1997,
*Finite-state transducers in language and speech processing*, Section 3.3 (layers as states of a deterministic machine).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.json_fields import TEXT, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.errors import TableError, TextError
from fst.machines.best_path.arguments import Arguments, Work, work_of
from fst.tables.header import Sections
from fst.tables.proof import need, need_none
from fst.tables.strings import prove_ends, prove_strings
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

EPSILON = 256  # the label of an arc that reads nothing; other labels are bytes
WEIGHT_BITS = 44  # maximum number of bits of a weight, a whole number, without its sign
NOT_FINAL = np.iinfo(np.int64).max
MAX_STATES = MAX_ARCS = 1 << 30
MAX_EXPONENT = 1 << 8
ERROR: Literal["error"] = "error"
COPY: Literal["copy"] = "copy"
UNKNOWN = ERROR, COPY


@dataclass(frozen=True)
class BestPathSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        start: the first state.
        exponent: the weights of the table are the weights of the transducer times ``2 ** exponent``.
        unknown: the treatment of texts without a path, `ERROR` or `COPY`.
    """

    kind: str = stored_as(TEXT)
    start: int = stored_as(whole(0, MAX_STATES))
    exponent: int = stored_as(whole(-MAX_EXPONENT, MAX_EXPONENT))
    unknown: str = stored_as(one_of(*UNKNOWN))


@dataclass(frozen=True)
class BestPathMetadata(Sections):
    """The metadata of a table of the best path."""

    settings: BestPathSettings


class Node(NamedTuple):
    """A state of a layer: the weight of the best path to the state, the last arc of this path, and the node before this arc."""

    weight: int
    arc: int
    before: Node | None


class Path(NamedTuple):
    """A path through the machine.

    Attributes:
        arcs: the arcs of the path, each with the number of bytes that were read up to the end of the arc.
        weight: the weight of the path, a whole number.
    """

    arcs: list[tuple[int, int]]
    weight: int


class Written(NamedTuple):
    """A character of a new text, and the span in the old text from which it comes.

    Attributes:
        char: the character.
        start, end: the first character of the span, and one past its last. Both are equal if the character was inserted at the start.
    """

    char: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class BestPathTable(Table):
    """A compiled weighted transducer.

    Attributes:
        row_start: uint32[states + 1]; the arcs of state q are ``row_start[q]`` to ``row_start[q + 1]``, exclusive, sorted by label.
        labels: uint16[arcs], the byte that each arc reads, or `EPSILON`.
        targets: uint32[arcs], the state after each arc.
        weights: int64[arcs], the weight of each arc, a whole number.
        outputs: uint32[arcs], the number of the string that each arc writes.
        finals: int64[states], the final weight of each state, or `NOT_FINAL`.
        string_bytes: uint8[n], the strings, concatenated. A string may be a part of a character.
        string_ends: int64[strings], the end of each string in `string_bytes`. The first string is empty.
    """

    kind: ClassVar[str] = "best-path"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.best_path.kernels.rewriting"
    public_class: ClassVar[str] = "fst.runtime.rewriting.rewriter.Rewriter"
    picture: ClassVar[str] = "fst.machines.best_path.picture.picture_of"
    ties: ClassVar[str] = "fst.machines.best_path.ties.ties"  # a function that lists all new texts of least weight
    rewriting: ClassVar[str] = "fst.runtime.machines.best_path.running.BestPaths"
    has_tokens: ClassVar[bool] = False
    has_bounded_ids: ClassVar[bool] = False

    row_start: Array = member("<u4")
    labels: Array = member("<u2")
    targets: Array = member("<u4")
    weights: Array = member("<i8")
    outputs: Array = member("<u4")
    finals: Array = member("<i8")
    string_bytes: Array = member("|u1")
    string_ends: Array = member("<i8")

    @Lazy
    def metadata(self) -> BestPathMetadata:
        """The metadata of the table."""
        return BestPathMetadata.from_json(self.header)

    @property
    def summary(self) -> Mapping[str, Any]:
        """The numbers of states and arcs, and what happens to texts without a path."""
        settings = self.metadata.settings
        return {"kind": self.kind, "states": len(self.finals), "arcs": len(self.labels), "unknown": settings.unknown}

    @property
    def ids_per_unit(self) -> int:
        """The capacity in characters per byte of text, an estimate."""
        return 8

    def weight_of(self, weight: int) -> float:
        """The weight of the transducer for a weight as a whole number."""
        return float(np.ldexp(weight, -self.metadata.settings.exponent))

    def run(self, text: str) -> list[int]:
        """The code points of the new text, by the slow walk."""
        return [ord(written.char) for written in self.written(text)]

    def written(self, text: str) -> list[Written]:
        """The characters of the new text, by the slow walk. A character has the span of the last character read at the end of the arc that
        writes its first byte; if no character was read, the empty span at the start.
        """
        path = self.path(text.encode())
        if path is None:
            if self.metadata.settings.unknown == ERROR:
                raise TextError("the text has no path through the transducer")
            return [Written(char, at, at + 1) for at, char in enumerate(text)]
        numbers = [number for number, char in enumerate(text) for _ in char.encode()]
        spans = list[tuple[int, int]]()
        for arc, read in path.arcs:
            start = numbers[read - 1] if read else 0
            spans += [(start, start + (read > 0))] * len(self.strings[self.outputs[arc]])
        data = self.output(path)
        begins = [at for at, byte in enumerate(data) if byte & 0xC0 != 0x80]
        return [Written(char, *spans[at]) for char, at in zip(decoded(data), begins, strict=True)]

    def output(self, path: Path) -> bytes:
        """The bytes that a path writes."""
        return b"".join(self.strings[self.outputs[arc]] for arc, _ in path.arcs)

    def path(self, text: bytes) -> Path | None:
        """The best path of a text, by the slow walk; None if there is no path."""
        layer = self._relaxed({self.metadata.settings.start: Node(0, -1, None)})
        for byte in text:
            following: dict[int, Node] = {}
            for state, node in layer.items():
                self._follow(state, node, byte, following)
            layer = self._relaxed(following)
        ends = [(node.weight + int(self.finals[state]), state) for state, node in layer.items() if self.finals[state] != NOT_FINAL]
        if not ends:
            return None
        weight, state = min(ends)
        node, read, arcs = layer[state], len(text), list[tuple[int, int]]()
        while node.before:
            arcs.append((node.arc, read))
            read -= int(self.labels[node.arc] != EPSILON)
            node = node.before
        return Path(arcs[::-1], weight)

    def _relaxed(self, layer: dict[int, Node]) -> dict[int, Node]:
        """Follow the ε-arcs of a layer, from the lowest state to the highest."""
        waiting = {*layer}
        while waiting:
            state = min(waiting)
            waiting |= self._follow(state, layer[state], EPSILON, layer)
            waiting.remove(state)
        return layer

    def _follow(self, state: int, node: Node, label: int, layer: dict[int, Node]) -> set[int]:
        """Follow the arcs of a state with a label, and keep the better of two nodes of a state; return the targets."""
        row = slice(self.row_start[state], self.row_start[state + 1])
        arcs = int(row.start) + np.flatnonzero(self.labels[row] == label)
        for arc in arcs.tolist():
            target, weight = int(self.targets[arc]), node.weight + int(self.weights[arc])
            if target not in layer or (weight, arc) < layer[target][:2]:
                layer[target] = Node(weight, arc, node)
        return {*self.targets[arcs].tolist()}

    @Lazy
    def strings(self) -> tuple[bytes, ...]:
        """The strings that arcs write."""
        data = self.string_bytes.tobytes()
        return tuple(data[start:end] for start, end in pairwise([0, *self.string_ends.tolist()]))

    @Lazy
    def writes_characters(self) -> bool:
        """Whether every string consists of complete characters, so that every new text is UTF-8."""
        try:
            prove_strings(self.string_bytes, self.string_ends, len(self.string_ends), "strings")
        except TableError:
            return False
        return True

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernels read."""
        return Arguments(
            row_start=borrowable(self.row_start, np.uint32),
            labels=borrowable(self.labels, np.uint16),
            targets=borrowable(self.targets, np.uint32),
            weights=borrowable(self.weights, np.int64),
            outputs=borrowable(self.outputs, np.uint32),
            finals=borrowable(self.finals, np.int64),
            string_bytes=borrowable(self.string_bytes, np.uint8),
            string_ends=borrowable(self.string_ends, np.int64),
            start=np.array([self.metadata.settings.start], np.uint64),
            copies=np.array([self.metadata.settings.unknown == COPY]),
        )

    def work(self, growth: int = 1) -> Work:
        """The kernels' working arrays for one thread; `growth` is a factor for the arrays that grow with texts."""
        return work_of(len(self.finals), growth)

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        states, arcs = len(self.finals), len(self.labels)
        need(0 <= self.metadata.settings.start < states <= MAX_STATES, f"the start is {self.metadata.settings.start} of {states} states")
        need(arcs <= MAX_ARCS, f"there are {arcs} arcs; expected at most {MAX_ARCS}")
        for name in ("targets", "weights", "outputs"):
            need(len(getattr(self, name)) == arcs, f"{name} has {len(getattr(self, name))} elements; there are {arcs} arcs")
        self._prove_rows(states, arcs)
        self._prove_strings()
        limit = 1 << WEIGHT_BITS
        need_none((self.weights < -limit) | (self.weights > limit), lambda arc: f"arc {arc} has the weight {self.weights[arc]}")
        wrong = (self.finals != NOT_FINAL) & ((self.finals < -limit) | (self.finals > limit))
        need_none(wrong, lambda state: f"state {state} has the final weight {self.finals[state]}")

    def _prove_rows(self, states: int, arcs: int) -> None:
        """Prove that rows partition the arcs, that a row is sorted by label, and that ε-arcs lead to higher states."""
        row_start = self.row_start.astype(np.int64)
        need(len(row_start) == states + 1 and row_start[0] == 0 and row_start[-1] == arcs, "row_start does not partition the arcs")
        need_none(np.diff(row_start) < 0, lambda state: f"the arcs of state {state} end before they begin")
        need_none(self.labels > EPSILON, lambda arc: f"arc {arc} has the label {self.labels[arc]}; expected at most {EPSILON}")
        need_none(self.targets >= states, lambda arc: f"arc {arc} leads to state {self.targets[arc]} of {states}")
        sources = np.repeat(np.arange(states), np.diff(row_start))
        keys = sources * (EPSILON + 1) + self.labels
        need_none(np.diff(keys) < 0, lambda arc: f"arc {arc + 1} is not in the order of labels")
        downwards = (self.labels == EPSILON) & (self.targets <= sources)
        need_none(downwards, lambda arc: f"arc {arc} of state {sources[arc]} reads nothing, and leads to state {self.targets[arc]}")

    def _prove_strings(self) -> None:
        """Prove that each arc has a string."""
        ends = self.string_ends
        need(len(ends) and ends[0] == 0, "the first string is not empty")
        prove_ends(self.string_bytes, ends, "strings")
        need_none(self.outputs >= len(ends), lambda arc: f"arc {arc} has the string {self.outputs[arc]} of {len(ends)}")


def decoded(data: bytes) -> str:
    """The str of a new text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TextError(f"byte {error.start} of the new text is not UTF-8; expected arcs that write complete characters") from None


def header(start: int, exponent: int, unknown: str) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return BestPathMetadata(BestPathSettings(BestPathTable.kind, start, exponent, unknown)).to_json()
