"""WordPiece: the table that a kernel walks, and a slow walk that is the kernel's specification.

A text is read as symbols, see `fst.text.reading`. Three arrays map a state and a symbol to the next state and the output:

``entries``
    δ′ and σ′ in one array: the row of state ``s`` begins at slot ``s`` (a state *is* its slot), and slot ``s + label`` has the transition
    on a label.
``pool``
    outputs of two or more tokens: their ids, the last with the bit `LAST_OUTPUT`.
``words``, ``displacements``
    the table of words, see `fst.tables.words`. The compiler puts words that are one token into this table. A word in the table becomes its
    id.

The first slot of each row is its *finish entry*. The label of a finish entry is `FINISH`, which no class has. The output of the finish
entry is the segmentation of the word so far. Instead of a next state, the entry contains the state's *depth*, the number of symbols read
and not yet covered by an output; see `fst.machines.wordpiece.proof`. A transition that is not in a row is the *default*: finish the word so
far, then continue in the class's state, ``A.next`` inside a word, after at least one token; ``B.next`` at the start of a word.

Classes with label 0 always take the default, with a single look-up of the finish entry. Classes of the kinds NONE and ONE without a label
end the word, and their ``A.next`` is the root. Rows share slots, and only the root's row has every label. If the label at the slot is
another one, the look-up is a *miss*, and the finish entry is the second look-up.

A linked table is like a compact table, but its rows have only the edges of the trie. If a state would inherit transitions, its row contains
a failure link: an entry with the label `LINK`, which emits the tokens that are certain on this link. A miss follows the link; without a
link, a miss is the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata.rows import (
    CONTINUES_RUN,
    ENTRY,
    FAIL,
    FINISH,
    KIND_SHIFT,
    LABEL_SHIFT,
    LAST_OUTPUT,
    LINK,
    LIST,
    MANY,
    MAX_LABEL,
    MAX_NEXT,
    MAX_OUTPUT,
    NONE,
    ONE,
    OTHER,
    ROOT,
    WORD_SYMBOLS,
    Array,
    are_fences,
    are_parts,
    field_kind,
    field_output,
)
from fst.core.lazy import Lazy
from fst.machines.wordpiece.arguments import Arguments, arguments, token_lengths
from fst.machines.wordpiece.header import Metadata
from fst.machines.wordpiece.proof import prove_rows
from fst.tables import words
from fst.tables.header import LINKED
from fst.tables.kernel_call import Work, work_of
from fst.tables.proof import Tokens, are_named, need, need_none
from fst.tables.strings import texts_of
from fst.tables.table import Each, member
from fst.text import added_tokens
from fst.text.arguments import prove_normalizer
from fst.text.composition import Place
from fst.text.reading import NORMALIZED, ReadingTable, Symbol, prove_characters, prove_lists, prove_specials


@dataclass(frozen=True, eq=False)
class WordPieceTable(ReadingTable):
    """A compiled WordPiece machine.

    Attributes:
        header: the JSON form of `metadata`.
        pages, blocks, classes, symbols, specials: see `fst.text.reading.ReadingTable`.
        entries: uint64[slots], rows of transitions.
        pool: uint32[n], outputs of two or more tokens.
        words: uint64[4 * slots]; the number of slots is a power of two. A slot contains the classes of 12 symbols (0 after the last
            symbol), and ``1 << 32 | id``; unused slots are 0.
        displacements: uint16[buckets]; the number of buckets is a power of two, at least 2.
        token_bytes: uint8[n], the UTF-8 bytes of all tokens, concatenated.
        token_ends: int64[tokens], the end of each token in `token_bytes`.
        token_ids: int32[tokens], the id of each token.
    """

    kind: ClassVar[str] = "wordpiece"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.wordpiece.kernels.encode"
    public_class: ClassVar[str] = "fst.runtime.machines.wordpiece.tokenizer.WordPieceTokenizer"
    picture: ClassVar[str] = "fst.machines.wordpiece.picture.picture_of"

    pages: Array = member("<u2")
    blocks: Array = member("<u2")
    classes: Array = member("<u8")
    symbols: Array = member("<u4")
    entries: Array = member("<u8")
    pool: Array = member("<u4")
    specials: Array = member("<i4", axes=2)
    words: Array = member("<u8")
    displacements: Array = member("<u2")
    token_bytes: Array = member("|u1")
    token_ends: Array = member("<i8")
    token_ids: Array = member("<i4")

    @Lazy
    def metadata(self) -> Metadata:
        """The metadata of the file."""
        return Metadata.from_json(self.header)

    @property
    def class_count(self) -> int:
        """The number of classes of characters."""
        return len(self.classes) // 2

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the order of ``token_ids``."""
        return texts_of(self.token_bytes, self.token_ends)

    def names(self) -> tuple[Array, Array]:
        """The `tokens` as two arrays like ``token_bytes`` and ``token_ends``."""
        return self.token_bytes, self.token_ends

    @Lazy
    def lengths(self) -> Mapping[int, int]:
        """The number of characters of each token of the model, by its id."""
        lengths = zip(self.token_ids.tolist(), map(len, self.tokens), strict=True)
        return dict(list(lengths)[: self.metadata.model.model_tokens])

    @Lazy
    def specials_in_runs(self) -> tuple[str, ...]:
        """The special tokens whose first character has the flag `CONTINUES_RUN`."""
        specials = self.metadata.added_tokens.specials
        return tuple(token for token in specials if self.flags[self.class_of(ord(token[0]))] & CONTINUES_RUN)

    @Lazy
    def class_of_id(self) -> Mapping[int, int]:
        """The class of each id that is a word of one symbol; the first class if several classes have the id."""
        a = self.classes[0::2]
        ones = np.flatnonzero(field_kind(a) == ONE)[::-1]
        return dict(zip(field_output(a[ones]).tolist(), ones.tolist(), strict=True))

    def run(self, text: str) -> list[int]:
        """Return the token ids of a text by the slow walk, which is the specification of the kernel."""
        return Walk(self).run(text)

    def read(self, text: str) -> Iterator[Symbol]:
        """The symbols of a text, see `ReadingTable.read`. If the normalizer has steps, the text is normalized first."""
        steps = self.metadata.normalizer.steps
        if steps is None:
            yield from super().read(text)
            return
        for part in steps.stretches(text, self.metadata.added_tokens):
            if part.token is not None:
                yield self.class_of_id[part.token], part.places[0]
                continue
            for char, place in zip(part.text, part.places, strict=True):
                for number, _ in self.listed(self.class_of(ord(char) + NORMALIZED)):
                    yield number, place

    def arguments(self) -> Arguments:
        """The arguments for kernels that compute only ids, not spans, and that find no contextual added tokens."""
        model = self.metadata.model
        automaton = self.metadata.automaton
        params = automaton.dead, model.unk_id, model.max_input_chars_per_word, automaton.layout == LINKED
        return arguments(self, self.entries, self.pool, self.words, self.displacements, *params)

    def token_lengths(self) -> Array:
        """The lengths of tokens in symbols, which the kernels use for spans."""
        model = self.metadata.model
        return token_lengths(self.token_bytes, self.token_ends, self.token_ids, model.model_tokens, model.continuing_subword_prefix)

    def work(self) -> Work:
        """The working arrays of the kernels for one thread."""
        return work_of(self.metadata.model.max_input_chars_per_word)

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        metadata, automaton, model, added = self.metadata, self.metadata.automaton, self.metadata.model, self.metadata.added_tokens
        tokens = Tokens(self.token_bytes, self.token_ends, self.token_ids)
        need(model.model_tokens <= len(self.token_ids), f"model_tokens is {model.model_tokens}; there are {len(self.token_ids)} tokens")
        depths = prove_rows(self.entries, self.pool, tokens.named, automaton, each)
        self._prove_classes(tokens.named, depths)
        prove_lists(self)
        prove_characters(self)
        prove_specials(self, added.specials)
        added_tokens.prove_ids(self, tokens, metadata)
        words.prove(self.words, self.displacements, tokens.named, model.max_input_chars_per_word)
        self._prove_steps()
        if added.contextual and not self.finds_in_steps:
            self._prove_words_without(added_tokens.prove_contextual(self, added))

    @property
    def finds_in_steps(self) -> bool:
        """Whether contextual tokens are found only in texts that are normalized in steps: those with a character of `Suspects.ids`."""
        suspects = self.metadata.normalizer.suspects
        return suspects is not None and len(suspects.ids) > 0

    def _prove_steps(self) -> None:
        """Prove that the metadata contains normalizers for texts that the alphabet cannot express."""
        normalizer, added = self.metadata.normalizer, self.metadata.added_tokens
        need(normalizer.steps or not added.contextual, "there are contextual tokens, and no normalizer step by step")
        has_steps = normalizer.steps is not None
        need(has_steps == (normalizer.suspects is not None), "the normalizer has steps without suspects, or suspects without steps")
        need(has_steps == self.has_normalized, "the normalizer has steps without pages of normalized characters, or pages without steps")
        for by in normalizer.steps.normalizers if normalizer.steps else ():
            prove_normalizer(by, added)

    def _prove_classes(self, named: Array, depths: Array) -> None:
        """Prove that classes have labels in range and lead to states."""
        size = len(self.classes)
        need(size % 2 == 0 and 2 <= size <= 2 * MAX_LABEL, f"classes has {size} elements, not two for each of 1 to {MAX_LABEL} classes")
        a, b = self.classes[0::2], self.classes[1::2]
        kind, label, columns, part = field_kind(a), ENTRY.labels_of(a), self.metadata.automaton.columns, are_parts(a)
        parts = np.count_nonzero(part)

        def refuse(wrong: Array, fault: str) -> None:
            need_none(wrong, lambda number: f"class {number} {fault}")

        need(not self.classes[:2].any(), "class 0, which no character has, is not empty")
        refuse(part & (np.arange(len(a)) > parts), "is a part of words, and comes after a class that is not")
        refuse(b > MAX_NEXT, "has a record B that is not a state")
        refuse(label >= columns, f"has a label outside of the {columns} columns")
        refuse((kind != NONE) & (label > 0), "has a label, and is not a part of words")
        ends_word = (label == 0) & (kind <= ONE)
        refuse(ends_word & ((ENTRY.targets_of(a) > 0) | (b > 0)), "ends a word, and leads to another state than the root")
        for states, record in ((np.where(kind == LIST, ROOT, ENTRY.targets_of(a)), "A"), (ENTRY.targets_of(b), "B")):
            depth = depths.take(states, mode="clip")
            refuse((depth < 1) | (depth > 2), f"leads by record {record} to no state, or to one deeper than 1")
        refuse((kind == ONE) & ~are_named(field_output(a), named), "has an id that no token has")

    def _prove_words_without(self, patterns: added_tokens.Patterns) -> None:
        """Prove that the table of words and the transducer give a word the same id, and that no word of the table contains a contextual
        token.

        A kernel searches for contextual tokens only in words outside of this table. The parts of a word around a contextual token go
        through the transducer.
        """
        keys, ids = words.used(self.words)
        a, b = self.classes[0::2], self.classes[1::2]
        need(keys.max(initial=0) < len(a) and np.all(are_parts(a)[keys] | (keys == 0)), "a word of the table of words holds a boundary")
        need(np.all((keys[:, 1:] == 0) | (keys[:, :-1] > 0)), "a word of the table of words has a gap")
        labels = ENTRY.labels_of(a)
        from_root = np.where(labels > 0, ENTRY.targets_of(self.entries[labels]), b.astype(np.int64))
        state = from_root[keys[:, 0]]
        for number in keys.T[1:]:
            entry, label = self.entries[state + labels[number]], labels[number]
            follows = (entry >> np.uint64(KIND_SHIFT) == label.astype(np.uint64) << np.uint64(LABEL_SHIFT - KIND_SHIFT)) & (label > 0)
            need(np.all(follows | (number == 0)), "the transducer segments a word of the table of words")
            state = np.where(number > 0, ENTRY.targets_of(entry), state)
        finish = self.entries[state]
        same = (field_kind(finish) == ONE) & (field_output(finish) == ids)
        need_none(~same, lambda word: f"the table of words has the id {ids[word]} for a word, the transducer another")
        lengths = np.zeros(int(self.token_ids.max()) + 1, np.int64)
        lengths[list(self.lengths)] = list(self.lengths.values())
        longer = lengths[ids] < np.count_nonzero(keys, axis=1)
        need_none(longer, lambda word: f"a word of the table of words is longer than the token of its id, {ids[word]}")
        words.prove_without(keys, [pattern for pattern in patterns.values() if len(pattern) <= WORD_SYMBOLS])


