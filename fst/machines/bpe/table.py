"""Byte-level BPE: the table that a kernel walks, and a slow walk that is the kernel's specification.

`fst.pretokens.table` describes how a text is cut into pre-tokens. The automaton of the merges, ``entries``, turns each pre-token that is
not one token into tokens, see `fst.machines.bpe.automaton`. If no automaton is exact, ``entries`` is empty, and kernels run the ``merges``
themselves, see `fst.machines.bpe.merge_list`. With dropout, kernels always run the merges, so every table contains ``merges``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fst.automata.rows import MAX_OUTPUT, Array
from fst.core.lazy import Lazy
from fst.errors import quoted
from fst.machines.bpe import automaton, dropout, merge_list
from fst.machines.bpe.affixes import Affixes, codes_of
from fst.machines.bpe.arguments import BpeArguments, MergeArguments, arguments, merge_arguments
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.header import BpeMetadata
from fst.machines.bpe.subwords import Subwords
from fst.pretokens.arguments import Work, work
from fst.pretokens.byte_letters import bytes_of
from fst.pretokens.characters import ABSENT, CODES, CONTINUES, ENDS, NO_ALPHABET, NOT_FUSED, Alphabet, alphabet
from fst.pretokens.digit_cuts import kinds_of_bytes
from fst.pretokens.table import WORD_BYTES, PretokenTable
from fst.pretokens.token_letters import byte_of, fallback
from fst.tables.header import ByteLevelDecoder
from fst.tables.proof import need, need_ids, need_none, prove_around
from fst.tables.strings import enclosed, opened, parts_of, prove_strings, stored
from fst.tables.table import Each, member
from fst.text.arguments import prove_normalizer

UTF8_LENGTH = 4  # maximum number of bytes of a character
SPACE = b" "


@dataclass(frozen=True, eq=False)
class BpeTable(PretokenTable):
    """A compiled byte-level BPE machine. Most of its arrays are defined in `PretokenTable`.

    Attributes:
        entries: uint32[slots], depths: uint16[states], see `fst.machines.bpe.automaton`; both are empty in a table without an automaton.
        merges: int32[merges, 3], all merges of the source, see `fst.machines.bpe.merge_list`.
        subword_bytes: uint8[n], subword_ends: int64[subwords], subword_ids: int32[subwords], see `Subwords`; empty if merges work on the
            model's tokens themselves.
        token_bytes: see `PretokenTable`. The bytes include a prefix or suffix, because the reference decodes it, too.
    """

    kind: ClassVar[str] = "bpe"
    public_class: ClassVar[str] = "fst.runtime.machines.bpe.tokenizer.BpeTokenizer"
    picture: ClassVar[str] = "fst.machines.bpe.picture.picture_of"

    entries: Array = member("<u4")
    depths: Array = member("<u2")
    merges: Array = member("<i4", axes=2)
    subword_bytes: Array = member("|u1", optional=True)
    subword_ends: Array = member("<i8", optional=True)
    subword_ids: Array = member("<i4", optional=True)

    @Lazy
    def metadata(self) -> BpeMetadata:
        """The metadata of the file."""
        return BpeMetadata.from_json(self.header)

    @property
    def kernel(self) -> str:  # type: ignore[override] # other kinds have one kernel for all tables
        """The module of the kernel, which walks the automaton or runs the merges."""
        return "fst.runtime.machines.bpe.kernels.encode" if self.has_automaton else "fst.runtime.machines.bpe.kernels.merge_queue"

    @Lazy
    def subwords(self) -> Subwords:
        """The strings that merges work on."""
        ends, known = self.subword_ends, self.metadata.model.model_tokens - self.metadata.model.fallbacks
        if not len(ends):
            return Subwords(self.contents[:known], self.token_ids[:known])
        return Subwords(parts_of(self.subword_bytes, ends), 1 + int(self.token_ids.max()) + np.arange(len(ends)))

    @property
    def names_of_merges(self) -> Mapping[int, str]:
        """The spelling of each number of a merge: a subword, or the name of a token."""
        numbers = self.subwords.numbers.tolist()
        subwords = dict(zip(numbers, map(bytes.decode, self.subwords.contents), strict=True)) if len(self.subword_ids) else {}
        return {**dict(zip(self.token_ids.tolist(), self.tokens, strict=True)), **subwords}

    @Lazy
    def ids_of_subwords(self) -> Array:
        """int32[n], the id that each number of a merge becomes, see `Subwords`; ids become themselves. Empty if `subword_ids` is empty."""
        ids = np.arange(1 + int(self.token_ids.max()), dtype=np.int32)
        return np.append(ids, self.subword_ids) if len(self.subword_ids) else ids[:0]

    @property
    def has_automaton(self) -> bool:
        """Whether the table has an automaton. Without an automaton, kernels run the list of merges."""
        return len(self.entries) > 0

    @property
    def ids_per_unit(self) -> int:
        """The capacity for ids per byte of text: the expansion bound, times the scratch elements per byte for the queue of merges."""
        return self.expansion_bound * (1 if self.has_automaton else merge_list.SCRATCH)

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the form that users see. The model's tokens are spelled in the model's letters."""
        model, known = self.metadata.model, self.metadata.model.model_tokens
        others = (self.content(token).decode() for token in range(known, len(self.token_ids)))
        if model.letters.are_bytes:  # each byte is spelled as one letter, so `ends` also counts letters
            ends = self.token_ends[:known].tolist()
            letters = model.letters.spelled(self.token_bytes[: ends[-1]].tobytes())
            return (*(letters[begin:end] for begin, end in zip([0, *ends], ends, strict=False)), *others)
        spelled = known - model.fallbacks
        names = map(model.letters.spelled, self.contents[:spelled])
        return (*names, *(fallback(byte) for (byte,) in self.contents[spelled:known]), *others)

    def names(self) -> tuple[Array, Array]:
        """See `PretokenTable.names`."""
        model, data, ends = self.metadata.model, self.token_bytes, self.token_ends
        if model.letters.are_bytes:
            return stored(self.tokens)
        known, spelled = model.model_tokens, model.model_tokens - model.fallbacks
        fallbacks = (fallback(byte) for (byte,) in map(self.content, range(spelled, known)))
        end, begin = (int(ends[count - 1]) if count else 0 for count in (spelled, known))
        names = enclosed(data[:end], ends[:spelled]).replace(SPACE, model.letters.symbol.encode() or SPACE)
        return opened(names + enclosed(*stored(fallbacks)) + enclosed(data[begin:], ends[known:] - begin))

    def decoded_differently(self, spell: bool = True) -> dict[int, bytes]:
        """The bytes that decoding writes for each token whose own bytes it does not write, by the token's number in ``token_ids``.

        Args:
            spell: whether an added token that consists of GPT-2's letters for bytes decodes to these bytes, as in ``tokenizers``, instead
                of to its characters. All other names decode to their characters, except byte fallbacks.
        """
        model = self.metadata.model
        if not model.letters.are_bytes and isinstance(self.metadata.settings.decoder, ByteLevelDecoder):
            return self._read_as_letters()
        known, spelled = model.model_tokens, bytes_of if model.letters.are_bytes else _fallback_of
        changed = {token.id: token.decoded for token in self.metadata.added_tokens.contextual.values()}
        of_model = np.flatnonzero(np.isin(self.token_ids[:known], [*changed])).tolist()  # model tokens that are also added tokens
        found = dict[int, bytes]()
        for place in (*of_model, *range(known, len(self.token_ids))):
            content, number = self.content(place), int(self.token_ids[place])
            name = changed[number] if number in changed else content.decode()
            data = (spell and spelled(name)) or name.encode()
            if data != content:
                found[place] = data
        return found

    def _read_as_letters(self) -> dict[int, bytes]:
        """As `decoded_differently`, if the decoder is ByteLevel although tokens consist of characters: a token of GPT-2's letters for
        bytes, such as the character é, becomes these bytes.
        """
        read = ((bytes_of(name) or name.encode()) for name in self.tokens)
        return {place: data for place, data in enumerate(read) if data != self.content(place)}

    @Lazy
    def lengths(self) -> Array:
        """uint16[highest id + 1], the number of bytes of each token of the model; 0 for all other ids, and for a token whose number of
        bytes varies.
        """
        known = self.metadata.model.model_tokens
        lengths = np.zeros(int(self.token_ids.max()) + 1 + len(self.subword_ids), np.uint16)
        if self.affixes:
            lengths[self.subwords.numbers] = [len(self.affixes.part(name).body) for name in self.subwords.contents]
        else:
            lengths[self.token_ids[:known]] = np.diff(self.token_ends[:known], prepend=0)
        if self.metadata.model.unk_id is not None:
            lengths[self.metadata.model.unk_id] = 1 if self.metadata.model.letters.are_bytes and not self.metadata.model.fuse_unk else 0
        return lengths

    @Lazy
    def affixes(self) -> Affixes:
        """The prefix and suffix in the names of the model's tokens."""
        model = self.metadata.model
        spellings = model.continuing_subword_prefix, model.end_of_word_suffix
        return Affixes(*(model.letters.bytes_of(spelling) or b"" for spelling in spellings))

    @Lazy
    def byte_tokens(self) -> Array:
        """int32[CODES], the id of the one-byte token for each code, see `fst.machines.bpe.affixes`; -1 if there is no such token."""
        known, longest = self.metadata.model.model_tokens, 1 + len(self.affixes.prefix) + len(self.affixes.suffix)
        if len(self.subword_ids):
            return self.affixes.atoms(dict(zip(self.subwords.contents, self.subwords.numbers.tolist(), strict=True)))
        short = np.flatnonzero(np.diff(self.token_ends[:known], prepend=0) <= longest).tolist()
        return self.affixes.atoms({self.content(token): int(self.token_ids[token]) for token in short})

    @Lazy
    def missing(self) -> Array:
        """uint8[CODES], by code, 1 for each missing byte: a byte that a text may contain, but that has no token at its position."""
        missing, may_be = np.zeros((CODES // 256, 256), np.uint8), [*automaton.UTF8_BYTES]
        missing[:, may_be] = self.byte_tokens.reshape(-1, 256)[:, may_be] < 0
        return missing.ravel()

    @property
    def byte_kinds(self) -> Array:
        """See `PretokenTable.byte_kinds`."""
        return kinds_of_bytes(self.metadata.text.pre_tokenizers or ())

    @property
    def drops_bytes(self) -> bool:
        """See `PretokenTable.drops_bytes`."""
        model = self.metadata.model
        return model.letters.are_bytes and model.missing_bytes > 0 and model.unk_id is None

    @property
    def lost(self) -> str:
        """A part of a message: what happens to characters without tokens, if positions of ids are not exact; "" if they are exact."""
        model = self.metadata.model
        if model.letters.are_bytes or not model.missing_bytes or (model.unk_id is not None and not model.fallbacks):
            return ""
        return "vanish without unk_token" if model.unk_id is None else "change places with others that have fallbacks"

    @property
    def fused(self) -> int:
        """The id of the token that replaces a whole run of missing bytes; `NOT_FUSED` if there is no such token."""
        model = self.metadata.model
        return model.unk_id if model.fuse_unk and model.unk_id is not None else NOT_FUSED

    @Lazy
    def atoms(self) -> Array:
        """int32[CODES], the id that each byte becomes, by the byte's code; -1 if the byte is removed, or if symbols are characters and the
        byte has no fallback token.
        """
        atoms, unk_id = self.byte_tokens.copy(), self.metadata.model.unk_id
        if unk_id is not None and self.metadata.model.letters.are_bytes:
            atoms[self.missing > 0] = unk_id
        return atoms

    @Lazy
    def characters(self) -> Mapping[tuple[int, bytes], int]:
        """The characters with tokens, (position, bytes) → token, see `fst.pretokens.characters.Alphabet`; empty if symbols are bytes."""
        model, found = self.metadata.model, dict[tuple[int, bytes], int]()
        if model.letters.are_bytes:
            return found
        for content, number in zip(self.subwords.contents, self.subwords.numbers.tolist(), strict=True):
            body, is_first, is_last = self.affixes.part(content)
            if _is_character(body):
                place = (not is_first) | bool(self.affixes.suffix and is_last) << 1
                found[place, body] = number
        return found

    @property
    def alphabet_rules(self) -> tuple[int, ...]:
        """``rules`` of `fst.pretokens.characters.Alphabet`."""
        model, (prefix, suffix) = self.metadata.model, self.affixes
        if model.letters.are_bytes:
            return ()
        unknown = ABSENT if model.unk_id is None else model.unk_id
        return bool(prefix) | bool(suffix) << 1, unknown, model.fuse_unk, model.fallbacks > 0

    @Lazy
    def alphabet(self) -> Alphabet:
        """`characters` and `alphabet_rules` in the form that kernels read; `NO_ALPHABET` if symbols are bytes."""
        return NO_ALPHABET if self.metadata.model.letters.are_bytes else alphabet(self.characters, self.alphabet_rules)

    @property
    def alphabet_of_unknown(self) -> Alphabet:
        """The `alphabet` if some characters have neither a token nor fallback tokens; otherwise `NO_ALPHABET`."""
        return self.alphabet if self.metadata.model.missing_bytes else NO_ALPHABET

    def fallbacks_of(self, bytes_: Iterable[int]) -> Sequence[int]:
        """See `PretokenTable.fallbacks_of`."""
        model, wanted = self.metadata.model, {*bytes_}
        alone = range(model.model_tokens - model.fallbacks, model.model_tokens)
        return [int(self.token_ids[token]) for token in alone if self.content(token)[0] in wanted]

    def atoms_of(self, pretoken: bytes) -> list[int]:
        """The tokens with which BPE begins on a pre-token."""
        if not self.metadata.model.letters.are_bytes:
            rules = np.array(self.alphabet_rules)
            return merge_list.atoms_of_characters(pretoken.decode(), self.characters, rules, self.byte_tokens)
        return merge_list.atoms_of(codes_of(pretoken), self.atoms, self.fused)

    def _prove_list(self) -> None:
        """Prove that the merges are safe, because with dropout, kernels use the merges even if there is an automaton."""
        lacking, stated = int(self.missing.reshape(-1, 256).any(axis=0).sum()), self.metadata.model.missing_bytes
        need(lacking == stated, f"missing_bytes is {stated}; {lacking} of the bytes that text may have are not tokens")
        merge_list.prove(self.merges, self.lengths, self.byte_tokens)
        if not self.metadata.model.letters.are_bytes:
            self._prove_characters()

    def _prove_characters(self) -> None:
        """Prove that each character with a token has as many bytes as this token. Only two kinds of tokens need this proof: tokens that
        share an id, and the ``unk_token``.
        """
        model = self.metadata.model
        ids, unknown = self.subwords.numbers, -1 if model.unk_id is None else model.unk_id
        for token in np.flatnonzero((np.bincount(ids) > 1)[ids] | (ids == unknown)).tolist():
            body, size = self.affixes.part(self.subwords.contents[token]).body, self.lengths[ids[token]]
            need(size == len(body) or not _is_character(body), f"character {body!a} is token {ids[token]} of {size} bytes")

    @Lazy
    def ranks(self) -> Mapping[tuple[int, int], int]:
        """The ranks of the merges, for the slow walk."""
        return merge_list.ranks_of(self.merges)

    @Lazy
    def whole_pretokens(self) -> Mapping[bytes, int]:
        """With `ignore_merges`, the id of each token: a whole pre-token that equals a token becomes this token, regardless of merges."""
        model = self.metadata.model
        if not model.ignore_merges:
            return {}
        known = model.model_tokens - model.fallbacks
        return {**dict(zip(self.contents[:known], self.token_ids.tolist(), strict=False)), **self.spelled_fallbacks}

    @Lazy
    def spelled_fallbacks(self) -> Mapping[bytes, int]:
        """With `ignore_merges`, the names of fallback tokens and their ids; a pre-token may be such a name."""
        model = self.metadata.model
        if not (model.ignore_merges and model.byte_fallback) or model.letters.are_bytes:
            return {}
        named = zip(self.tokens, self.token_ids.tolist(), strict=True)
        return {name.encode(): number for name, number in named if byte_of(name) is not None}

    @Lazy
    def long_pretokens(self) -> Mapping[bytes, int]:
        """The `whole_pretokens` that no merges make, and that are not in ``words``, mostly because they are too long."""
        model = self.metadata.model
        found = np.flatnonzero(np.isin(self.token_ids[: model.model_tokens], model.long_pretokens)).tolist()
        return {**{self.content(token): int(self.token_ids[token]) for token in found}, **self.spelled_fallbacks}

    def run_dropping(self, text: str, by: Dropout, row: int = 0) -> list[int]:
        """The token ids of a text with dropout, by the slow walk; `row` is the index of the text in the call."""
        ids, place = list[int](), 0
        for part, special in self.parts(text):
            pretoken = part.encode()
            numbers = dropout.merged(self.ranks, self.merges, self.atoms_of(pretoken), by, row, place) if special is None else [special]
            ids += self._ids_of(numbers)
            place += 0 if special is not None else len(pretoken)
        return ids

    def run_pretoken(self, pretoken: bytes) -> Sequence[int]:
        """The token ids of a pre-token."""
        if pretoken in self.whole_pretokens:
            return [self.whole_pretokens[pretoken]]
        if self.has_automaton:
            return automaton.walk(self.entries, self.lengths, pretoken)
        return self._ids_of(merge_list.merged(self.ranks, self.merges, self.atoms_of(pretoken)))

    def _ids_of(self, numbers: list[int]) -> list[int]:
        """The ids that numbers of merges become."""
        found: list[int] = self.ids_of_subwords[numbers].tolist() if len(self.subword_ids) else numbers
        return found

    def fixed_ids(self, pretoken: bytes) -> Sequence[int] | None:
        """See `PretokenTable.fixed_ids`."""
        ids = self.run_pretoken(pretoken)
        sizes = [int(self.lengths[number]) for number in ids]
        return ids if all(sizes) and sum(sizes) == len(pretoken) else None

    @property
    def joins_words(self) -> bool:
        """See `PretokenTable.joins_words`."""
        return self.metadata.model.joins_words

    def _arguments(self, specials: Mapping[bytes, int]) -> BpeArguments | MergeArguments:
        plain = arguments(self, specials)
        return plain if self.has_automaton else merge_arguments(self, plain.shared)

    def work(self) -> Work:
        """The working arrays of the kernels for one thread."""
        return work()

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        self._prove_tokens()
        self._prove_classes()
        self._prove_windows()
        self._prove_merges(each)
        self._prove_words()
        self._prove_long_pretokens()

    def _prove_tokens(self) -> None:
        """Prove that tokens lie within ``token_bytes``, that ids are in range, and that the table contains each added token with its id."""
        ends, ids, known = self.token_ends, self.token_ids, self.metadata.model.model_tokens
        need(len(ids) == len(ends), f"token_ends has {len(ends)} elements, token_ids {len(ids)}")
        need(0 < known <= len(ids), f"model_tokens is {known}; there are {len(ids)} tokens")
        stated = self.metadata.model.vocabulary_tokens
        need(known <= stated <= len(ids), f"vocabulary_tokens is {stated}; expected a number from {known} to {len(ids)}")
        need_none((ids < 0) | (ids > MAX_OUTPUT), lambda token: f"token {token} has the id {ids[token]}; ids are 0 to {MAX_OUTPUT}")
        sizes = np.diff(ends, prepend=0)
        need_none((sizes < 0) | (sizes > automaton.MAX_LENGTH), lambda token: f"token {token} has {sizes[token]} bytes")
        need(ends[-1] == len(self.token_bytes), f"the last token ends at byte {ends[-1]} of {len(self.token_bytes)}")
        if self.metadata.model.sentencepiece:
            self.metadata.model.sentencepiece.prove(int(ids.max()) + 1)
        self._prove_unknown()
        self._prove_letters()
        self._prove_text(known, len(ends))
        self._prove_subwords()
        added = self.metadata.added_tokens
        named = np.zeros(int(ids.max()) + 1, np.bool_)
        named[ids] = True
        prove_around(added, self.metadata.templates, named)
        need_ids((token.id for token in added.contextual.values()), named, "late")
        prove_normalizer(self.metadata.text.normalizer, added)
        special = np.flatnonzero(np.isin(ids, np.fromiter(added.ids.values(), np.int64)))
        held = {(self.content(token), int(ids[token])) for token in special.tolist()}
        letters = self.metadata.model.letters
        for content, number in added.ids.items():
            spellings = (content.encode(), letters.bytes_of(content))  # an added token may share the id of a model token with the same name
            is_held = any((token, number) in held for token in spellings)
            need(is_held, f"special token {quoted(content)} has the id {number}, and no token of the table has both")

    def _prove_letters(self) -> None:
        """Prove that the model's tokens have names: fallback tokens are single bytes, and if symbols are characters, names are text."""
        model, begins = self.metadata.model, np.append(0, self.token_ends[:-1])
        letters, spelled = model.letters, model.model_tokens - model.fallbacks
        need(spelled > 0, f"all {model.model_tokens} tokens of the model are fallbacks")
        need(not (letters.are_bytes and (model.fallbacks or letters.symbol)), "fallbacks or a symbol beside letters for bytes")
        need(len(letters.symbol) <= 1, f"the symbol for blanks is {quoted(letters.symbol)}, not one character")
        need(not (model.fallbacks and self.affixes), "fallbacks beside a prefix or suffix")
        sizes = self.token_ends[spelled : model.model_tokens] - begins[spelled : model.model_tokens]
        need_none(sizes != 1, lambda place: f"fallback {place} represents {sizes[place]} bytes; expected 1")
        if not letters.are_bytes:
            self._prove_text(0, spelled)

    def _prove_text(self, first: int, last: int) -> None:
        """Prove that tokens in a range are UTF-8."""
        begins, ends = np.append(0, self.token_ends[:-1])[first:last], self.token_ends[first:last]
        if not len(ends):
            return
        try:
            str(self.token_bytes[begins[0] : ends[-1]].data, "utf-8")
        except UnicodeDecodeError as error:
            need(False, f"token_bytes is not UTF-8 at byte {begins[0] + error.start}")
        begins = begins[ends > begins]
        need_none(self.token_bytes[begins] & 0xC0 == 0x80, lambda token: f"a token begins at byte {begins[token]}, inside a character")

    def _prove_subwords(self) -> None:
        """Prove that subwords are text, and that each becomes an id of a token."""
        ids, sizes, model = self.subword_ids, np.diff(self.subword_ends, prepend=0), self.metadata.model
        if not len(ids) and not len(sizes):
            need(not len(self.subword_bytes), "there are bytes of subwords, and no subwords")
            return
        need(bool(self.affixes) and not model.letters.are_bytes and not model.fallbacks, "subwords without affixes, or of bytes")
        prove_strings(self.subword_bytes, self.subword_ends, len(ids), "subwords")
        need_none((sizes < 1) | (sizes > automaton.MAX_LENGTH), lambda place: f"subword {place} has {sizes[place]} bytes")
        need_none(~np.isin(ids, self.token_ids), lambda place: f"subword {place} becomes {ids[place]}, which no token has")

    def _prove_unknown(self) -> None:
        """Prove that ``unk_id`` and ``unk_token`` belong together, and that there is an unknown token only if bytes are missing."""
        model = self.metadata.model
        if model.unk_id is not None:
            need(model.missing_bytes > 0, f"unk_id is {model.unk_id}, and no bytes are missing")
            spellings = ((model.unk_token or "").encode(), model.letters.bytes_of(model.unk_token or ""))
            held = (self.content(token) in spellings for token in np.flatnonzero(self.token_ids == model.unk_id).tolist())
            need(any(held), f"unk_token {quoted(model.unk_token)} has the id {model.unk_id}, and no token of the table has both")

    def _prove_words(self) -> None:
        """Prove that a table which drops bytes has no word with such a byte, because kernels read a letter of a word for each byte of its
        token.
        """
        super()._prove_words()
        if not self.drops_bytes:
            return
        slots = np.ascontiguousarray(self.words, "<u8").reshape(-1, 4)
        sizes, place = (slots[:, 3] >> np.uint64(32)).astype(np.int64)[:, None], np.arange(WORD_BYTES)
        codes = slots[:, :3].copy().view(np.uint8) | np.where(place, CONTINUES, 0) | np.where(place + 1 == sizes, ENDS, 0)
        dropped = np.any((self.missing[codes] > 0) & (place < sizes), axis=1)
        need_none(dropped, lambda slot: f"slot {slot} of the table of words has a byte without a token")

    def _prove_merges(self, each: Each) -> None:
        """Prove the merges, and that the automaton is safe or, if the table has none, that its arrays are empty."""
        if self.metadata.model.longest_match:
            need(self.has_automaton and not len(self.merges), "a longest match without an automaton, or with merges")
        if self.has_automaton:
            need(not self.affixes and not len(self.subword_ids), "a prefix, suffix or subwords beside an automaton")
            need(not self.metadata.model.missing_bytes, "missing bytes beside an automaton")
            automaton.prove(self.entries, self.lengths, self.depths, each)
        else:
            need(not len(self.depths), f"there are {len(self.depths)} depths, and no automaton")
            model = self.metadata.model
            need(not self.affixes or not model.ignore_merges, "ignore_merges beside affixes")
        self._prove_list()

    def _prove_long_pretokens(self) -> None:
        """Prove that each long pre-token and its token have the same number of bytes."""
        need(not self.long_pretokens or self.metadata.model.ignore_merges, "there are long pieces without ignore_merges")
        for pretoken, number in self.long_pretokens.items() - self.spelled_fallbacks.items():
            size = self.lengths[number]
            need(len(pretoken) == size, f"a long piece has {len(pretoken)} bytes, and its token {number} has {size}")


def _fallback_of(name: str) -> bytes | None:
    """The byte that a name such as ``<0x41>`` represents; None for any other name."""
    byte = byte_of(name)
    return None if byte is None else bytes([byte])


def _is_character(body: bytes) -> bool:
    return len(body) <= UTF8_LENGTH and len(body.decode(errors="replace")) == 1
