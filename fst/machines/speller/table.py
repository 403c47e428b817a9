"""The machine of spell checking: a dictionary of Hunspell, whose affixes and compounds are evaluated for each word.

Hunspell removes affixes from a word and looks for a stem that allows them. So does this machine, over compact arrays: no form of a word is
stored. A word that is wrong has the id 0; a correct word has no id. In running text, each wrong word has an id.

`fst.machines.speller.layout` describes the arrays. The kernels in `fst.machines.speller.kernels` decide. A word is correct if Hunspell 1.7
accepts it.

**What kernels may assume** once a table is proven: all numbers of symbols, states, strings, sets and flags are in range. A number of a stem
or of a list of affixes is compared with its limit when it is read, because it is a sum of numbers on a path. Words, strings and steps have
maximum numbers, which also bound the time for a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.core.json_fields import TEXT, one_of, record, stored_as, stored_unless_none
from fst.core.lazy import Lazy
from fst.machines.speller import layout, nearest, proof, roots
from fst.machines.speller.hints import Hints
from fst.machines.speller.layout import Arguments, Options, Places, Work, new_work
from fst.tables.header import Sections
from fst.tables.kernel_call import SLACK, IdsOutput
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

IS_NOT_PLAIN = layout.FORBIDDEN | layout.NEEDS_AFFIX | layout.ONLY_IN_COMPOUND | layout.HIDDEN | layout.WARNS


ENCODINGS = (
    *("utf-8", "koi8-r", "koi8-u", "tis-620"),
    *(f"iso8859-{number}" for number in (*range(1, 11), 13, 14, 15, 16)),
    *(f"cp{number}" for number in range(1250, 1259)),
)


@dataclass(frozen=True)
class Dictionary:
    """The dictionary that a table was compiled from.

    Attributes:
        kind: the kind of machine.
        encoding: the encoding of the dictionary's files.
        language: the language, if it has rules of its own, or "".
        hints: the options of suggestions; None: the table has no suggestions.
    """

    kind: str = stored_as(TEXT)
    encoding: str = stored_as(one_of(*ENCODINGS))
    language: str = stored_as(TEXT)
    hints: Hints | None = stored_unless_none(record(Hints, "the options of suggestions"))


@dataclass(frozen=True)
class SpellerMetadata(Sections):
    """The metadata of a speller."""

    dictionary: Dictionary


@dataclass(frozen=True, eq=False)
class SpellerTable(Table):
    """A compiled dictionary.

    Attributes:
        options: int64[n], see `fst.machines.speller.layout.Options`.
        pages: uint16[512], the block of 128 elements of `blocks` for each 128 UTF-16 units.
        blocks: uint16[n], the symbol of each unit, and `LETTER`.
        lower, upper: uint16[symbols], the symbol in the other case.
        kinds: uint8[symbols], bits, such as `IGNORED`.
        entries: uint64[slots], the rows of stems and of additions of affixes.
        word_lists: uint32[stems], the first entry of each stem.
        homonyms: uint32[entries], twice the set of flags of each entry, plus 1 if the next entry has the same stem.
        set_bits: uint32[sets], the flags with a meaning of their own.
        set_ends: uint32[sets + 1], the bounds of each set in `set_flags`.
        set_flags: uint16[n], the other flags, ascending within a set.
        affixes: int32[affixes, 7], see the columns in `fst.machines.speller.layout`.
        affix_ends: uint32[lists + 1], the bounds of the affixes with the same addition. The first two lists are the suffixes and prefixes
            that add nothing; then the number of an addition is that of its list.
        conditions: uint16[n], the parts of conditions, from the edge of a word.
        parts: uint64[parts, words], for each part of a condition, a bit for each symbol.
        strings: uint16[n], the symbols of strings.
        string_ends: uint32[strings + 1], the bounds of each string.
        pattern_flags: uint16[2 * patterns], the flags of the parts on both sides of a pattern of compounds; 0: any.
        compound_rules: int32[n], the flags of rules of compounds, `ANY_NUMBER` and `OPTIONAL`.
        rule_ends: uint32[rules + 1], the bounds of each rule.
        near_letters, near_root, near_starts, near_labels, near_targets, near_finals: the automaton of words for suggestions, see
            `fst.machines.speller.nearest.NearArguments`; character i of `near_letters` has the label ``FIRST_LABEL + i``.
        near_pairs: int32[3 * pairs], pairs of labels, and the cost of replacing the first by the second.
        near_bytes, near_ends: the strings of the option REP, each followed by its replacement.
        root_units, root_ends, root_sets, affix_order: the stems that are suggested by similarity, see `fst.machines.speller.roots`.
    """

    kind: ClassVar[str] = "speller"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.speller.kernels.rows"
    public_class: ClassVar[str] = "fst.runtime.machines.speller.speller.Speller"
    picture: ClassVar[str] = "fst.machines.speller.picture.picture_of"
    has_tokens: ClassVar[bool] = False

    options: Array = member("<i8")
    pages: Array = member("<u2")
    blocks: Array = member("<u2")
    lower: Array = member("<u2")
    upper: Array = member("<u2")
    kinds: Array = member("|u1")
    entries: Array = member("<u8")
    word_lists: Array = member("<u4")
    homonyms: Array = member("<u4")
    set_bits: Array = member("<u4")
    set_ends: Array = member("<u4")
    set_flags: Array = member("<u2")
    affixes: Array = member("<i4", axes=2)
    affix_ends: Array = member("<u4")
    conditions: Array = member("<u2")
    parts: Array = member("<u8", axes=2)
    strings: Array = member("<u2")
    string_ends: Array = member("<u4")
    pattern_flags: Array = member("<u2")
    compound_rules: Array = member("<i4")
    rule_ends: Array = member("<u4")
    near_letters: Array = member("<u4", optional=True)
    near_root: Array = member("<u4", optional=True)
    near_starts: Array = member("<u4", optional=True)
    near_labels: Array = member("<u2", optional=True)
    near_targets: Array = member("<u4", optional=True)
    near_finals: Array = member("|u1", optional=True)
    near_pairs: Array = member("<i4", optional=True)
    near_bytes: Array = member("|u1", optional=True)
    near_ends: Array = member("<i8", optional=True)
    root_units: Array = member("<u2", optional=True)
    root_ends: Array = member("<u4", optional=True)
    root_sets: Array = member("<u4", optional=True)
    affix_order: Array = member("<u4", optional=True)

    @Lazy
    def metadata(self) -> SpellerMetadata:
        """The metadata of the table."""
        return SpellerMetadata.from_json(self.header)

    @Lazy
    def named_options(self) -> Options:
        """The options, with names."""
        return self.options.astype(np.int64).view(Options)

    @property
    def summary(self) -> Mapping[str, Any]:
        """See `fst.tables.table.Table.summary`."""
        dictionary, options = self.metadata.dictionary, self.named_options
        return {
            "kind": self.kind,
            "stems": len(self.word_lists),
            "affixes": len(self.affixes),
            "encoding": dictionary.encoding,
            "language": dictionary.language,
            "compounds": bool(options.defined & (layout.COMPOUND | layout.BEGIN) or options.compound_rules),
        }

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per unit of text: a wrong word has at least one unit, and one id."""
        return 1

    def run(self, text: str) -> list[int]:
        """The id of a wrong word, or no id, by the kernel. The definition of a correct word is in the tests."""
        data = text.encode("utf-16-le")
        units = np.frombuffer(data + bytes(2 * layout.UNITS_READ), np.uint16)
        nothing, ids, ends = np.empty(0, np.int32), np.empty(1 + SLACK, np.int32), np.empty(1, np.int64)
        starts, output = np.array([0, len(data) // 2]), IdsOutput(nothing, nothing, ids, ends)
        self._rows.call(units, starts, np.uint64(0), self._arguments, output, self.work())
        found: list[int] = ids[: ends[0]].tolist()
        return found

    @Lazy
    def _rows(self) -> Deferred:
        return Deferred(self.kernel, "run_rows")

    @Lazy
    def _arguments(self) -> Arguments:
        return self.arguments()

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        parts = {name: self._masks if name == "set_masks" else getattr(self, name) for name in layout.POOLED}
        starts = np.cumsum([0, *(part.size for part in parts.values())])
        places = Places(**dict(zip(parts, starts.tolist(), strict=False)))
        places.last_list, places.rule_items = len(self.affix_ends) - 2, len(self.compound_rules)
        return Arguments(
            mode=np.array([layout.WORDS]),
            options=self.named_options,
            places=places,
            units=self._units,
            entries=borrowable(self.entries, np.uint64).view(np.int64),
            word_lists=borrowable(self.word_lists, np.uint32),
            homonyms=borrowable(self.homonyms, np.uint32),
            plain=self._plain,
            pool=np.concatenate([part.ravel().astype(np.int64) for part in parts.values()]),
        )

    @property
    def _plain(self) -> Array:
        """See `fst.machines.speller.layout.Arguments.plain`."""
        firsts = self.set_bits[self.homonyms >> 1][self.word_lists]
        is_plain = ((firsts & np.uint32(IS_NOT_PLAIN)) == 0) & (self.named_options.complex_prefixes == 0)
        in_lower = is_plain & ((firsts & np.uint32(layout.KEEPS_CASE)) == 0)
        found: Array = is_plain * np.uint8(layout.PLAIN) | in_lower * np.uint8(layout.PLAIN_IN_LOWER)
        return found

    @property
    def _masks(self) -> Array:
        """For each set of flags, the bit ``flag & 63`` for each of its flags."""
        ends = self.set_ends.astype(np.int64)
        bits = np.uint64(1) << (self.set_flags.astype(np.uint64) % np.uint64(layout.MASK_BITS))
        masks = np.zeros(len(self.set_bits), np.uint64)
        np.bitwise_or.at(masks, np.repeat(np.arange(len(masks)), ends[1:] - ends[:-1]), bits)
        return masks

    @property
    def _units(self) -> Array:
        """See `fst.machines.speller.layout.Arguments.units`."""
        units = np.ascontiguousarray(self.blocks.astype(np.uint16).reshape(-1, 1 << layout.PAGE_BITS)[self.pages]).ravel()
        begins = self.kinds[units & np.uint16(layout.SYMBOL)] & np.uint8(layout.BEGINS_CONVERSION)
        units[begins != 0] |= np.uint16(layout.CONVERTED)
        return units

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        return new_work()

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        _ = self.metadata
        proof.prove(self, each)
        nearest.prove(self)
        roots.prove(self)


def header(encoding: str, language: str, hints: Hints | None = None) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return SpellerMetadata(Dictionary(SpellerTable.kind, encoding, language, hints)).to_json()
