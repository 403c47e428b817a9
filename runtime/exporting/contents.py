"""The bytes of tokens, from which a host decodes ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.pretokens.decoding import MAX_SIZE, SIZE_BITS
from fst.runtime.rows.texts import PAST_END
from fst.runtime.tokenizer import Tokenizer
from fst.tables.cleanup import first_piece_of, piece_of
from fst.tables.decoder_steps import ALL, Steps, plan
from fst.tables.header import ByteLevelDecoder, StepsDecoder
from fst.tables.words_decoder import WordsDecoder

Array = NDArray[Any]
# Flags of an id: no token has this id; the id is skipped with the special tokens; at the end of a text, the last byte of its token is
# dropped; its token represents a byte; its token is in the table of words.
UNKNOWN, SKIPPED, SHORTENED, BYTE, WORD = 1, 2, 4, 8, 16
MOST_DROPS = 15


class Contents(NamedTuple):
    """The bytes of tokens, one after another in the order of ids. A text consists of the bytes of its tokens, without the bytes that
    `drops` removes from each token.

    Attributes:
        contents: uint8[n], and `fst.runtime.rows.texts.PAST_END` zeros, because a kernel reads past the end.
        sizes: uint16[ids], the number of bytes of each token.
        flags: uint8[ids], bits of `UNKNOWN`, `SKIPPED`, `SHORTENED`, `BYTE` and `WORD`.
        drops: uint8[ids], two numbers of bytes to drop from the start of a token: the low 4 bits for the first token with bytes in a text,
            the high 4 bits for other tokens.
        spans: uint64[ids], the span of each token, see `fst.pretokens.decoding`.
    """

    contents: Array
    sizes: Array
    flags: Array
    drops: Array
    spans: Array


def contents(tok: Tokenizer) -> Contents | None:
    """Find the bytes of a tokenizer's tokens.

    Returns:
        None if the decoder changes the text in a way that depends on more than the first and the last token.
    """
    names, decoder = tok._tokens_by_id, tok._settings.decoder
    if isinstance(decoder, ByteLevelDecoder):
        same = {number: tok.token_bytes(number) or b"" for number in names}  # type: ignore[attr-defined]  # of byte-level BPE
        return _laid_out({number: (content,) * 3 for number, content in same.items()}, tok._skipped, ())
    if isinstance(decoder, StepsDecoder):
        return _of_steps(names, decoder.steps, tok._skipped)
    if isinstance(decoder, WordsDecoder):
        return None
    known = {number: (first_piece_of(name, decoder), piece_of(name, decoder)) for number, name in names.items()}
    return _laid_out({number: (first.encode(), *(later.encode(),) * 2) for number, (first, later) in known.items()}, tok._skipped, ())


def contents_of(strings: Iterable[bytes]) -> Contents:
    """The bytes of strings whose numbers are ids, such as features of words.

    Raises:
        UnsupportedError: a string has more than `fst.pretokens.decoding.MAX_SIZE` bytes.
    """
    whole = {number: (string,) * 3 for number, string in enumerate(strings)}
    longest = max((len(string) for string, *_ in whole.values()), default=0)
    if longest > MAX_SIZE:
        raise UnsupportedError(f"a string of the table has {longest:,} bytes; expected at most {MAX_SIZE:,} in a table that is exported")
    found = _laid_out(whole, (), ())
    assert found, "equal bytes at all places can always be laid out"
    return found


def _of_steps(names: Mapping[int, str], steps: Steps, skipped: Collection[int]) -> Contents | None:
    """The bytes of the tokens if the decoder changes tokens step by step."""
    by = plan(steps)
    if by is None or not by.drops_at_most_one or any(step.get("leading") == ALL for step in steps):
        return None
    found = {number: (by.first(name), by.content(name), by.content(name, is_last=True)) for number, name in names.items()}
    return _laid_out(found, skipped, {number for number, name in names.items() if isinstance(by.changed(name), int)})


def _laid_out(whole: Mapping[int, tuple[bytes, bytes, bytes]], skipped: Collection[int], are_bytes: Collection[int]) -> Contents | None:
    """Lay out the bytes of tokens.

    Args:
        whole: for each id, the bytes of its token as the first token of a text, as a middle token, and as the last token.
        skipped: the ids that are skipped with the special tokens.
        are_bytes: the ids of tokens that represent a byte; if a run of such tokens is not UTF-8, each token is decoded to U+FFFD.

    Returns:
        None if the bytes of a token depend on other tokens in a way that `Contents` cannot express.
    """
    ids = max(whole, default=-1) + 1
    sizes, flags, drops = np.zeros(ids, np.uint16), np.full(ids, UNKNOWN, np.uint8), np.zeros(ids, np.uint8)
    parts: dict[int, bytes] = {}
    for number, (first, following, last) in whole.items():
        longer = max(first, following, key=len)
        cut, later = len(longer) - len(first), len(longer) - len(following)
        are_ends = longer.endswith(first) and longer.endswith(following) and cut <= MOST_DROPS and later <= MOST_DROPS
        if not are_ends or last not in (following, following[:-1]) or (first and not following):
            return None
        parts[number], sizes[number], drops[number] = longer, len(longer), cut | later << 4
        flags[number] = SKIPPED * (number in skipped) | SHORTENED * (last != following) | BYTE * (number in are_bytes)
    data = np.frombuffer(b"".join(parts[number] for number in sorted(parts)) + bytes(PAST_END), np.uint8)
    return Contents(data, sizes, flags, drops, spans_of(sizes))


def spans_of(sizes: Array) -> Array:
    """The spans of tokens whose bytes are concatenated; equal to the result of the kernel `build_spans`."""
    ends = np.cumsum(sizes, dtype=np.uint64)
    return ends - sizes << np.uint64(SIZE_BITS) | sizes
