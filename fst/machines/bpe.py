"""Byte-level BPE: the table that a kernel walks, and a slow walk that is the kernel's specification.

A text becomes ids in three steps, each with arrays of its own:

1. Special tokens are cut out of the raw text: at each place the longest that begins there.
2. The splitter cuts the stretches between them into pieces, see `fst.splitting`. ``pages`` and ``blocks`` take a code point to its class,
   ``blocks[pages[code_point >> 7] << 7 | code_point & 127]``, and ``moves`` is the automaton over classes. ``symbols`` and ``decisions``
   decide nearly all places without the automaton, see `fst.compile.windows`; the kernel relies on them, and runs the automaton only
   elsewhere. Some pieces are dropped, such as white space: ``drops`` marks the classes of their first characters.
3. The bytes of each piece become tokens. ``words`` and ``displacements`` are a perfect hash table of the pieces that are one token. For all
   others, ``entries`` is the automaton of the merges, see `fst.merging`. If no automaton is exact, ``entries`` is empty, and kernels run
   the ``merges`` themselves, see `fst.merge_list`. With dropout they always do, so every table has the merges.

A word of up to `WORD_BYTES` bytes is a key of three 64-bit numbers: its bytes in the order of memory, then zeros. A slot of ``words`` is
the key and ``length << 32 | id``: the length tells apart words that differ only in zero bytes at their ends. Hash, buckets and
displacements are as in `fst.machines.words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fst import dropout, merge_list, merging
from fst.affixes import Affixes, codes_of
from fst.dropout import Dropout
from fst.errors import quoted
from fst.lazy import Lazy
from fst.machines.bpe_arguments import KEY_PARTS, Arguments, MergeArguments, Work, arguments, merge_arguments, work
from fst.machines.bpe_metadata import BpeMetadata
from fst.machines.bpe_windows import AROUND, MAX_WINDOW
from fst.machines.byte_letters import bytes_of, spelled
from fst.machines.rewriting_arguments import growth, marks, prove_rewriting
from fst.proof import need, need_ids, need_none, prove_around
from fst.rewriting import NOTHING, without_context
from fst.rows import CODE_POINTS, MAX_OUTPUT, PAGE_BITS, Array
from fst.splitting import Splitter, prove_moves
from fst.table import Each, Table, member

WORD_BYTES = 8 * KEY_PARTS


@dataclass(frozen=True, eq=False)
class BpeTables(Table):
    """A compiled byte-level BPE machine.

    Attributes:
        about: the JSON form of `metadata`.
        pages: uint16[8704], the block of each 128 code points.
        blocks: uint8[128 * n], the class of each code point of a block.
        moves: uint16[states, classes + 1], see `fst.splitting.Splitter`.
        drops: uint8[classes], 1 if pieces that begin with a character of the class are dropped, else 0.
        symbols: uint8[classes + 2], the symbol in windows of each class, of the end of a text, and of the place before a text.
        decisions: uint8[2^n], by window: `INSIDE` if no piece begins there, `BEGINS` if one does, `UNDECIDED` if the window leaves it open.
        entries: uint32[slots], depths: uint16[states], see `fst.merging`; both empty for a table without an automaton.
        merges: int32[merges, 3], all merges of the source, see `fst.merge_list`.
        words: uint64[4 * slots], displacements: uint16[buckets]; slots and buckets are powers of two.
        token_bytes: uint8[n], the bytes of all tokens, one after the other: first those of the model, then all other names as UTF-8. The
            bytes include a prefix or suffix, since the reference decodes it, too.
        token_ends: int64[tokens], where each token ends in `token_bytes`.
        token_ids: int32[tokens], the id of each token.
    """

    kind: ClassVar[str] = "bpe"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    face: ClassVar[str] = "fst.runtime.bpe.BpeTokenizer"

    pages: Array = member("<u2")
    blocks: Array = member("|u1")
    moves: Array = member("<u2", axes=2)
    drops: Array = member("|u1")
    symbols: Array = member("|u1")
    decisions: Array = member("|u1")
    entries: Array = member("<u4")
    depths: Array = member("<u2")
    merges: Array = member("<i4", axes=2)
    words: Array = member("<u8")
    displacements: Array = member("<u2")
    token_bytes: Array = member("|u1")
    token_ends: Array = member("<i8")
    token_ids: Array = member("<i4")

    @Lazy
    def metadata(self) -> BpeMetadata:
        """What the file says beside the arrays.

        Raises:
            TableError: `about` is not of the form that this version writes.
        """
        return BpeMetadata.from_json(self.about)

    @property
    def kernel(self) -> str:  # type: ignore[override] # other kinds have one kernel for all tables
        """The module of the kernel that walks the automaton, or of the one that runs the merges."""
        return "fst.runtime.kernels.bpe" if self.has_automaton else "fst.runtime.kernels.merge_queue"

    @property
    def has_automaton(self) -> bool:
        """Whether the table has an automaton, and not the list of merges."""
        return len(self.entries) > 0

    @property
    def growth(self) -> int:
        """The most bytes that rewriting makes of one."""
        by = self.metadata.text.rewriting
        return growth(by) if by else 1

    @property
    def ids_per_unit(self) -> int:
        """The room for ids that each byte of text needs: the growth by rewriting, times the scratch of a queue of merges."""
        return self.growth * (1 if self.has_automaton else merge_list.SCRATCH)

    @property
    def class_count(self) -> int:
        """The number of classes of characters."""
        return int(self.moves.shape[1]) - 1

    def content(self, token: int) -> bytes:
        """The bytes of a token, given by its number in ``token_ids``."""
        begin = int(self.token_ends[token - 1]) if token else 0
        return self.token_bytes[begin : int(self.token_ends[token])].tobytes()

    @Lazy
    def contents(self) -> tuple[bytes, ...]:
        """The bytes of each token, in the order of ``token_ids``."""
        data, ends = self.token_bytes.tobytes(), self.token_ends.tolist()
        return tuple(data[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True))

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens as users see them: those of the model in GPT-2's letters for bytes."""
        known = self.metadata.model.model_tokens
        return (*map(spelled, self.contents[:known]), *(content.decode() for content in self.contents[known:]))

    @Lazy
    def lengths(self) -> Array:
        """uint16[highest id + 1], the number of bytes that each token of the model stands for; 0 for other ids, and if it varies."""
        known = self.metadata.model.model_tokens
        lengths = np.zeros(int(self.token_ids.max()) + 1, np.uint16)
        sizes = np.diff(self.token_ends[:known], prepend=0)
        if self.affixes:
            sizes = np.array([len(self.affixes.part(name).body) for name in self.contents[:known]])
        lengths[self.token_ids[:known]] = sizes
        if self.metadata.model.unk_id is not None:
            lengths[self.metadata.model.unk_id] = 0 if self.metadata.model.fuse_unk else 1
        return lengths

    @Lazy
    def affixes(self) -> Affixes:
        """The prefix and suffix in the names of the model's tokens."""
        model = self.metadata.model
        return Affixes(bytes_of(model.continuing_subword_prefix) or b"", bytes_of(model.end_of_word_suffix) or b"")

    @Lazy
    def byte_tokens(self) -> Array:
        """int32[CODES], the id of the token that is each byte, by its code, see `fst.affixes`; -1 for a code without a token."""
        known, room = self.metadata.model.model_tokens, 1 + len(self.affixes.prefix) + len(self.affixes.suffix)
        short = np.flatnonzero(np.diff(self.token_ends[:known], prepend=0) <= room).tolist()
        return self.affixes.atoms({self.content(token): int(self.token_ids[token]) for token in short})

    @Lazy
    def missing(self) -> Array:
        """uint8[256], 1 for each byte that text may have and that is no token."""
        missing, may_be = np.zeros(256, np.uint8), [*merging.UTF8_BYTES]
        missing[may_be] = (self.byte_tokens.reshape(-1, 256)[:, may_be] < 0).any(axis=0)
        return missing

    @property
    def drops_bytes(self) -> bool:
        """Whether bytes that are no tokens vanish, so that ids do not tell where they stand."""
        model = self.metadata.model
        return model.missing_bytes > 0 and model.unk_id is None

    @property
    def fused(self) -> int:
        """The id of the token that stands for a whole run of missing bytes; `merge_list.NOT_FUSED` if there is none."""
        model = self.metadata.model
        return model.unk_id if model.fuse_unk and model.unk_id is not None else merge_list.NOT_FUSED

    @Lazy
    def atoms(self) -> Array:
        """int32[CODES], the id that each byte becomes, by its code; -1 if it vanishes."""
        atoms, unk_id = self.byte_tokens.copy(), self.metadata.model.unk_id
        if unk_id is not None:
            atoms.reshape(-1, 256)[:, self.missing > 0] = unk_id
        return atoms

    def atoms_of(self, piece: bytes) -> list[int]:
        """The tokens with which BPE begins on a piece."""
        return merge_list.atoms_of(codes_of(piece), self.atoms, self.fused)

    @Lazy
    def proven_merges(self) -> Array:
        """``merges``, which are proven only now if there is an automaton: most tables with one are never asked for dropout.

        Raises:
            TableError: they are not sound.
        """
        lacking, said = int(self.missing.sum()), self.metadata.model.missing_bytes
        need(lacking == said, f"missing_bytes is {said}; {lacking} of the bytes that text may have are no tokens")
        merge_list.prove(self.merges, self.lengths, self.byte_tokens)
        return self.merges

    @Lazy
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """The ranks of the merges, for the slow walk."""
        return merge_list.ranks_of(self.proven_merges)

    @Lazy
    def splitter(self) -> Splitter:
        """The splitter, for the slow walk."""
        codes = np.arange(CODE_POINTS)
        classes = self.blocks[self.pages[codes >> PAGE_BITS].astype(np.int64) << PAGE_BITS | codes & 127]
        return Splitter(classes, self.moves, dropped=frozenset(np.flatnonzero(self.drops).tolist()))

    @Lazy
    def whole_pieces(self) -> Mapping[bytes, int]:
        """With `ignore_merges`, the id of each token: a whole piece that equals a token is that token, whatever the merges say."""
        model = self.metadata.model
        if not model.ignore_merges:
            return {}
        return dict(zip(self.contents[: model.model_tokens], self.token_ids.tolist(), strict=False))

    @Lazy
    def long_pieces(self) -> Mapping[bytes, int]:
        """Those of `whole_pieces` that no merges make and ``words`` does not hold, most because they are too long."""
        model = self.metadata.model
        found = np.flatnonzero(np.isin(self.token_ids[: model.model_tokens], model.long_pieces)).tolist()
        return {self.content(token): int(self.token_ids[token]) for token in found}

    def run(self, text: str) -> list[int]:
        """The token ids of a text, without a template, in slow and plain Python."""
        ids: list[int] = []
        for part, special in self.parts(text):
            ids += self.run_piece(part.encode()) if special is None else [special]
        return ids

    def run_dropping(self, text: str, by: Dropout, row: int = 0) -> list[int]:
        """The token ids of a text with dropout, in slow and plain Python; `row` is its number in the call."""
        ids, place = list[int](), 0
        for part, special in self.parts(text):
            piece = part.encode()
            ids += dropout.merged(self.ranks, self.merges, self.atoms_of(piece), by, row, place) if special is None else [special]
            place += 0 if special is not None else len(piece)
        return ids

    def parts(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The pieces of a text, without dropped ones, each with None; and its added tokens, each with its id."""
        by = self.metadata.text.rewriting or NOTHING
        for stretch in by.stretches(text, self.metadata.added_tokens):
            if stretch.token is None:
                yield from self._pieces(stretch.text)
            else:
                yield stretch.text, stretch.token

    def _pieces(self, stretch: str) -> Iterator[tuple[str, None]]:
        """The pieces of a stretch without special tokens."""
        return ((stretch[begin:end], None) for begin, end in self.splitter.pieces(stretch))

    def run_piece(self, piece: bytes) -> Sequence[int]:
        """The token ids of a piece."""
        if piece in self.whole_pieces:
            return [self.whole_pieces[piece]]
        if self.has_automaton:
            return merging.walk(self.entries, self.lengths, piece)
        return merge_list.merged(self.ranks, self.merges, self.atoms_of(piece))

    def arguments(self) -> Arguments | MergeArguments:
        """The arguments of the table's kernel for texts that were not rewritten."""
        known = without_context(self.metadata.added_tokens)
        return self._arguments({spelling.encode(): number for spelling, number in known.items()})

    def marked_arguments(self) -> Arguments | MergeArguments:
        """The arguments of the table's kernel, for rewritten texts."""
        return self._arguments(marks(self.metadata.added_tokens))

    def _arguments(self, specials: Mapping[bytes, int]) -> Arguments | MergeArguments:
        plain = arguments(self, specials)
        return plain if self.has_automaton else merge_arguments(self, plain)

    def work(self) -> Work:
        """The working arrays of the kernels for one thread."""
        return work()

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.table.Table.prove`."""
        super().prove(each)
        self._prove_tokens()
        self._prove_classes()
        self._prove_windows()
        self._prove_merges(each)
        self._prove_words()

    def _prove_tokens(self) -> None:
        """Prove that tokens lie within ``token_bytes``, that ids are in range, and that each added token has its own id."""
        ends, ids, known = self.token_ends, self.token_ids, self.metadata.model.model_tokens
        need(len(ids) == len(ends), f"token_ends has {len(ends)} elements, token_ids {len(ids)}")
        need(0 < known <= len(ids), f"model_tokens is {known}; there are {len(ids)} tokens")
        need_none((ids < 0) | (ids > MAX_OUTPUT), lambda token: f"token {token} has the id {ids[token]}; ids are 0 to {MAX_OUTPUT}")
        sizes = np.diff(ends, prepend=0)
        need_none((sizes < 0) | (sizes > merging.MAX_LENGTH), lambda token: f"token {token} has {sizes[token]} bytes")
        need(ends[-1] == len(self.token_bytes), f"the last token ends at byte {ends[-1]} of {len(self.token_bytes)}")
        self._prove_unknown()
        try:
            str(self.token_bytes[ends[known - 1] :].data, "utf-8")
        except UnicodeDecodeError as error:
            need(False, f"token_bytes is not UTF-8 at byte {ends[known - 1] + error.start}")
        begins = ends[known - 1 : -1][sizes[known:] > 0]
        need_none(self.token_bytes[begins] & 0xC0 == 0x80, lambda token: f"a token begins at byte {begins[token]}, inside a character")
        added = self.metadata.added_tokens
        named = np.zeros(int(ids.max()) + 1, np.bool_)
        named[ids] = True
        prove_around(added, self.metadata.templates, named)
        need_ids((token.id for token in added.contextual.values()), named, "late")
        prove_rewriting(self.metadata.text.rewriting, added)
        special = np.flatnonzero(np.isin(ids, np.fromiter(added.ids.values(), np.int64)))
        held = {(self.content(token), int(ids[token])) for token in special.tolist()}
        for content, number in added.ids.items():
            spellings = (content.encode(), bytes_of(content))  # an added token may share the id of a token of the model with its name
            is_held = any((token, number) in held for token in spellings)
            need(is_held, f"special token {quoted(content)} has the id {number}, and no token of the table has both")

    def _prove_unknown(self) -> None:
        """Prove that the unknown token has its name, and that there is one only for missing bytes."""
        model = self.metadata.model
        if model.unk_id is not None:
            need(model.missing_bytes > 0, f"unk_id is {model.unk_id}, and no bytes are missing")
            spellings = ((model.unk_token or "").encode(), bytes_of(model.unk_token or ""))
            held = (self.content(token) in spellings for token in np.flatnonzero(self.token_ids == model.unk_id).tolist())
            need(any(held), f"unk_token {quoted(model.unk_token)} has the id {model.unk_id}, and no token of the table has both")

    def _prove_classes(self) -> None:
        """Prove that code points lead to classes, that moves lead to states, and that searches end."""
        pages, blocks, width = self.pages, self.blocks, 1 << PAGE_BITS
        columns = self.moves.shape[1]
        need(len(pages) == CODE_POINTS // width, f"there are {len(pages)} pages for {CODE_POINTS // width} blocks of code points")
        need(len(blocks) and len(blocks) % width == 0, f"blocks has {len(blocks)} elements, not {width} for each block")
        need_none(pages >= len(blocks) // width, lambda page: f"U+{page * width:04X} is on page {pages[page]}; there are fewer")
        need_none(blocks >= columns - 1, lambda at: f"element {at} of blocks is class {blocks[at]}; there are {columns - 1}")
        prove_moves(self.moves)
        need(len(self.drops) == columns - 1, f"drops has {len(self.drops)} elements for {columns - 1} classes")
        need_none(self.drops > 1, lambda number: f"drops says {self.drops[number]} of class {number}; it is 0 or 1")

    def _prove_windows(self) -> None:
        """Prove that every window has a decision."""
        symbols, size, bits = self.symbols, len(self.decisions), self.metadata.automaton.window_bits
        need(len(symbols) == self.moves.shape[1] - 1 + AROUND, f"there are {len(symbols)} symbols for {self.moves.shape[1] - 1} classes")
        need(int(symbols.max()) < 1 << bits, f"symbol {symbols.max()} has more than {bits} bits")
        need(size & size - 1 == 0 and 1 << 3 * bits <= size <= 1 << MAX_WINDOW, f"there are {size} decisions for symbols of {bits} bits")
        wrong = (self.decisions > 3) | (self.decisions == 2)
        need_none(wrong, lambda window: f"the decision for window {window} is {self.decisions[window]}; it is 0, 1 or 3")
        windows = np.arange(size)
        first = (windows >> 2 * bits & (1 << bits) - 1) == int(symbols[-1])
        need_none(first & (self.decisions > 0), lambda window: f"window {window} decides about the first character")

    def _prove_merges(self, each: Each) -> None:
        """Prove the automaton, or that there is none and the merges are sound. Beside an automaton, they are proven before their use."""
        if self.has_automaton:
            need(not self.affixes, "a prefix or suffix beside an automaton")
            need(not self.metadata.model.missing_bytes, "missing bytes beside an automaton")
            merging.prove(self.entries, self.lengths, self.depths, each)
        else:
            need(not len(self.depths), f"there are {len(self.depths)} depths, and no automaton")
            model = self.metadata.model
            apart = self.affixes, model.ignore_merges, model.missing_bytes
            need(sum(map(bool, apart)) < 2, "more than one of affixes, ignore_merges and missing bytes")
            _ = self.proven_merges

    def _prove_words(self) -> None:
        """Prove that every hash leads to a slot, and that each word and each long piece has as many bytes as its token."""
        words, buckets = self.words, len(self.displacements)
        slots = len(words) // 4
        is_power = slots > 1 and slots & slots - 1 == 0
        need(len(words) % 4 == 0 and is_power, f"words has {len(words)} elements, not 4 for each of 2, 4, 8 … slots")
        need(buckets > 1 and buckets & buckets - 1 == 0, f"there are {buckets} displacements, not 2, 4, 8 …")
        values = words[3::4]
        ids, sizes = (values & np.uint64((1 << 32) - 1)).astype(np.int64), values >> np.uint64(32)
        need(not self.long_pieces or self.metadata.model.ignore_merges, "there are long pieces without ignore_merges")
        for piece, number in self.long_pieces.items():
            size = self.lengths[number]
            need(len(piece) == size, f"a long piece has {len(piece)} bytes, and its token {number} has {size}")
        wrong = (ids >= len(self.lengths)) | (sizes > WORD_BYTES)
        wrong |= self.lengths.take(ids, mode="clip") != sizes
        wrong &= values > 0
        need_none(wrong, lambda slot: f"slot {slot} of the table of words holds {int(values[slot]):#x}, not a token and its length")
