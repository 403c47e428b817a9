"""The machine of MeCab, which finds the path of least cost through a lattice of words. Its dictionary contains costs of words and of
connections.

A *word* has a left id, a right id and a cost. The cost of a path is the sum of the costs of its words and of the connections between them.
Two adjacent words have the connection cost ``matrix[left id of the right word, right id of the left word]``. The beginning and the end of a
text have left id 0, right id 0 and cost 0. The rules are from MeCab 0.996, for a text of one line:

- Characters of the category SPACE are skipped before a word, and at the end of the text.
- All words of the dictionary that begin at a position are candidates. If there are no candidates, or the character's category has the flag
  *invoke*, unknown words are added, with the ids and costs of the category in ``unk.def``. One unknown word is the run of characters in
  which neighbours share a category, unless more than `max_grouping_size` characters follow the first character. Other unknown words have 1
  to `length` characters, which all share a category with the first character. If no word results, the character alone is an unknown word.
- A character beyond U+FFFF has the categories of U+0000.
- Among paths with equal costs, the path whose last word begins later wins; if the last words begin at the same position, the path whose
  last word comes earlier in the dictionary wins.

The entries of the dictionary's files are numbered first, then the entries of ``unk.def``; the id of a word is its number. The words in
``unk.def`` are the names of categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints
from fst.core.fields import Fields, Scalar
from fst.core.json_fields import TEXT, stored_as, whole
from fst.core.lazy import Lazy
from fst.machines.segmentation.unit_trie import KIND_SHIFT, MAX_VALUE, UnitTrieTable, units_of
from fst.tables.header import Sections
from fst.tables.kernel_call import State
from fst.tables.proof import need, need_none
from fst.tables.strings import StringColumn, prove_strings
from fst.tables.table import Each, member
from fst.text.reading_arguments import borrowable

# the maximum number of categories in MeCab, and the maximum number of characters of an unknown word that is not a run
CATEGORIES, MAX_CHARACTERS = 18, 15
MAX_LENGTH = 1 << 12  # maximum length of a word in UTF-16 units
MAX_GROUPING = (1 << 16) - 1
COST_BITS = 16
LOWEST_COST, HIGHEST_COST = -(1 << COST_BITS - 1), (1 << COST_BITS - 1) - 1

# The fields of a word with their numbers of bits, from the lowest bit:
# ``left id 16 | right id 16 | cost - LOWEST_COST 16 | last word of its list 1``.
ID_BITS = 16
MAX_ID = (1 << ID_BITS) - 1
COST_SHIFT, LAST_SHIFT = 2 * ID_BITS, 2 * ID_BITS + COST_BITS

# The fields of a kind of characters with their numbers of bits, from the lowest bit:
# ``categories 18 | first category 5 | length 4 | group 1 | invoke 1 | space 1``.
FIRST_SHIFT, LENGTH_SHIFT, GROUP_SHIFT, INVOKE_SHIFT, SPACE_SHIFT = 18, 23, 27, 28, 29
MAX_KINDS = 1 << 15

# number of nodes after which the kernel searches for words that later text cannot change; and maximum number of nodes
SOFT_NODES, MOST_NODES = 1 << 12, 1 << 21
KEY_SHIFT = 25  # in a key, the bits from this bit on are the cost, and the lower bits are the node
NODE_SHIFT = 3
NODE_FIELDS = PREVIOUS, NEXT, START, END, WORD, RIGHT, MOVED = range(7)  # the indices of the `1 << NODE_SHIFT` numbers of a node


@dataclass(frozen=True)
class MecabSettings:
    """The settings of the dictionary.

    Attributes:
        kind: the kind of machine.
        words: the number of entries of the dictionary.
        unknowns: the number of entries for unknown words.
        longest: the number of UTF-16 units of the longest word.
        max_grouping_size: see the module docstring.
        bos_feature: the feature string of the beginning and the end of a text.
    """

    kind: str = stored_as(TEXT)
    words: int = stored_as(whole(0, (1 << 31) - 1))
    unknowns: int = stored_as(whole(1, (1 << 20) - 1))
    longest: int = stored_as(whole(1, MAX_LENGTH))
    max_grouping_size: int = stored_as(whole(1, MAX_GROUPING))
    bos_feature: str = stored_as(TEXT)


@dataclass(frozen=True)
class MecabMetadata(Sections):
    """The metadata of a table of MeCab's dictionary."""

    settings: MecabSettings


