"""Byte-level tokens decode to the same bytes as in the naive implementation and to the same text as in `tokenizers`, in single calls and
in streams.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import kept
from support.shared_data import SHARED, needs_shared
from support.tiers import examples
from tokenizers import Tokenizer as Reference

import fst
from fst.compile import bpe, wordpiece
from fst.pretokens.byte_letters import LETTERS, bytes_of, spelled
from fst.runtime.decoder import DecodeStream
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.rows.batch import Batch
from fst.tables.header import Decoder

LETTER = [LETTERS[byte] for byte in range(256)]
MERGES = [("a", "b"), ("Ġ", "ab"), ("c", "c"), ("cc", "cc"), ("cccc", "cccc"), ("c" * 8, "c" * 8), ("c" * 16, "c" * 16), ("c" * 32, "c")]
ADDED = {"<s>": True, "</s>": True, "<tool>": False, "Ġé": False, "東京": True, "x" * 40: False}
TOKENS = [*LETTER, *(left + right for left, right in MERGES)]
HIGHEST = len(TOKENS) + len(ADDED) - 1
INTEGERS: Sequence[Any] = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.dtype(">i4")]

ids_of_tokens = st.lists(st.integers(0, HIGHEST + 3), max_size=60)
ids_of_bytes = st.lists(
    st.sampled_from([*range(256), 0x80, 0xBF, 0xC2, 0xE0, 0xE4, 0xED, 0xF0, 0xF4, 0xFF, *"😺é東€".encode()]), max_size=30
)


def document(**parts: Any) -> dict[str, Any]:
    """Make a tokenizer.json with all bytes, a few longer tokens, and added tokens, some of which consist of ByteLevel's letters for
    bytes.
    """
    kinds = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    bare = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [
        {"id": len(TOKENS) + place, "content": content, "special": special, **kinds}
        for place, (content, special) in enumerate(ADDED.items())
    ]
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(TOKENS)}, "merges": [[*pair] for pair in MERGES]}
    others = {"version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None}
    return {**others, "added_tokens": added, "pre_tokenizer": bare, "decoder": bare, "model": model, **parts}


def written(**parts: Any) -> Path:
    """Write a tokenizer.json of the small vocabulary next to the stored tables."""
    path = kept.FOLDER / f"small-{len(parts)}-{os.getpid()}.json"
    path.write_text(json.dumps(document(**parts)), encoding="utf-8")
    return path


@cache
def small() -> tuple[BpeTokenizer, Reference]:
    """Make a tokenizer of the small vocabulary, and the same tokenizer in the reference library."""
    path = written()
    return made(bpe(path)), Reference.from_file(str(path))


def made(table: Any) -> BpeTokenizer:
    """Make the tokenizer of a stored table."""
    tokenizer = fst.Tokenizer(table)
    assert isinstance(tokenizer, BpeTokenizer)
    return tokenizer


@cache
def contents() -> dict[int, bytes]:
    """Return the bytes of each id of the small vocabulary, as in the naive implementation."""
    added = {len(TOKENS) + place: bytes_of(content) or content.encode() for place, content in enumerate(ADDED)}
    return {number: bytes_of(token) or b"" for number, token in enumerate(TOKENS)} | added


def defined(ids: Sequence[int], skip: bool) -> bytes:
    """Decode ids as in the naive implementation, which joins the bytes of all existing tokens."""
    skipped = {len(TOKENS) + place for place, special in enumerate(ADDED.values()) if special}
    return b"".join(contents()[number] for number in ids if number in contents() and not (skip and number in skipped))


@given(ids_of_tokens, st.booleans())
@examples(1000)
def test_bytes_are_those_of_the_tokens(ids: list[int], skip: bool) -> None:
    """Ids decode to the joined bytes of their tokens, and ids without a token are skipped."""
    assert small()[0].decode_bytes(ids, skip_special_tokens=skip) == defined(ids, skip)


@given(ids_of_tokens, st.booleans())
@examples(1000)
def test_text_is_that_of_the_reference(ids: list[int], skip: bool) -> None:
    """Ids decode to the same text as in `tokenizers`, with and without special tokens."""
    ours, reference = small()
    assert ours.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("normalizer", [{"type": "Prepend", "prepend": " "}, {"type": "Lowercase"}, {"type": "NFD"}])
def test_added_token_with_a_name_of_the_model(normalizer: dict[str, Any]) -> None:
    """An added token that is also a token of the model decodes to its normalized form, as in `tokenizers`."""
    kinds = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    parts = document(normalizer=normalizer)
    added = [{"id": TOKENS.index(content), "content": content, **kinds} for content in ("é", "A", "ab")]
    path = written(normalizer=normalizer, added_tokens=[*parts["added_tokens"], *added])
    ours, reference = made(bpe(path)), Reference.from_file(str(path))
    for text in ("é", "xé", "A ab", " É"):
        ids = reference.encode(text).ids
        assert ours.encode(text).tolist() == ids
        assert ours.decode(ids) == reference.decode(ids)
        stream = ours.decode_stream()
        assert stream.write(ids) + stream.close() == reference.decode(ids)


@given(ids_of_bytes)
@examples(2000)
def test_broken_characters(ids: list[int]) -> None:
    """Bytes that are not UTF-8 become the same U+FFFDs as in `tokenizers`."""
    ours, reference = small()
    assert ours.decode(ids) == reference.decode(ids)


@given(st.lists(ids_of_tokens, max_size=8), st.booleans())
@examples(500)
def test_rows_are_decoded_as_one_by_one(rows: list[list[int]], skip: bool) -> None:
    """A batch decodes to the same texts as its rows in single calls, and rows may be lists, arrays or a `Batch`."""
    ours = small()[0]
    expected = [ours.decode(row, skip_special_tokens=skip) for row in rows]
    splits = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    batch = Batch(np.array([number for row in rows for number in row], np.int32), splits)
    mixed = [np.array(row, INTEGERS[4 + place % 4]) if place % 2 else tuple(row) for place, row in enumerate(rows)]
    for given_rows in (rows, iter(rows), mixed, batch, batch[:]):
        assert ours.decode_batch(given_rows, skip_special_tokens=skip) == expected
    assert ours.decode_batch(batch[::-2], skip_special_tokens=skip) == expected[::-2]


@pytest.mark.parametrize("splits", [[0, 2], [1, 4], [0, 3, 1, 4]])
def test_batches_with_gaps(splits: list[int]) -> None:
    """A batch is decoded by its row splits, even if these skip some ids or are not ascending."""
    ours, batch = small()[0], Batch(np.array([97, 98, 99, 100], np.int32), np.array(splits, np.int64))
    assert ours.decode_batch(batch) == [ours.decode(row) for row in batch]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_ids_of_any_whole_type(dtype: Any) -> None:
    """An array of any integer type is decoded, even if its elements are not contiguous in memory."""
    ids = np.array([72, 105, 33, 7], dtype)
    assert small()[0].decode(ids) == "Hi!\x07"
    assert small()[0].decode(ids[::-2]) == "\x07i"


@pytest.mark.parametrize(
    "ids", [(72, 105), range(72, 74), b"Hi", bytearray(b"Hi"), [np.int8(72), np.uint64(105)], [True], np.array([True])]
)
def test_ids_of_other_containers(ids: Any) -> None:
    """Any iterable of integers is accepted as a row of ids."""
    assert small()[0].decode(ids) == bytes(map(int, ids)).decode()


def test_no_ids() -> None:
    """An empty row of ids decodes to an empty text, and a batch without rows decodes to an empty list."""
    ours = small()[0]
    without: list[Any] = [[], (), np.array([], np.int32), np.array([], np.int64), np.array([], np.int8)]
    assert [ours.decode(ids) for ids in without] == [""] * 5
    assert ours.decode_batch([]) == ours.decode_batch(Batch(np.empty(0, np.int32), np.zeros(1, np.int64))) == []
    assert ours.decode_batch([[], [72], []]) == ["", "H", ""]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([1.5], TypeError, "a row of ids is whole numbers"),
        (np.array([1.0]), TypeError, "a row of ids is whole numbers"),
        (5, TypeError, "token_to_id returns the id of a token"),
        ("ab", TypeError, "a row of ids is whole numbers"),
        ([[1]], TypeError, "decode_batch accepts several rows"),
        (np.array([[1]]), TypeError, "decode_batch accepts several rows"),
        ([7, -100], OverflowError, "an id is -100; expected 0 to"),
        ([1 << 32], OverflowError, "an id is 4294967296; expected 0 to"),
        ([1 << 70], OverflowError, "an id is"),
        (np.array([7, -1], np.int32), OverflowError, "an id is -1; expected 0 to"),
        (np.array([7, -1]), OverflowError, "an id is -1; expected 0 to"),
        (np.array([1 << 63], np.uint64), OverflowError, "an id is 9223372036854775808; expected 0 to"),
    ],
)
def test_what_is_no_row_of_ids(ids: Any, error: type[Exception], message: str) -> None:
    """A value that is not an integer from 0 to 2³² - 1 is refused with the same message in every method."""
    ours = small()[0]
    stream = ours.decode_stream()
    stream.write([0xC3])
    for decode in (ours.decode, ours.decode_bytes, stream.write, lambda row: ours.decode_batch([[1], row])):
        with pytest.raises(error, match=message):
            decode(ids)
    assert stream.write([0xA9]) == "é"


def test_highest_numbers_have_no_token() -> None:
    """Numbers up to 2³² - 1 are accepted as ids, even if they have no token."""
    assert small()[0].decode([72, (1 << 32) - 1, 1 << 31, 105]) == small()[0].decode(np.array([72, (1 << 32) - 1, 105], np.uint32)) == "Hi"


def test_bytes_of_one_token() -> None:
    """`token_bytes` returns the bytes of a token, or None for a number without a token."""
    ours = small()[0]
    assert {number: found for number in range(HIGHEST + 5) if (found := ours.token_bytes(number)) is not None} == contents()
    assert ours.token_bytes(-1) is ours.token_bytes(1 << 40) is None


def test_vocabularies_without_a_decoder() -> None:
    """If a source has no decoder, tokens are joined with spaces, as in `tokenizers`, also in streams; `decode_bytes` works as usual."""
    path = written(decoder=None)
    ours, reference = made(bpe(path)), Reference.from_file(str(path))
    ids: list[int] = [*range(250, 262), len(TOKENS)]
    for skip in (False, True):
        assert ours.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)
        assert ours.decode_batch([ids, []], skip_special_tokens=skip) == [reference.decode(ids, skip_special_tokens=skip), ""]
    assert ours.decode_bytes(ids) == small()[0].decode_bytes(ids)
    stream = ours.decode_stream(skip_special_tokens=False)
    assert "".join([*(stream.write([number]) for number in ids), stream.close()]) == ours.decode(ids, skip_special_tokens=False)


# For all beginnings of characters, one character per 64 is enough, because 64 characters differ only in their last byte.
CHARACTERS = [chr(code) for code in range(0x80, 0x110000, 1 << 6) if not 0xD800 <= code < 0xE000]
PREFIXES = {character.encode()[:size] for character in CHARACTERS for size in range(1, len(character.encode()))}


def rest_of(data: bytes) -> bytes:
    """Return the bytes at the end that may still become a character."""
    return next((data[-size:] for size in range(min(3, len(data)), 0, -1) if data[-size:] in PREFIXES), b"")


@given(st.lists(st.one_of(ids_of_bytes, ids_of_tokens), max_size=10), st.booleans())
@examples(2000)
def test_streams(pieces: list[list[int]], skip: bool) -> None:
    """After each write, a stream has returned all text except an incomplete character at the end, which `close` returns."""
    ours = small()[0]
    stream, seen, text = ours.decode_stream(skip_special_tokens=skip), list[int](), ""
    for piece in pieces:
        seen += piece
        text += stream.write(piece)
        data = ours.decode_bytes(seen, skip_special_tokens=skip)
        assert text == data.removesuffix(rest_of(data)).decode(errors="replace")
    assert text + stream.close() == ours.decode(seen, skip_special_tokens=skip)


@given(ids_of_bytes)
@examples(1000)
def test_streams_of_single_ids(ids: list[int]) -> None:
    """Ids that are written to a stream one by one give the same text as all ids together."""
    stream = small()[0].decode_stream()
    assert "".join([*(stream.write([number]) for number in ids), stream.close()]) == small()[0].decode(ids)


def test_closed_streams() -> None:
    """A closed stream accepts no more ids."""
    stream = small()[0].decode_stream()
    assert (stream.write([72, 0xF0, 0x9F]), stream.close()) == ("H", "\ufffd")
    for use in (stream.close, lambda: stream.write([72])):
        with pytest.raises(ValueError, match="the stream is closed"):
            use()


@pytest.mark.parametrize("decoder", [Decoder("##", cleanup=True), Decoder("", cleanup=False), None])
def test_streams_of_joined_tokens(decoder: Decoder | None) -> None:
    """A stream of tokens that are joined by spaces, or by WordPiece's decoder, returns the text of `decode`, token by token."""
    table = wordpiece(["[UNK]", "[CLS]", "un", "##able", "!", " .", "n't"])
    settings = replace(table.metadata.settings, decoder=decoder)
    tok = fst.Tokenizer(replace(table, header=replace(table.metadata, settings=settings).to_json()))
    ids = [1, 2, 3, 4, 99, 5, 2, 6, 0]
    for count, skip in product(range(len(ids)), (True, False)):
        stream = tok.decode_stream(skip_special_tokens=skip)
        parts = [stream.write([number]) for number in ids[:count]] + [stream.close()]
        assert "".join(parts) == tok.decode(ids[:count], skip_special_tokens=skip)


