"""The bytes that each token adds to the decoded text.

The decoded text of ids is the concatenation of these bytes. The first token may write other bytes than the same token at a later position:
WordPiece writes a space before each word except the first, and SentencePiece removes the space of the first token.

A vocabulary has hundreds of thousands of tokens, so all tokens are decoded at once: their names are `fst.tables.strings.enclosed`, and each
step of a decoder is one call of ``bytes.replace``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints
from fst.errors import UnsupportedError
from fst.tables.cleanup import CLEANED
from fst.tables.decoder_steps import ALL, METASPACE, NONE, PIECES, REPLACE, SPACE, SUFFIX, SYMBOL, Plan, byte_of, plan
from fst.tables.header import ByteLevelDecoder, Decoder, StepsDecoder
from fst.tables.strings import BEGIN, END, enclosed, equal_to, opened, stored_bytes, taken
from fst.tables.table import Table
from fst.tables.words_decoder import WordsDecoder

END_NAMES = ("<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "<|im_end|>", "[SEP]")
UNKNOWN = b"\xfd"  # replaces the unknown token while other tokens change; no UTF-8 contains this byte
BYTE_NAME = len("<0x00>")


class Strings(NamedTuple):
    """The bytes of all tokens.

    Attributes:
        data: uint8[n], the bytes of the tokens, concatenated.
        ends: int64[ids], the end of each token.
    """

    data: Array
    ends: Array


class Written(NamedTuple):
    """The bytes of all tokens, and the end of texts.

    Attributes:
        later: the bytes of the token with each id, at any position but the first; empty for a number that is no id, and for special tokens
            and unknown tokens, which write no text.
        first: the bytes of each token at the first position; equal to `later` if tokens write the same bytes there.
        keeps_first: whether the token after a first token that writes nothing is again a first token.
        end_id: the id of the token that ends a text: the token that the vocabulary's source names ``eos_token``; else the first of
            `END_NAMES` that is a special token; None if there is none.
    """

    later: Strings
    first: Strings
    keeps_first: bool
    end_id: int | None


def written_by(table: Table) -> Written:
    """The bytes that decoding the tokens of a table writes, as `fst.Tokenizer.decode` does.

    Raises:
        UnsupportedError: the bytes of a token depend on the tokens after it, or on more than one token before it.
    """
    if not table.has_tokens:
        raise UnsupportedError(f"the table is of kind {table.kind!r}; expected that of a tokenizer; call fst.compile.tokenizer")
    named, metadata = _Named(table), table.metadata  # type: ignore[attr-defined]
    decoder, keeps_first = metadata.settings.decoder, False
    if isinstance(decoder, WordsDecoder):
        raise UnsupportedError("the decoder joins words, so a token writes text that depends on the tokens after it")
    if isinstance(decoder, ByteLevelDecoder) and hasattr(table, "decoded_differently"):
        changed = {number: data for place, data in table.decoded_differently().items() if (number := named.id_at(place)) is not None}
        ids, later = named.with_text((table.token_bytes, table.token_ends), changed)  # type: ignore[attr-defined]
        first = later
    else:
        by = _plan(decoder) if isinstance(decoder, StepsDecoder) else None
        ids, names = named.with_text(named.names, {number: name.encode() for number, name in named.renamed.items()})
        pieces = enclosed(*names)
        if by is None:
            later, first = (_piece(pieces, decoder, is_first=is_first) for is_first in (False, True))
        else:
            keeps_first = any(step["type"] == PIECES and step["leading"] == ALL for step in by.alone)
            later = _decoded(pieces, by, is_first=False)
            has_first = bool(by.tail) or any(step["type"] in (PIECES, METASPACE) for step in by.alone)
            first = _decoded(pieces, by, is_first=True) if has_first else later
    of_ids = named.by_id(ids, later)
    return Written(of_ids, of_ids if first is later else named.by_id(ids, first), keeps_first, named.end_id)


class _Named:
    """The tokens of a table, and their names."""

    def __init__(self, table: Any) -> None:
        self._table, self._model, self._added = table, table.metadata.model, table.metadata.added_tokens
        self.size = int(table.token_ids.max()) + 1
        self.renamed = {token.id: token.decoded for token in self._added.contextual.values() if token.id < self.size}
        self._places = np.full(self.size, -1)  # the place of each id in `token_ids`; the last one if several places have the id
        self._places[table.token_ids] = np.arange(len(table.token_ids))

    @cached_property
    def names(self) -> tuple[Array, Array]:
        """The names in the order of ``token_ids``, in two arrays."""
        found: tuple[Array, Array] = self._table.names()
        return found

    def id_at(self, place: int) -> int | None:
        """The id of the token at a place in ``token_ids``; None if a later token has the id, too."""
        number = int(self._table.token_ids[place])
        return number if self._places[number] == place else None

    def _numbers(self, name: str) -> Ints:
        """The places in ``token_ids`` of the tokens with a name, ascending."""
        letters, table = getattr(self._model, "letters", None), self._table
        if letters is None or not letters.are_bytes:
            return equal_to(name.encode(), *self.names)
        spelled, known = letters.bytes_of(name), self._model.model_tokens
        of_model, others = (equal_to(data, table.token_bytes, table.token_ends) for data in (spelled or b"", name.encode()))
        return np.append(of_model[of_model < known * (spelled is not None)], others[others >= known])

    @property
    def end_id(self) -> int | None:
        """See `Written.end_id`."""
        eos, special = self._table.metadata.settings.named_tokens.get("eos_token"), {*self._added.skipped}
        if eos is not None and len(found := self._numbers(eos)):
            return int(self._table.token_ids[found[-1]])
        ids = (int(self._table.token_ids[found[-1]]) for name in END_NAMES if special and len(found := self._numbers(name)))
        return next((number for number in ids if number in special), None)

    def with_text(self, strings: tuple[Array, Array], changed: Mapping[int, bytes]) -> tuple[Ints, Strings]:
        """The ids without those of special tokens and unknown tokens, ascending, and a string for each of them.

        Args:
            strings: a string for each token, in the order of ``token_ids``.
            changed: other strings for some ids.
        """
        (data, ends), (more, more_ends) = strings, stored_bytes(changed.values())
        places = self._places.copy()
        places[[*changed]] = len(ends) + np.arange(len(changed))
        places[[*self._left_out()]] = -1
        ids = np.flatnonzero(places >= 0)
        if len(more_ends):
            data, ends = np.append(data, more), np.append(ends, len(data) + more_ends)
        return ids, Strings(*taken(data, ends, places[ids]))

    def _left_out(self) -> set[int]:
        """The ids of special tokens and unknown tokens."""
        unknown, found = self._model.unk_token, {*self._added.skipped, self._model.unk_id}
        if unknown is not None:
            found |= {number for number, name in self.renamed.items() if name == unknown}
            found |= {*map(self.id_at, self._numbers(unknown).tolist())} - self.renamed.keys()
        return {number for number in found if number is not None and number < self.size}

    def by_id(self, ids: Ints, strings: Strings) -> Strings:
        """A string for each number up to the highest id, from the strings of some ids, ascending; other numbers have an empty string."""
        sizes = np.zeros(self.size, np.int64)
        sizes[ids] = np.diff(strings.ends, prepend=0)
        return Strings(strings.data, np.cumsum(sizes))


def _piece(names: bytes, decoder: Decoder | None, *, is_first: bool) -> Strings:
    """The texts of tokens of WordPiece, see `fst.tables.cleanup.piece_of`."""
    if not is_first:
        names = names.replace(BEGIN, BEGIN + b" ")
        if decoder is not None:
            names = names.replace(BEGIN + b" " + decoder.prefix.encode(), BEGIN)
    if decoder is not None and decoder.cleanup and b" " in names:  # each of the replaced strings begins with a space
        for old, new in CLEANED:
            names = names.replace(old.encode(), new.encode())
    return Strings(*opened(names))


def _plan(decoder: StepsDecoder) -> Plan:
    by = plan(decoder.steps)
    if by is None or any(step["type"] == SUFFIX for step in by.alone) or not by.drops_at_most_one:
        kinds = ", ".join(step["type"] for step in decoder.steps)
        raise UnsupportedError(f"the decoder has the steps {kinds}, by which a token writes text that depends on the tokens after it")
    return by


def _decoded(names: bytes, by: Plan, *, is_first: bool) -> Strings:
    """The texts of tokens, see `Plan.content` and `Plan.first`."""
    for step in by.alone:
        names = _changed(step, names, is_first=is_first)
    found = _with_bytes(*opened(names)) if by.has_bytes else Strings(*opened(names))
    if is_first and by.tail and by.tail[0]["start"]:
        found = _without_first(by.tail[0]["content"].encode(), *found)
    return found


def _changed(step: Mapping[str, Any], names: bytes, *, is_first: bool) -> bytes:
    """Apply a step to tokens, see `fst.tables.decoder_steps.changed`."""
    kind, space = step["type"], SPACE.encode()
    if kind == REPLACE:
        return names.replace(step["pattern"]["String"].encode(), step["content"].encode())
    if kind == METASPACE:
        return names.replace(step["replacement"].encode(), b"" if is_first and step["prepend_scheme"] != "never" else space)
    if kind == PIECES:
        symbol = SYMBOL.encode()
        names = names.replace(BEGIN + step["unknown"].encode() + END, BEGIN + UNKNOWN + END)
        names = names.replace(BEGIN + symbol, BEGIN) if is_first and step["leading"] != NONE else names
        return names.replace(symbol, space).replace(UNKNOWN, step["surface"].encode())
    content = step["content"].encode()
    names = _stripped(names, BEGIN + content, BEGIN, step["start"])
    return _stripped(names, content + END, END, step["stop"])


def _stripped(names: bytes, old: bytes, new: bytes, most: int) -> bytes:
    """Replace a string, at most the given number of times, until nothing changes."""
    for _ in range(most):
        before, names = names, names.replace(old, new)
        if before == names:
            break
    return names


def _with_bytes(data: Array, ends: Array) -> Strings:
    """Replace each byte token, such as ``<0xC3>``, by its byte."""
    begins = ends - np.diff(ends, prepend=0)
    long = np.flatnonzero(ends - begins == BYTE_NAME)
    named = long[(data[begins[long]] == ord("<")) & (data[ends[long] - 1] == ord(">"))]
    data, is_kept = data.copy(), np.ones(len(data), np.bool_)
    for place in named.tolist():
        begin = int(begins[place])
        byte = byte_of(data[begin : begin + BYTE_NAME].tobytes().decode())
        if byte is not None:
            data[begin], is_kept[begin + 1 : begin + BYTE_NAME] = byte, False
    return _kept(is_kept, data, ends)


def _without_first(prefix: bytes, data: Array, ends: Array) -> Strings:
    """Remove a prefix from each string that begins with it."""
    sizes, is_kept = np.diff(ends, prepend=0), np.ones(len(data), np.bool_)
    places = (ends - sizes)[sizes >= len(prefix), None] + np.arange(len(prefix))
    is_kept[places[(data[places] == np.frombuffer(prefix, np.uint8)).all(axis=1)]] = False
    return _kept(is_kept, data, ends)


def _kept(is_kept: Array, data: Array, ends: Array) -> Strings:
    """Strings without some of their bytes."""
    return Strings(data[is_kept], np.append(0, np.cumsum(is_kept))[ends])
