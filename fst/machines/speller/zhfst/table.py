"""The speller of a lexicon and an error model, two weighted transducers, as in the ``.zhfst`` archives of Giella.

A word is right if the lexicon reads it. Suggestions for a word are the strings that the lexicon reads, among those that the error model
writes if it reads the word. The weight of a suggestion is the least sum of the weights of a path through both machines. Suggestions with
less weight come first; those with equal weights are in the order of their code points.

*Labels* of the lexicon: 0 reads nothing; then follow the flag diacritics, which read nothing; then `other`; then symbols, which are
strings. `other` is read in place of all characters that are no symbols; a suggestion does not contain them. Labels of the error model: 0
reads nothing, `OTHER` is read in place of all characters that are no symbols of the error model, then its symbols follow. The error model
writes labels of the lexicon, or 0, nothing.

A text is split into symbols from left to right, each the longest that fits.

Source: Pirinen & Lindén 2014, *State-of-the-art in weighted finite-state spell-checking*; the meaning of labels as in hfst-ospell 0.5.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata import flags
from fst.automata.rows import Array
from fst.core.json_fields import TEXT, stored_as, whole
from fst.core.lazy import Lazy
from fst.machines.speller.zhfst.arguments import NODES, Lexicon, Model, Work, work_of
from fst.machines.speller.zhfst.walk import Suggestion, labels_of, suggestions
from fst.tables.header import Sections
from fst.tables.proof import need, need_none
from fst.tables.strings import StringColumn, prove_strings
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

OTHER = 1  # the label of the error model for other characters
MAX_LABELS = 1 << 16
MAX_STATES = 1 << 28
MAX_FEATURES = 1 << 10
KIND = (1 << flags.FEATURE_SHIFT) - 1


@dataclass(frozen=True)
class ZhfstSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        symbols: the number of symbols of the lexicon. In `symbol_ends`, strings follow that are symbols of the error model only: a text is
            split into them, too, and the lexicon reads `other` in place of each.
        locale, title: from the archive's index, for information.
    """

    kind: str = stored_as(TEXT)
    symbols: int = stored_as(whole(0, MAX_LABELS))
    locale: str = stored_as(TEXT)
    title: str = stored_as(TEXT)


@dataclass(frozen=True)
class ZhfstMetadata(Sections):
    """The metadata of a speller with an error model."""

    settings: ZhfstSettings