class Scalars(Fields):
    """The scalars of `Arguments`."""

    reach: Scalar  # maximum number of UTF-16 units from the start to the end of a word
    max_group: Scalar  # `max_grouping_size`
    rights: Scalar  # number of right ids


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.segmentation.kernels.mecab` reads: the arrays of the table, with the matrix row by row, and
    scalars.
    """

    units: Array
    entries: Array
    lists: Array
    numbers: Array
    kinds: Array
    unknowns: Array
    matrix: Array
    scalars: Scalars


class Work(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state: `count`, `is_open`, `before` and `last_right` are used.
        symbols: empty; between calls for one text, the kernel stores only the right id of the last certain word.
        heads: uint32[n], n a power of two: for each of the next n positions, the last node that ends at this position, or 0. All elements
            are 0 between rows.
        nodes: uint32[8 * n], the nodes. Node 0 means no node; node 1 is the last *certain* node, which later text cannot change.
        totals: int64[n], the cost of the best path to each node.
        clock: uint64[1], the number of positions with nodes so far. A stamp is the value of the clock at which an element was written.
        right_stamps, right_slots: for each right id, the stamp and the slot of the id.
        slot_keys, slot_rights: for each slot, the key of a node, and the node's right id.
        left_stamps, left_keys: for each left id, the stamp of the id, and the least key at the time of this stamp.
    """

    state: State
    symbols: Array
    heads: Array
    nodes: Array
    totals: Array
    clock: Array
    right_stamps: Array
    right_slots: Array
    slot_keys: Array
    slot_rights: Array
    left_stamps: Array
    left_keys: Array


class Word(NamedTuple):
    """An entry of the dictionary or of ``unk.def``."""

    id: int
    left: int
    right: int
    cost: int


class Node(NamedTuple):
    """A word in a text: its start and end in UTF-16 units, and the cost of the best path from the beginning of the text to the end of the
    word.
    """

    word: Scalar
    start: int
    end: int
    total: int
    previous: Node | None


class Kind(NamedTuple):
    """A kind of characters.

    Attributes:
        categories: a bit mask of categories.
        first: the category that determines the unknown words.
        length, group, invoke: see the module docstring. `group`: whether the run of characters is an unknown word.
        space: whether the characters are skipped.
    """

    categories: int
    first: int
    length: int
    group: bool
    invoke: bool
    space: bool

    @classmethod
    def unpacked(cls, number: int) -> Kind:
        """The kind with a given number in a table."""
        categories, first = number & ((1 << FIRST_SHIFT) - 1), number >> FIRST_SHIFT & 31
        flags = (bool(number >> shift & 1) for shift in (GROUP_SHIFT, INVOKE_SHIFT, SPACE_SHIFT))
        return cls(categories, first, number >> LENGTH_SHIFT & MAX_CHARACTERS, *flags)

    def packed(self) -> int:
        """The number of the kind in a table."""
        flags = self.group << GROUP_SHIFT | self.invoke << INVOKE_SHIFT | self.space << SPACE_SHIFT
        return self.categories | self.first << FIRST_SHIFT | self.length << LENGTH_SHIFT | flags


@dataclass(frozen=True, eq=False)
class MecabTable(UnitTrieTable):
    """The compiled dictionary of MeCab. The value of a string is 1 + the index of its first word in `lists`.

    Attributes:
        lists: uint64[n], the lists of words, concatenated: one for each string of the dictionary, and one for each category. The words of a
            list are in the reverse order of the dictionary.
        numbers: int32[n], the id of each word in `lists`.
        kinds: uint32[n], kinds of characters.
        unknowns: int32[categories], the index of each category's first word in `lists`.
        matrix: int16[left ids, right ids], the connection costs.
        feature_bytes: uint8[n], the features of all words in UTF-8, concatenated.
        feature_ends: int64[ids], the end of each word's features in `feature_bytes`.
    """

    kind: ClassVar[str] = "mecab"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.segmentation.kernels.mecab"
    public_class: ClassVar[str] = "fst.runtime.machines.segmentation.lattice.MecabSegmenter"
    picture: ClassVar[str] = "fst.machines.segmentation.picture.mecab"
    has_tokens: ClassVar[bool] = False

    lists: Array = member("<u8")
    numbers: Array = member("<i4")
    kinds: Array = member("<u4")
    unknowns: Array = member("<i4")
    matrix: Array = member("<i2", axes=2)
    feature_bytes: Array = member("|u1")
    feature_ends: Array = member("<i8")

    @Lazy
    def metadata(self) -> MecabMetadata:
        """The metadata of the table."""
        return MecabMetadata.from_json(self.header)

    @property
    def streams(self) -> bool:
        """Whether texts can be read in chunks: always True."""
        return True

    @property
    def cuts(self) -> str:
        """The ASCII characters after which any text may be cut: "", because each word can depend on any text after it."""
        return ""

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per unit of text: 1, because no word is empty."""
        return 1

    @Lazy
    def features(self) -> StringColumn:
        """The features of each id, as in the dictionary's files."""
        return StringColumn(self.feature_bytes, self.feature_ends)

    def is_unknown(self, number: int) -> bool:
        """Whether an id belongs to an unknown word."""
        return number >= self.metadata.settings.words

    def word(self, number: int) -> Word:
        """The word with a given id, if this word can occur in a text. If words of one list have equal left and right ids, only the word of
        least cost can occur, and a table contains only this word.
        """
        return self._word(int(self._place_of[number]))

    @Lazy
    def _place_of(self) -> Ints:
        places = np.zeros(len(self.feature_ends), np.int64)
        places[self.numbers] = np.arange(len(self.numbers))
        return places

    def _word(self, place: int) -> Word:
        packed = int(self.lists[place])
        left, right = packed & MAX_ID, packed >> ID_BITS & MAX_ID
        return Word(int(self.numbers[place]), left, right, (packed >> COST_SHIFT & ((1 << COST_BITS) - 1)) + LOWEST_COST)

    def _list(self, place: int) -> list[Word]:
        """The words of the list that begins at index `place`, in the order of the dictionary."""
        end = place + int(self._list_sizes[place])
        return [self._word(at) for at in range(end - 1, place - 1, -1)]

    def run(self, text: str) -> list[int]:
        """The ids of the words, by the slow walk."""
        return [node.word.id for node in self.walk(text)]

    def walk(self, text: str) -> list[Node]:
        """The best path through a text, by the slow walk. The last node of the path is the end of the text."""
        units = units_of(text)
        # the nodes that end at each position, in the order that decides ties
        ending: dict[int, list[Node]] = {0: [Node(Word(-1, 0, 0, 0), 0, 0, 0, None)]}
        for at in range(len(units)):
            start = self.skipped(units, at) if at in ending else len(units)
            by_end: dict[int, list[Node]] = {}
            for word, stop in self.words_at(units, start) if start < len(units) else []:
                by_end.setdefault(stop, []).append(self._linked(word, start, stop, ending[at]))
            for stop, nodes in by_end.items():
                ending[stop] = nodes + ending.get(stop, [])
        node: Node | None = self._linked(Word(-1, 0, 0, 0), len(units), len(units), ending[max(ending)])
        path = []
        while node and node.previous:
            path.append(node)
            node = node.previous
        return path[::-1]

    def cost(self, text: str) -> int:
        """The cost of the best path through a text, by the slow walk."""
        return self.walk(text)[-1].total

    def _linked(self, word: Word, start: int, stop: int, before: Sequence[Node]) -> Node:
        """Make the node of a word, linked to the best previous node."""
        totals = [node.total + int(self.matrix[word.left, node.word.right]) for node in before]
        least = min(totals)
        return Node(word, start, stop, least + word.cost, before[totals.index(least)])

    def _kind_at(self, units: Sequence[int], at: int) -> Kind:
        return Kind.unpacked(int(self.kinds[self.kind_of(units[at])]))

    def _after(self, units: Sequence[int], at: int) -> int:
        """The position after a character."""
        return at + 1 + (units[at] & 0xFC00 == 0xD800 and at + 1 < len(units))

    def skipped(self, units: Sequence[int], at: int) -> int:
        """The first position from `at` on that is not a space."""
        while at < len(units) and self._kind_at(units, at).space:
            at = self._after(units, at)
        return at

    def words_at(self, units: list[int], start: int) -> Iterator[tuple[Word, int]]:
        """The words that begin at a position, each with its end."""
        known = [(word, stop) for value, _, stop in self.values(units, start) for word in self._list(value - 1)]
        yield from known
        kind = self._kind_at(units, start)
        if known and not kind.invoke:
            return
        stops = self._unknown_ends(units, start, kind, bool(known))
        yield from ((word, stop) for stop in stops for word in self._list(int(self.unknowns[kind.first])))

    def _unknown_ends(self, units: Sequence[int], start: int, kind: Kind, is_known: bool) -> list[int]:
        """The ends of the unknown words that begin at a position."""
        first_end = stop = self._after(units, start)
        ends, run_end = list[int](), 0
        if kind.group:
            run_end, previous, characters = first_end, kind, 0
            while run_end < len(units) and self._kind_at(units, run_end).categories & previous.categories:
                previous, characters, run_end = self._kind_at(units, run_end), characters + 1, self._after(units, run_end)
            if characters <= self.metadata.settings.max_grouping_size:
                ends.append(run_end)
        for _ in range(kind.length):
            if stop == run_end:
                break
            ends.append(stop)
            if stop == len(units) or not self._kind_at(units, stop).categories & kind.categories:
                break
            stop = self._after(units, stop)
        return ends if ends or is_known else [stop]

    @property
    def _reach(self) -> int:
        settings = self.metadata.settings
        return max(settings.longest, 2 * (settings.max_grouping_size + 1), 2 * MAX_CHARACTERS)

    @Lazy
    def _list_sizes(self) -> Ints:
        """For each index into `lists`, the number of words from there to the end of the list."""
        is_last = self.lists >> np.uint64(LAST_SHIFT) > 0
        places = np.arange(len(self.lists))
        ends: Ints = np.minimum.accumulate(np.where(is_last, places, len(self.lists))[::-1])[::-1]
        return ends + 1 - places

    @Lazy
    def most_words(self) -> int:
        """The maximum number of nodes that can begin at a position."""
        edges = self.edges()
        known = int(edges.sums(np.append(0, self._list_sizes)[edges.values]).max(initial=0))
        return known + (MAX_CHARACTERS + 1) * int(self._list_sizes[self.unknowns].max())

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        settings = self.metadata.settings
        return Arguments(
            units=borrowable(self.units, np.uint32),
            entries=borrowable(self.entries, np.uint64),
            lists=borrowable(self.lists, np.uint64),
            numbers=borrowable(self.numbers, np.int32),
            kinds=borrowable(self.kinds, np.uint32),
            unknowns=borrowable(self.unknowns, np.int32),
            matrix=borrowable(self.matrix, np.int16).ravel(),
            scalars=Scalars(reach=self._reach, max_group=settings.max_grouping_size, rights=self.matrix.shape[1]),
        )

    def work(self) -> Work:
        """The kernel's working arrays for one thread. The operating system commits only memory that is written."""
        lefts, rights = self.matrix.shape
        capacity = MOST_NODES + self.most_words + 2
        return Work(
            state=State(),
            symbols=np.empty(0, np.uint16),
            heads=np.zeros(1 << (self._reach + 1).bit_length(), np.uint32),
            nodes=np.empty(capacity << NODE_SHIFT, np.uint32),
            totals=np.empty(capacity, np.int64),
            clock=np.zeros(1, np.uint64),
            right_stamps=np.zeros(rights, np.uint64),
            right_slots=np.empty(rights, np.uint32),
            slot_keys=np.empty(rights, np.int64),
            slot_rights=np.empty(rights, np.uint32),
            left_stamps=np.zeros(lefts, np.uint64),
            left_keys=np.empty(lefts, np.int64),
        )

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        self._prove_words()
        self.prove_trie(self.metadata.settings.longest, len(self.lists))
        self._prove_kinds()
        settings = self.metadata.settings
        for data, ends, name in ((self.word_bytes, self.word_ends, "words"), (self.feature_bytes, self.feature_ends, "features")):
            prove_strings(data, ends, settings.words + settings.unknowns, name)

    def _prove_words(self) -> None:
        """Prove that words have ids in range, and that every list ends."""
        (lefts, rights), words, count = self.matrix.shape, self.lists, len(self.lists)
        need(0 < lefts <= MAX_ID + 1 and 0 < rights <= MAX_ID + 1, f"the matrix has {lefts} rows of {rights}")
        need(0 < count <= MAX_VALUE and len(self.numbers) == count, f"there are {count} words, {len(self.numbers)} numbers")
        need(int(words[-1]) >> LAST_SHIFT == 1, "the last list of words has no end")
        need_none(words >> np.uint64(LAST_SHIFT) > 1, lambda place: f"word {place} has the bits {int(words[place]):#x}")
        need_none(words & np.uint64(MAX_ID) >= lefts, lambda place: f"word {place} has a left id past the last, {lefts - 1}")
        need_none(words >> np.uint64(ID_BITS) & np.uint64(MAX_ID) >= rights, lambda place: f"word {place} has a right id past {rights - 1}")
        ids, numbers = len(self.feature_ends), self.numbers
        need_none((numbers < 0) | (numbers >= ids), lambda place: f"word {place} has the id {numbers[place]}; there are {ids}")

    def _prove_kinds(self) -> None:
        """Prove that kinds have categories, and that categories have unknown words."""
        kinds, count = self.units >> np.uint32(KIND_SHIFT), len(self.kinds)
        need(0 < len(self.unknowns) <= CATEGORIES, f"there are {len(self.unknowns)} categories; at most {CATEGORIES} are possible")
        places, size = self.unknowns, len(self.lists)
        need_none((places < 0) | (places >= size), lambda category: f"category {category} has the words at {places[category]} of {size}")
        need_none(kinds >= count, lambda unit: f"unit {unit} is of kind {kinds[unit]}; there are {count}")
        wrong = [number >> SPACE_SHIFT > 1 or Kind.unpacked(number).first >= len(self.unknowns) for number in self.kinds.tolist()]
        need_none(np.array(wrong), lambda kind: f"kind {kind} has the bits {int(self.kinds[kind]):#x}")
        categories = self.kinds.astype(np.int64) & (1 << CATEGORIES) - 1
        are_spaces = self.kinds >> SPACE_SHIFT == 1
        of_spaces = np.bitwise_or.reduce(categories[are_spaces], initial=0)
        shared = np.where(are_spaces, categories & categories - 1, categories & of_spaces)
        need_none(shared > 0, lambda kind: f"kind {kind} has a category of spaces, and others")


def packed_words(lefts: Ints, rights: Ints, costs: Ints, are_last: Array) -> Array:
    """Pack words from their fields. The caller ensures that the fields are in range."""
    packed = lefts | rights << ID_BITS | (costs - LOWEST_COST) << COST_SHIFT | are_last.astype(np.int64) << LAST_SHIFT
    return packed.astype(np.uint64)


def header(settings: MecabSettings) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return MecabMetadata(settings).to_json()
