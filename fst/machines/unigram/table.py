"""Unigram: the table that a kernel walks, and a slow walk that is the kernel's specification.

A text is cut into pre-tokens, see `fst.pretokens.table`. A pre-token that is not in the table of words becomes the tokens of its best path,
see `fst.machines.unigram.viterbi`. As in SentencePiece, tokens contain a symbol for a space, mostly ▁. Texts and the trie contain the space
itself, see `fst.text.whitespace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, ClassVar

import numpy as np

from fst.automata.rows import MAX_OUTPUT, Array
from fst.core.lazy import Lazy
from fst.errors import quoted
from fst.machines.unigram import aho_corasick, sampling, viterbi
from fst.machines.unigram.arguments import Ends, UnigramArguments, UnigramWork, arguments, ends, work
from fst.machines.unigram.header import UnigramMetadata
from fst.machines.unigram.sampling import Sampling, sampled, weights
from fst.machines.unigram.viterbi import BONUS, USER_DEFINED, Node
from fst.pretokens.characters import NO_ALPHABET, NOT_FUSED, Alphabet
from fst.pretokens.decoding import MAX_SIZE
from fst.pretokens.table import PretokenTable
from fst.pretokens.token_letters import fallback
from fst.tables.proof import need, need_ids, need_none, prove_around
from fst.tables.table import Each, member
from fst.text.arguments import prove_normalizer
from fst.text.whitespace import NO_WHITESPACE, SPACE

NO_FALLBACK = NO_ID = -1


@dataclass(frozen=True, eq=False)
class UnigramTable(PretokenTable):
    """A compiled Unigram machine. Most of its arrays are defined in `PretokenTable`.

    Attributes:
        trie: uint64[slots], see `fst.machines.unigram.viterbi`.
        steps: uint64[slots], lists: int32[n], see `fst.machines.unigram.aho_corasick`.
        scores: float64[tokens], the score of each token of the model by its id, as in the source.
        types: uint8[tokens], the type of each token of the model; empty if sums do not span whole texts. Only tokens of the types `NORMAL`
            and `USER_DEFINED` occur in paths; tokens of the type `RUN` are also in the trie.
        unnamed: uint16[n], the number of bytes of each token without an id, see `fst.machines.unigram.viterbi`. Such tokens are numbered
            from `first_unnamed` on; their scores and types follow those of the model's tokens.
        token_bytes: see `PretokenTable`; all tokens are UTF-8, with the symbol for spaces.
    """

    kind: ClassVar[str] = "unigram"
    public_class: ClassVar[str] = "fst.runtime.machines.unigram.tokenizer.UnigramTokenizer"
    picture: ClassVar[str] = "fst.machines.unigram.picture.picture_of"
    fused: ClassVar[int] = NOT_FUSED
    alphabet_of_unknown: ClassVar[Alphabet] = NO_ALPHABET
    long_pretokens: ClassVar[Mapping[bytes, int]] = {}
    entries: ClassVar[Array] = np.empty(0, np.uint32)

    trie: Array = member("<u8")
    steps: Array = member("<u8")
    lists: Array = member("<i4")
    scores: Array = member("<f8")
    types: Array = member("|u1")
    unnamed: Array = member("<u2", optional=True)

    @property
    def encodes_all(self) -> bool:  # type: ignore[override] # other kinds encode every text
        """Whether every text has ids. Otherwise, a run of unknown characters becomes `NO_ID`."""
        return self.metadata.model.unk_id is not None

    @property
    def unknown_id(self) -> int:
        """The id of the unknown token; `NO_ID` if there is none."""
        number = self.metadata.model.unk_id
        return NO_ID if number is None else number

    @Lazy
    def first_unnamed(self) -> int:
        """The number above all ids, from which on tokens have no id."""
        return int(self.token_ids.max()) + 1

    @property
    def kernel(self) -> str:  # type: ignore[override] # other kinds have one kernel for all tables
        """The module of the kernel. There is one module for each score scope, and one for tokens that are whole words."""
        if self.is_word_type:
            return "fst.runtime.machines.unigram.kernels.word_type"
        return "fst.runtime.machines.unigram.kernels.text_scope" if self.has_text_scope else "fst.runtime.machines.unigram.kernels.encode"

    @property
    def has_text_scope(self) -> bool:
        """Whether the score scope is the text, so that sums continue over whole texts, as in ``sentencepiece``."""
        return self.metadata.model.scope == viterbi.TEXT_SCOPE

    @property
    def is_word_type(self) -> bool:
        """Whether tokens are whole words, as in SentencePiece's model type ``word``."""
        return self.restarts == viterbi.WORD

    @property
    def restarts(self) -> str:
        """The positions where sums restart, see `fst.machines.unigram.viterbi`."""
        return self.metadata.automaton.restarts

    @property
    def limit(self) -> float:
        """The absolute value above which sums are reduced, see `fst.machines.unigram.viterbi`; infinity if sums are float64."""
        return viterbi.LIMIT if self.has_text_scope else np.inf

    @property
    def joins_words(self) -> bool:
        """See `PretokenTable.joins_words`."""
        return self.restarts != viterbi.PIECE

    @Lazy
    def metadata(self) -> UnigramMetadata:
        """The metadata of the file."""
        return UnigramMetadata.from_json(self.header)

    @property
    def symbol(self) -> str:
        """The character that represents a space in tokens; "" if there is none."""
        by = self.metadata.text.normalizer
        return (by.whitespace if by else NO_WHITESPACE).symbol

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per byte of text: the expansion bound. If a space has fallback tokens, the bound is multiplied by the
        number of these tokens.
        """
        return self.expansion_bound * max(len(self.space), 1)

    @Lazy
    def path_scores(self) -> Array:
        """The score of each token of the model, with the dtype of sums."""
        if not self.has_text_scope:
            return self.scores
        known = self.metadata.model.model_tokens
        sizes = np.append(np.diff(self.token_ends[:known], prepend=0), self.unnamed)
        own, in_text = self.types == viterbi.USER_DEFINED, np.isin(self.types, viterbi.IN_TEXT)
        scores = np.where(own, viterbi.BONUS * (sizes - 1), np.where(in_text, self.scores, 0)).astype(np.float32)
        apart = self.first_unnamed - known if len(self.unnamed) else 0  # the ids of added tokens
        return np.concatenate([scores[:known], np.zeros(apart, np.float32), scores[known:]])

    @Lazy
    def unknown(self) -> Any:
        """The score of a character that is not a token, with the dtype of sums."""
        if self.metadata.model.unknown_score is not None:
            return self.path_scores.dtype.type(self.metadata.model.unknown_score)
        normal = self.scores[self.types == viterbi.NORMAL].astype(np.float32) if self.has_text_scope else self.scores
        least = normal.min() if len(normal) else np.float32(0)
        return least - least.dtype.type(viterbi.PENALTY)

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the form that users see."""
        return tuple(content.decode() for content in self.contents)

    @Lazy
    def lengths(self) -> Array:
        """uint16[n], the number of bytes that each token of the model has in a text, or in the trie; 0 for other ids. Tokens without an id
        follow.
        """
        known = self.metadata.model.model_tokens
        ends = self.token_ends[:known]
        sizes = np.diff(ends, prepend=0)
        own = np.frombuffer(self.symbol.encode(), np.uint8)
        if len(own) > 1:
            data = self.token_bytes[: int(ends[-1])]
            last = len(data) + 1 - len(own)
            begins = np.zeros(len(data) + 1, np.bool_)
            begins[1 : last + 1] = np.logical_and.reduce([data[place : last + place] == byte for place, byte in enumerate(own)])
            sizes = sizes - (len(own) - 1) * np.diff(np.cumsum(begins, dtype=np.int32)[ends], prepend=0)
        lengths = np.zeros(self.first_unnamed, np.uint16)
        lengths[self.token_ids[:known]] = sizes + (self.types[:known] == viterbi.RUN if self.has_text_scope else 0)
        return np.append(lengths, self.unnamed)

    @property
    def lengths_of_words(self) -> Array:
        """See `PretokenTable.lengths_of_words`; no word is a token without an id."""
        return self.lengths[: self.first_unnamed]

    @Lazy
    def item_sizes(self) -> Array:
        """The number of bytes of each item of ``lists``, see `fst.machines.unigram.aho_corasick`."""
        return aho_corasick.sizes_of(self.lists, self.lengths)

    @Lazy
    def ends(self) -> Ends:
        """The automaton for kernels."""
        return ends(self)

    @Lazy
    def fallbacks(self) -> Array:
        """int32[256], the id of the fallback token for each byte, or `NO_FALLBACK`."""
        fallbacks = np.full(256, NO_FALLBACK, np.int32)
        if self.falls_back:
            ids = dict(zip(self.contents[: self.metadata.model.model_tokens], self.token_ids.tolist(), strict=False))
            fallbacks[:] = [ids.get(fallback(byte).encode(), NO_FALLBACK) for byte in range(256)]
        return fallbacks

    @property
    def falls_back(self) -> bool:
        """Whether bytes may have fallback tokens. Without an unknown token, bytes have no fallback tokens: the reference refuses unknown
        characters before it looks for such tokens.
        """
        return self.metadata.model.byte_fallback and self.encodes_all

    @Lazy
    def space(self) -> Array:
        """int32[n], see `fst.machines.unigram.arguments.UnigramArguments`."""
        return self.fallbacks[[*self.symbol.encode()]] if self.is_word_type and self._are_bytewise else np.empty(0, np.int32)

    @property
    def _are_bytewise(self) -> bool:
        """Whether all 256 bytes have fallback tokens."""
        return bool((self.fallbacks >= 0).all())

    def fallbacks_of(self, bytes_: Iterable[int]) -> Sequence[int]:
        """See `PretokenTable.fallbacks_of`."""
        return [number for number in self.fallbacks[[*bytes_]].tolist() if number != NO_FALLBACK]

    def run(self, text: str) -> list[int]:
        """The token ids of a text without a template, by the slow walk."""
        if self.is_word_type:
            return self._run_words(text)
        ids = list[int]()
        for part, special, path in self.paths(text):
            ids += [number for number, _ in self.spans(part.encode(), path)] if special is None else [special]
        return ids

    def paths(self, text: str) -> Iterator[tuple[str, int | None, list[viterbi.Node]]]:
        """The parts of a text, see `PretokenTable.parts`, each with its best path. Special tokens and whole words have no path."""
        before = self.path_scores.dtype.type(0)
        for part, special in self.parts(text):
            zero, path = before.dtype.type(0), list[viterbi.Node]()
            before = zero if special is not None else before
            if special is None and not self.is_word_type:
                is_restart = self.restarts == viterbi.PIECE or (self.restarts == viterbi.BEFORE_SPACE and part.startswith(SPACE))
                path, before = self.path(part.encode(), zero if is_restart else before)
            yield part, special, path

    def _run_words(self, text: str) -> list[int]:
        """The token ids of a text if tokens are whole words. A run of unknown words becomes one id, or the ids of its bytes."""
        ids = list[int]()
        for number, parts in groupby(self.parts(text), lambda part: self.token_of(part[0].encode()) if part[1] is None else part[1]):
            found = [part.encode() for part, _ in parts]
            ids += self._ids_of_unknown(b"".join(found)) if number is None else [number] * len(found)
        return ids

    def token_of(self, string: bytes) -> int | None:
        """The id of the token that equals a string in UTF-8; None if no token equals the string."""
        return dict(viterbi.tokens_at(self.trie, string, 0)).get(len(string))

    @Lazy
    def most(self) -> float:
        """The greatest absolute value of a score."""
        return max(float(np.abs(self.path_scores).max()), abs(float(self.unknown)))

    def run_pretoken(self, piece: bytes) -> Sequence[int]:
        """The token ids of a pre-token at the beginning of a text."""
        if self.is_word_type:
            number = self.token_of(piece)
            return self._ids_of_unknown(piece) if number is None else [number]
        return [number for number, _ in self.spans(piece, self.path(piece)[0])]

    def fixed_ids(self, pretoken: bytes) -> Sequence[int] | None:
        """See `PretokenTable.fixed_ids`."""
        if self.is_word_type:
            return None
        path, _ = self.path(pretoken)
        ids = [number for _, _, number in path if number is not None and self._is_id(number)]
        if len(ids) < len(path):
            return None
        begins = self.restarts == viterbi.PIECE or (self.restarts == viterbi.BEFORE_SPACE and pretoken.startswith(SPACE.encode()))
        return ids if begins or self._is_certain(pretoken, path) else None

    def _is_certain(self, pretoken: bytes, path: Sequence[Node]) -> bool:
        """Whether a path is the best path through a pre-token after any sum, see `fst.machines.unigram.viterbi`."""
        (total, best), *others = sampling.paths(self.trie, self.path_scores, float(self.unknown), pretoken, 2)
        gap = np.array([total - other for other, _ in others] or [np.inf])
        sums = 2 * np.array([len(pretoken.decode())])
        return best == path and bool(viterbi.are_certain(gap, sums - 1, self.most, self.metadata.model.scope).all())

    def path(self, piece: bytes, before: Any = None) -> tuple[list[viterbi.Node], Any]:
        """The best path through a pre-token, and the sum after this path. `before` is the sum before the pre-token, with the dtype of sums;
        None means 0.
        """
        zero = self.path_scores.dtype.type(0)
        return viterbi.best_path(self.trie, self.path_scores, self.unknown, piece, zero if before is None else before, self.limit)

    def spans(self, piece: bytes, path: Sequence[viterbi.Node]) -> Iterator[tuple[int, tuple[int, int]]]:
        """The token ids of a path through a pre-token, each with its byte span."""
        run = 0  # the index at which the current run of unknown nodes starts
        size = len(piece)
        for first, last, number in [*path, (size, size, NO_FALLBACK)]:
            if number is None or number == self.metadata.model.unk_id:
                continue
            if run < first:
                for start, end in self._shown(piece, run, first):
                    yield from ((number, (start, end)) for number in self._ids_of_unknown(piece[start:end]))
            if first < last:
                yield number if number < self.first_unnamed else self.unknown_id, (first, last)
            run = last

    def _is_id(self, number: int) -> bool:
        """Whether a token has an id other than that of the unknown token."""
        return number < self.first_unnamed and number != self.metadata.model.unk_id

    def _shown(self, piece: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The byte spans of the ids of a run of unknown nodes: one span for each character if sums continue over whole texts and bytes have
        fallback tokens; otherwise one span for the run.
        """
        are_apart = self.has_text_scope and self._are_bytewise
        starts = [place for place in range(start, end) if piece[place] & 0xC0 != 0x80] if are_apart else [start]
        yield from pairwise([*starts, end])

    def _ids_of_unknown(self, string: bytes) -> Sequence[int]:
        """The ids of a run of unknown nodes, or of unknown words."""
        known = self.token_of(bytes([viterbi.RUN_BYTE]) + string if self.has_text_scope else string)
        if known is not None:
            return [known]
        spelled = string.replace(SPACE.encode(), self.symbol.encode()) if len(self.space) else string
        bytewise = [int(self.fallbacks[byte]) for byte in spelled]
        return bytewise if NO_FALLBACK not in bytewise else [self.unknown_id]

    def _arguments(self, specials: Mapping[bytes, int]) -> UnigramArguments:
        return arguments(self, specials)

    def work(self) -> UnigramWork:
        """The working arrays of the kernels for one thread."""
        return work(self.metadata.automaton.longest, self.metadata.model.scope)

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        self._prove_tokens()
        self._prove_classes()
        self._prove_windows()
        self._prove_trie(each)
        self._prove_words()

    def _prove_tokens(self) -> None:
        """Prove that tokens lie within ``token_bytes``, that ids are in range, and that the table contains each added token with its id."""
        ends, ids, model = self.token_ends, self.token_ids, self.metadata.model
        need(len(ids) == len(ends), f"token_ends has {len(ends)} elements, token_ids {len(ids)}")
        need(0 < model.model_tokens <= len(ids), f"model_tokens is {model.model_tokens}; there are {len(ids)} tokens")
        need_none((ids < 0) | (ids > MAX_OUTPUT), lambda token: f"token {token} has the id {ids[token]}; ids are 0 to {MAX_OUTPUT}")
        known = np.arange(model.model_tokens)
        need_none(ids[known] != known, lambda token: f"token {token} of the model has the id {ids[token]}")
        sizes = np.diff(ends, prepend=0)
        need_none((sizes < 0) | (sizes > MAX_SIZE), lambda token: f"token {token} has {sizes[token]} bytes")
        need(ends[-1] == len(self.token_bytes), f"the last token ends at byte {ends[-1]} of {len(self.token_bytes)}")
        try:
            str(self.token_bytes.data, "utf-8")
        except UnicodeDecodeError as error:
            need(False, f"token_bytes is not UTF-8 at byte {error.start}")
        begins = np.append(0, ends[:-1])[sizes > 0]
        need_none(self.token_bytes[begins] & 0xC0 == 0x80, lambda token: f"a token begins at byte {begins[token]}, inside a character")
        if model.sentencepiece:
            model.sentencepiece.prove(int(ids.max()) + 1)
        self._prove_unknown()
        self._prove_added()

    def _prove_unknown(self) -> None:
        """Prove that ``unk_id`` and ``unk_token`` belong together, and that there is an unknown token if sums span whole texts."""
        model = self.metadata.model
        if model.unk_id is None or model.unk_token is None:
            both = f"unk_id is {model.unk_id}, unk_token {quoted(model.unk_token)}"
            need(model.unk_id is None and model.unk_token is None, f"{both}; expected both or none")
            need(not self.has_text_scope, f"{both}, and sums are those of whole texts")
            return
        need(model.unk_id < model.model_tokens, f"unk_id is {model.unk_id}; there are {model.model_tokens} tokens")
        is_named = self.content(model.unk_id) == model.unk_token.encode()
        need(is_named, f"unk_token {quoted(model.unk_token)} has the id {model.unk_id}, and another name")

    def _prove_added(self) -> None:
        """Prove that each added token has an id, and that a token of the table has the same name and id."""
        ids, added = self.token_ids, self.metadata.added_tokens
        named = np.zeros(int(ids.max()) + 1, np.bool_)
        named[ids] = True
        prove_around(added, self.metadata.templates, named)
        need_ids((token.id for token in added.contextual.values()), named, "late")
        prove_normalizer(self.metadata.text.normalizer, added)
        special = np.flatnonzero(np.isin(ids, np.fromiter(added.ids.values(), np.int64)))
        held = {(self.content(token), int(ids[token])) for token in special.tolist()}
        for content, number in added.ids.items():
            is_held = (content.encode(), number) in held
            need(is_held, f"special token {quoted(content)} has the id {number}, and no token of the table has both")

    def _prove_trie(self, each: Each) -> None:
        """Prove that the trie and the scores are valid."""
        known, automaton = self.metadata.model.model_tokens, self.metadata.automaton
        scored = known + len(self.unnamed)
        need(len(self.scores) == scored, f"there are {len(self.scores)} scores for {scored} tokens")
        need_none(~np.isfinite(self.scores), lambda token: f"token {token} has the score {self.scores[token]}")
        if self.has_text_scope:
            self._prove_types(scored)
        else:
            need(not len(self.unnamed), f"{len(self.unnamed)} tokens have no id, and sums are not those of whole texts")
            need(not len(self.types), f"there are {len(self.types)} types, and sums are not those of whole texts")
        need(self.restarts == viterbi.PIECE or not self.drops.any(), "pre-tokens are dropped, but sums continue")
        if self.is_word_type:
            need(self.has_text_scope, "tokens are whole words, and sums are not those of whole texts")
            need(self._are_bytewise or not self.metadata.model.byte_fallback, "byte_fallback is true, and a byte has no token")
        numbered = len(self.lengths) if len(self.unnamed) else known
        states = viterbi.prove(self.trie, self.lengths[:numbered], automaton.longest, each)
        aho_corasick.prove(self.steps, self.lists, self.item_sizes, numbered, automaton.longest, each)
        need(states == automaton.states, f"states is {automaton.states}; the trie has {states}")

    def _prove_types(self, known: int) -> None:
        """Prove that tokens have valid types, and scores that are float32."""
        types = self.types
        need(len(types) == known, f"there are {len(types)} types for {known} tokens")
        need_none(~np.isin(types, viterbi.TYPES), lambda token: f"token {token} is of type {types[token]}; types are 1 to 7")
        self._prove_unnamed(known)
        with np.errstate(over="ignore"):
            rounded = self.scores.astype(np.float32)
        need_none(rounded != self.scores, lambda token: f"token {token} has the score {self.scores[token]}, which is not a float32")

    def _prove_unnamed(self, scored: int) -> None:
        """Prove that tokens without an id are normal tokens, and that their numbers are valid."""
        need(self.first_unnamed + len(self.unnamed) - 1 <= MAX_OUTPUT, f"{len(self.unnamed)} tokens without an id are too many")
        types = self.types[scored - len(self.unnamed) :]
        need_none(types != viterbi.NORMAL, lambda token: f"token {token} without an id is of type {types[token]}; expected 1")


def scores_of(table: UnigramTable) -> Array:
    """float64[tokens], the score of each token of the model for sampling. Only for user-defined tokens, this score differs from the score
    for encoding.

    For sampling, a user-defined token has a bonus for each character after the first; for encoding, it has a bonus for each byte after the
    first. ``unigram_model.cc`` of ``sentencepiece`` has the same difference.
    """
    scores: Array = table.path_scores.astype(np.float64)
    if table.has_text_scope:
        ends = table.token_ends[: table.metadata.model.model_tokens]
        begun = np.append(0, np.cumsum(table.token_bytes & 0xC0 != 0x80))[ends]  # for each token, the number of characters up to its end
        own = np.flatnonzero(table.types[: len(ends)] == USER_DEFINED)
        scores[own] = (np.float32(BONUS) * (np.diff(begun, prepend=0)[own] - 1)).astype(np.float32)
    return scores


def run_sampling(table: UnigramTable, text: str, by: Sampling, row: int = 0) -> list[int]:
    """The token ids of a text, without a template, drawn from all segmentations or from the n best. `row` is the index of the text."""
    if by.nbest_size > 0:
        found = run_nbest(table, text, by.nbest_size)
        return found[sampling.drawn([score for score, _ in found], by, row)][1]
    weighed, place = weights(scores_of(table), float(table.unknown), by.alpha), 0
    paths: list[Sequence[Node]] = []
    for part, special in table.parts(text):
        if special is None:
            paths.append(sampled(table.trie, weighed, part.encode(), by, row, place))
            place += len(part.encode())
    return _along(table, text, paths)


def run_nbest(table: UnigramTable, text: str, most: int) -> list[tuple[float, list[int]]]:
    """The best segmentations of a text, each with its score and its token ids, without a template."""
    pieces = [part.encode() for part, special in table.parts(text) if special is None]
    scores = scores_of(table)
    ranked = [sampling.paths(table.trie, scores, float(table.unknown), piece, most) for piece in pieces]
    texts: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for found in ranked:
        texts = sampling.joined(texts, [score for score, _ in found], most)
    return [(total, _along(table, text, [found[rank][1] for found, rank in zip(ranked, ranks, strict=True)])) for total, ranks in texts]


def _along(table: UnigramTable, text: str, paths: Sequence[Sequence[Node]]) -> list[int]:
    """The token ids of a text, given a path through each pre-token of the text."""
    ids, left = list[int](), iter(paths)
    for part, special in table.parts(text):
        ids += [number for number, _ in table.spans(part.encode(), next(left))] if special is None else [special]
    return ids