@dataclass(frozen=True, eq=False)
class ZhfstTable(Table):
    """A lexicon and an error model. State 0 of each is the start.

    Attributes:
        lexicon_starts: uint32[states + 1]; the arcs of state q are ``lexicon_starts[q]`` to ``lexicon_starts[q + 1]``, exclusive, sorted by
            label.
        lexicon_labels: uint16[arcs], the label that each arc reads.
        lexicon_targets: uint32[arcs], the state after each arc.
        lexicon_weights: float32[arcs], the weight of each arc, not negative.
        lexicon_finals: float32[states], the final weight of each state; infinity if it is not final.
        lexicon_distances: float32[states], the least weight of the paths from each state to an end, without flag diacritics.
        operations: uint32[flags + 1], the operation of each flag diacritic, see `fst.automata.flags`; element 0 is unused.
        symbol_bytes, symbol_ends: the symbols; symbol i has the label ``other + 1 + i``.
        model_starts, model_targets, model_weights, model_finals, model_distances: the error model, as the lexicon; arcs of a state are
            sorted by the label that they read, then by the label that they write.
        model_reads, model_writes: uint16[arcs], the label that each arc reads, and that it writes.
        model_bytes, model_ends: the symbols of the error model; symbol i has the label ``OTHER + 1 + i``.
    """

    kind: ClassVar[str] = "zhfst"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.speller.zhfst.kernels.search"
    public_class: ClassVar[str] = "fst.runtime.machines.speller.zhfst.speller.ZhfstSpeller"
    picture: ClassVar[str] = "fst.machines.speller.zhfst.picture.picture_of"
    has_tokens: ClassVar[bool] = False

    lexicon_starts: Array = member("<u4")
    lexicon_labels: Array = member("<u2")
    lexicon_targets: Array = member("<u4")
    lexicon_weights: Array = member("<f4")
    lexicon_finals: Array = member("<f4")
    lexicon_distances: Array = member("<f4")
    operations: Array = member("<u4")
    symbol_bytes: Array = member("|u1")
    symbol_ends: Array = member("<i8")
    model_starts: Array = member("<u4")
    model_reads: Array = member("<u2")
    model_writes: Array = member("<u2")
    model_targets: Array = member("<u4")
    model_weights: Array = member("<f4")
    model_finals: Array = member("<f4")
    model_distances: Array = member("<f4")
    model_bytes: Array = member("|u1")
    model_ends: Array = member("<i8")

    @Lazy
    def metadata(self) -> ZhfstMetadata:
        """The metadata of the table."""
        return ZhfstMetadata.from_json(self.header)

    @property
    def summary(self) -> Mapping[str, Any]:
        """The language, and the sizes of the lexicon and of the error model."""
        settings, numbers = self.metadata.settings, {"states": len(self.lexicon_finals), "arcs": len(self.lexicon_labels)}
        errors = {"error_states": len(self.model_finals), "error_arcs": len(self.model_reads)}
        return {"kind": self.kind, "locale": settings.locale, "title": settings.title, **numbers, **errors}

    @property
    def ids_per_unit(self) -> int:
        """The capacity: one number for a word."""
        return 1

    @property
    def other(self) -> int:
        """The label of the lexicon for characters that are no symbols."""
        return len(self.operations)

    @property
    def features(self) -> int:
        """The number of features of flag diacritics."""
        return int(flags.features_of(self.operations[1:].astype(np.int64)).max(initial=-1)) + 1

    def run(self, text: str) -> list[int]:
        """Whether a word is right, 1 or 0, by the slow walk."""
        return [len(suggestions(self.lexicon(), self.unchanged(), labels_of(text, self.symbols(), self.other), 1))]

    def suggestions(self, word: str, limit: int) -> list[Suggestion]:
        """The suggestions for a word, by the slow walk."""
        return suggestions(self.lexicon(), self.model(), labels_of(word, self.model_symbols(), OTHER), limit)

    def symbols(self) -> dict[str, int]:
        """The labels of the symbols into which a word is split, as the lexicon reads it."""
        count = self.metadata.settings.symbols
        found = StringColumn(self.symbol_bytes, self.symbol_ends)
        return {symbol: self.other + 1 + number if number < count else self.other for number, symbol in enumerate(found)}

    def model_symbols(self) -> dict[str, int]:
        """The labels of the symbols into which a word is split, as the error model reads it."""
        return {symbol: OTHER + 1 + number for number, symbol in enumerate(StringColumn(self.model_bytes, self.model_ends))}

    def arguments(self) -> tuple[Lexicon, Model]:
        """The lexicon and the error model, in the form that the kernel reads."""
        return self.lexicon(), self.model()

    def work(self, capacity: int = NODES) -> Work:
        """The working arrays of a search."""
        return work_of(capacity, self.features)

    def lexicon(self) -> Lexicon:
        """The arrays of the lexicon, in the form that the kernel reads."""
        symbols = [*StringColumn(self.symbol_bytes, self.symbol_ends)][: self.metadata.settings.symbols]
        characters = ["" for _ in range(self.other + 1)] + symbols
        starts = np.cumsum([0, *map(len, characters)])
        return Lexicon(
            starts=borrowable(self.lexicon_starts, np.uint32),
            labels=borrowable(self.lexicon_labels, np.uint16),
            targets=borrowable(self.lexicon_targets, np.uint32),
            weights=borrowable(self.lexicon_weights, np.float32),
            finals=borrowable(self.lexicon_finals, np.float32),
            distances=borrowable(self.lexicon_distances, np.float32),
            operations=borrowable(self.operations, np.uint32),
            features=np.array([self.features], np.uint64),
            characters=np.array([ord(char) for char in "".join(characters)], np.uint32),
            character_starts=starts.astype(np.uint32),
        )

    def model(self) -> Model:
        """The arrays of the error model, in the form that the kernel reads."""
        return Model(
            starts=borrowable(self.model_starts, np.uint32),
            reads=borrowable(self.model_reads, np.uint16),
            writes=borrowable(self.model_writes, np.uint16),
            targets=borrowable(self.model_targets, np.uint32),
            weights=borrowable(self.model_weights, np.float32),
            finals=borrowable(self.model_finals, np.float32),
            distances=borrowable(self.model_distances, np.float32),
        )

    def unchanged(self) -> Model:
        """The error model that reads labels of the lexicon, and changes nothing: a word is right if it has a suggestion."""
        labels = np.arange(self.other, self.other + 1 + self.metadata.settings.symbols, dtype=np.uint16)
        count, zero = len(labels), np.zeros(1, np.float32)
        return Model(np.array([0, count], np.uint32), labels, labels, np.zeros(count, np.uint32), np.zeros(count, np.float32), zero, zero)

    def prove(self, each: Each = map) -> None:
        """Prove that the kernel is safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        count = len(self.symbol_ends)
        need(len(self.operations) >= 1, "operations is empty; expected an element that is unused")
        need(self.metadata.settings.symbols <= count, f"there are {count} symbols; expected at least {self.metadata.settings.symbols}")
        labels = self.other + 1 + self.metadata.settings.symbols
        errors = OTHER + 1 + len(self.model_ends)
        need(labels <= MAX_LABELS, f"the lexicon has {labels} labels; expected at most {MAX_LABELS}")
        need(errors <= MAX_LABELS, f"the error model has {errors} labels; expected at most {MAX_LABELS}")
        for name, data, ends in (("symbols", self.symbol_bytes, self.symbol_ends), ("error symbols", self.model_bytes, self.model_ends)):
            if len(ends):
                prove_strings(data, ends, len(ends), name)
            need(len(ends) or not len(data), f"the {name} have no ends")
            need_none(np.diff(ends, prepend=0) == 0, lambda number: f"symbol {number} is empty")
        kinds = self.operations & KIND
        need_none(kinds >= len(flags.KINDS), lambda number: f"operation {number} has the kind {kinds[number]}")
        features = flags.features_of(self.operations.astype(np.int64))
        need_none(features >= MAX_FEATURES, lambda number: f"operation {number} has the feature {features[number]}")
        need_none(self.operations >> flags.VALUE_SHIFT > flags.MAX_VALUE, lambda number: f"operation {number} has a value that is too high")
        self._prove_machine("lexicon", self.lexicon_labels, None, labels, labels)
        self._prove_machine("model", self.model_reads, self.model_writes, errors, labels)

    def _prove_machine(self, name: str, reads: Array, writes: Array | None, labels: int, written: int) -> None:
        """Prove that rows partition the arcs of a machine, and that arcs are sorted and lead to states, with labels below `labels`."""
        starts, targets, weights, finals, distances = (
            getattr(self, f"{name}_{part}") for part in ("starts", "targets", "weights", "finals", "distances")
        )
        states, arcs, starts = len(finals), len(reads), starts.astype(np.int64)
        need(0 < states <= MAX_STATES and len(distances) == states, f"the {name} has {states} states and {len(distances)} distances")
        need(len(starts) == states + 1 and starts[0] == 0 and starts[-1] == arcs, f"the states of the {name} do not partition its arcs")
        need_none(np.diff(starts) < 0, lambda state: f"the arcs of state {state} of the {name} end before they begin")
        need(len(targets) == len(weights) == arcs, f"the {name} has {arcs} arcs, {len(targets)} targets and {len(weights)} weights")
        need_none(reads >= labels, lambda arc: f"arc {arc} of the {name} reads the label {reads[arc]} of {labels}")
        need_none(targets >= states, lambda arc: f"arc {arc} of the {name} leads to state {targets[arc]} of {states}")
        need_none(~((weights >= 0) & (weights < np.inf)), lambda arc: f"arc {arc} of the {name} has the weight {weights[arc]}")
        need_none(~(finals >= 0), lambda state: f"state {state} of the {name} has the final weight {finals[state]}")
        need_none(~(distances >= 0), lambda state: f"state {state} of the {name} has the distance {distances[state]}")
        keys = np.repeat(np.arange(states) << 32, np.diff(starts)) + (reads.astype(np.int64) << 16)
        if writes is not None:
            need(len(writes) == arcs, f"the {name} has {arcs} arcs, {len(writes)} of which write")
            need_none(writes >= written, lambda arc: f"arc {arc} of the {name} writes the label {writes[arc]} of {written}")
            keys += writes
        need_none(np.diff(keys) < 0, lambda arc: f"arc {arc + 1} of the {name} is not in the order of labels")


def header(symbols: int, locale: str, title: str) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return ZhfstMetadata(ZhfstSettings(ZhfstTable.kind, symbols, locale, title)).to_json()