@pytest.mark.slow
def test_decoding_without_the_compiler(tmp_path: Path) -> None:
    """The kernels give the same bytes if Python interprets them instead of compiling them."""
    ids = [*range(HIGHEST + 3), *range(250, 264)]
    path = tmp_path / "small.npz"
    small()[0]._table.save(path)
    code = f"import fst, sys; tok = fst.load({str(path)!r}); sys.stdout.buffer.write(tok.decode_bytes({ids}))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, check=True)
    assert done.stdout == defined(ids, skip=True)


@needs_shared
@given(st.lists(st.integers(0, 50_300), max_size=50), st.booleans())
@examples(1000)
def test_real_vocabulary(ids: list[int], skip: bool) -> None:
    """Ids of GPT-2 decode to the same text as in `tokenizers`, both in a single call and in a stream."""
    ours, reference = gpt2()
    expected = reference.decode(ids, skip_special_tokens=skip)
    stream: DecodeStream = ours.decode_stream(skip_special_tokens=skip)
    assert ours.decode(ids, skip_special_tokens=skip) == stream.write(ids) + stream.close() == expected


@needs_shared
def test_every_token_of_a_real_vocabulary() -> None:
    """Every token of GPT-2 decodes to the bytes that its spelling represents, both alone and in one long row."""
    ours, reference = gpt2()
    spellings = [reference.id_to_token(number) for number in range(reference.get_vocab_size())]
    alone = [ours.token_bytes(number) for number in range(len(spellings))]
    assert [spelled(content) for content in alone if content] == spellings
    assert ours.decode_bytes(np.arange(len(spellings)), skip_special_tokens=False) == b"".join(content for content in alone if content)


@cache
def gpt2() -> tuple[BpeTokenizer, Reference]:
    """Load GPT-2's tokenizer in this package and in `tokenizers`."""
    path = SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json"
    return made(kept.bpe(path)), Reference.from_file(str(path))