class Walk:
    """The slow walk over a table, which specifies the kernel. The walk also counts look-ups.

    Attributes:
        ids: the token ids so far.
        offsets: for each id, the index of its first character in its text, and of the character after the id's last character.
        words: for each id, the index of its word in the text.
        symbols: the number of symbols read so far. The end of each text counts as one space.
        lookups: the number of entries read so far.
    """

    def __init__(self, tables: WordPieceTable) -> None:
        self.tables, self.model = tables, tables.metadata.model
        self.ids: list[int] = []
        self.offsets: list[tuple[int, int]] = []
        self.words: list[int] = []
        self.symbols = 0
        self.lookups = 0
        self._place: Place = 0, 0  # the span of the current symbol
        self._word = 0
        self._fence = 0  # the class of the fence that was read last; 0 if the last symbol was not a fence
        self._is_linked = tables.metadata.automaton.layout == LINKED
        self._start_word()

    def run(self, text: str) -> list[int]:
        """Read one text, including its end; return all ids so far."""
        self._word = 0
        for number, place in self.tables.read(text):
            self._place = place
            self._step_class(number)
        self._end_word()
        return self.ids

    def _start_word(self) -> None:
        self.state, self.word_ids = ROOT, len(self.ids)
        self.word_places: list[tuple[int, int]] = []
        self.word_classes: list[int] = []

    def _end_word(self) -> None:
        self._fence = 0
        self._step(0)

    def _step_class(self, number: int) -> None:
        """Read one class. The effect of a fence is delayed until the next class is read, because an equal fence cancels it."""
        fence, self._fence = self._fence, 0
        if number == fence:
            return
        if fence:
            self._step(0)
        if are_fences(self.tables.classes[2 * number]):
            self._fence = number
        else:
            self._step(number)

    def _step(self, number: int) -> None:
        """Read one symbol, which makes one transition. Class 0 is a space.

        A boundary also ends the word, and may add a word of one symbol.
        """
        a, b = self.tables.classes[2 * number : 2 * number + 2]
        entry = self._look_up(int(ENTRY.labels_of(a)))
        boundary = ENTRY.labels_of(a) == 0 and field_kind(a) != OTHER
        failed = field_kind(entry) == FAIL
        self._emit(entry)
        if boundary:
            known = words.id_of_word(self.tables.words, self.tables.displacements, self.word_classes)
            unknown = failed or len(self.word_places) > self.model.max_input_chars_per_word
            if known is not None or unknown:
                self.ids[self.word_ids :] = [self.model.unk_id if known is None else known]
            self._locate_word(known is not None or unknown)
            if field_kind(a) == ONE:
                self.ids.append(int(field_output(a)))
                self._put(self._place)
                self._word += 1
            self._start_word()
            return
        self.word_places.append(self._place)
        self.word_classes.append(number)
        if ENTRY.labels_of(entry) != FINISH:
            self.state = int(ENTRY.targets_of(entry))
        elif failed:
            self.state = self.tables.metadata.automaton.dead
        else:
            self.state = int(ENTRY.targets_of(b if len(self.word_places) == 1 else a))

    def _locate_word(self, whole: bool) -> None:
        """Set the spans of a word's ids: each id has as many symbols as its token, or a single id has all symbols of the word.

        Even in a forged table, each id gets at least one symbol, and no symbols beyond the end of the word.
        """
        symbols = len(self.word_places)
        start = 0
        for index, number in enumerate(self.ids[self.word_ids :]):
            end = symbols if whole else min(start + self._length(number, index > 0), symbols)
            first = min(start, symbols - 1)
            last = max(end - 1, first)
            self._put((self.word_places[first][0], self.word_places[last][1]))
            start = end
        self._word += len(self.ids) > self.word_ids

    def _length(self, number: int, continues: bool) -> int:
        """The number of symbols of a token."""
        indicator = len(self.model.continuing_subword_prefix) if continues else 0
        return max(self.tables.lengths.get(number, 0) - indicator, 0)

    def _put(self, place: tuple[int, int]) -> None:
        self.offsets.append(place)
        self.words.append(self._word)

    def _pooled(self, place: int) -> Iterator[int]:
        while self.tables.pool[place] < LAST_OUTPUT:
            yield int(self.tables.pool[place])
            place += 1
        yield int(self.tables.pool[place]) & MAX_OUTPUT

    def _look_up(self, label: int) -> Any:
        self.symbols += 1
        entry = self._entry(label)
        while label and ENTRY.labels_of(entry) != label:
            finish = self._entry(0)
            # this entry is adjacent to `finish`, so reading both is one look-up
            link = self.tables.entries[self.state + LINK] if self._is_linked else finish
            if ENTRY.labels_of(link) != LINK:
                return finish
            self._emit(link)
            self.state = int(ENTRY.targets_of(link))
            entry = self._entry(label)
        return entry

    def _entry(self, label: int) -> Any:
        self.lookups += 1
        return self.tables.entries[self.state + label]

    def _emit(self, entry: Any) -> None:
        kind, output = int(field_kind(entry)), int(field_output(entry))
        if kind == ONE:
            self.ids.append(output)
        elif kind == MANY:
            self.ids.extend(self._pooled(output))
