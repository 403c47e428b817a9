"""The stand-in for `tiktoken` gives the same results as `tiktoken`, and raises errors with the same messages."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from array import array
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import kept
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample

import fst
from fst.compile import wordpiece
from fst.compile.sources.tiktoken import ENCODINGS
from fst.pretokens.byte_letters import spelled

library = pytest.importorskip("tiktoken")
loading = pytest.importorskip("tiktoken.load")

Two = tuple[Any, Any]  # an encoding of `tiktoken` and its stand-in
PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
MERGED = (b"he", b"ll", b"hell", b"hello", b" hello", b"<|", b"|>", b"ab", b"  ", b"\xc3\xa9", b"\xf0\x9f", b"\xf0\x9f\x98")
RANKS = {token: rank for rank, token in enumerate([*(bytes([byte]) for byte in range(256)), *MERGED])}
SPECIAL = {"<|endoftext|>": 300, "<a>": 301, "a>b": 302, "|>é": 303, "  x": 305}
PIECES = (*SPECIAL, "<|endoftext", "<a", ">b", "|>", "é", "hello", " hello", " ", "  ", "\n", "123", "😺", "\ud83d", "\ude3a", "\udc00")
REAL = ("r50k_base", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cl100k_base", "o200k_base")))
TEXTS = (
    *(
        "",
        "hello world",
        "Hello world, it's 2026! naïve café  \n\n  東京 😺\t'll they've 1234567",
        "  leading, trailing  ",
        "\ud800 a \ud83d\ude00",
    ),
    *("<|endoftext|>", "a<|endoftext|><|fim_prefix|> b<|endofprompt|>", "<|endoftext|", "def f(x):\n    return x ** 2  # привет\r\n"),
)
END = "<|endoftext|>"

texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=8).map("".join)
sets_of_strings = st.one_of(st.just("all"), st.frozensets(st.sampled_from([*SPECIAL, "hello", "nowhere"])))
each_real = pytest.mark.parametrize("name", REAL)


@cache
def small() -> Two:
    """A small encoding of `tiktoken` with special tokens that overlap, and the stand-in for this encoding."""
    path = kept.FOLDER / f"small-{os.getpid()}.tiktoken"
    path.write_bytes(b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in RANKS.items()))
    table = kept.bpe(path, pattern=PATTERN, special=SPECIAL)
    theirs = library.Encoding("small", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens=SPECIAL)
    return theirs, fst.tiktoken(fst.Tokenizer(table), name="small")


@cache
def real(name: str) -> Two:
    """A real encoding of `tiktoken`, and the stand-in for this encoding."""
    path = SHARED / "vocab_bpe" / name / f"{name}.tiktoken"
    ranks = loading.load_tiktoken_bpe(str(path))
    stated = ENCODINGS[name]
    theirs = library.Encoding(name, pat_str=stated.pattern, mergeable_ranks=ranks, special_tokens=dict(stated.special))
    return theirs, fst.tiktoken(fst.Tokenizer(kept.bpe(path)), name=name)


def outcome(encoding: Any, name: str, *arguments: Any, **options: Any) -> Any:
    """Read a property or call a method; return either the result and its type, or the error and its message."""
    try:
        member = getattr(encoding, name)
        found = member(*arguments, **options) if callable(member) else member
    except Exception as error:
        return type(error), error.args
    if isinstance(found, np.ndarray):
        return found.dtype, found.flags.writeable, found.tolist()
    return type(found), found


def assert_same(two: Two, name: str, *arguments: Any, **options: Any) -> None:
    """Check that a property or method has the same result in `tiktoken` and in the stand-in."""
    theirs, ours = (outcome(encoding, name, *arguments, **options) for encoding in two)
    assert ours == theirs


def assert_decoded_alike(two: Two, ids: Any) -> None:
    """Check that all methods of the stand-in decode ids as in `tiktoken`."""
    for errors in ("replace", "ignore", "strict"):
        assert_same(two, "decode", ids, errors)
        assert_same(two, "decode_batch", [ids, [104], ids], errors=errors, num_threads=1)
    for name in ("decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        assert_same(two, name, ids)
    assert_same(two, "decode_bytes_batch", [ids, []])


def assert_properties_alike(two: Two) -> None:
    """Check that the stand-in has the same attributes as the encoding of `tiktoken`."""
    for name in (*PROPERTIES, "token_byte_values", "__repr__"):
        assert_same(two, name)


@pytest.mark.slow
@given(texts, sets_of_strings, sets_of_strings)
@examples(3000)
def test_special_tokens(text: str, allowed: Any, disallowed: Any) -> None:
    """With any allowed and disallowed special tokens, any text gets the same ids or the same error as in `tiktoken`."""
    for name in ("encode", "encode_to_numpy"):
        assert_same(small(), name, text, allowed_special=allowed, disallowed_special=disallowed)
        assert_same(small(), name, text)
    assert_same(small(), "encode_ordinary", text)


@given(st.lists(texts, max_size=4), sets_of_strings, sets_of_strings)
@examples(300)
def test_batches(rows: list[str], allowed: Any, disallowed: Any) -> None:
    """A batch gets the same ids or the same error as in `tiktoken`."""
    assert_same(small(), "encode_batch", rows, num_threads=2, allowed_special=allowed, disallowed_special=disallowed)
    assert_same(small(), "encode_ordinary_batch", rows, num_threads=2)


@given(st.lists(st.one_of(st.integers(0, 310), st.sampled_from([0xC3, 0xA9, 0xF0, 0x9F, 0x98, 0xBA, 267])), max_size=12))
@examples(2000)
def test_decoding(ids: list[int]) -> None:
    """Ids decode to the same bytes, texts and offsets as in `tiktoken`, or raise the same error."""
    assert_decoded_alike(small(), ids)
    assert_decoded_alike(small(), np.array(ids, np.uint32))


PROPERTIES = ("eot_token", "special_tokens_set", "n_vocab", "max_token_value", "name")
NO_TEXTS = (5, None, b"ab", ["ab"])
ARRAYS = (np.array([97, 98]), np.array([97.0]), np.array([[97]]), np.array([97, 304], np.int32), np.array([], np.uint32), array("q", [97]))
ODD_IDS: Sequence[Any] = (
    [304],
    [97, -1],
    [1 << 32],
    [1.5],
    ["a"],
    5,
    None,
    "ab",
    b"ab",
    (97, 98),
    {97},
    {97: 98},
    range(97, 99),
    [True],
    [[97]],
    [],
)
ODD_SETS = (["<a>"], {"<a>"}, frozenset({"<a>"}), {"<a>": 1}.keys(), None, "some", {1}, {"b"}, {"<a>", "a>b"})
UNCHECKED: dict[str, Any] = {"disallowed_special": ()}
CALLS: Sequence[tuple[str, Sequence[Any], dict[str, Any]]] = (  # the method, its positional arguments, its keyword arguments
    ("encode_single_token", ("hello", b"hello", "<a>", b"<a>", "|>é", "|>é".encode(), b"\xc3", "hello world", b"\xff\xfe", ""), {}),
    ("encode_single_token", ("\ud800", 5, bytearray(b"a"), None), {}),
    ("decode_single_token_bytes", (97, 300, 303, 304, 999999, -1, 1 << 32, 1.5, "a", None, np.int64(97), True), {}),
    ("decode_bytes", (*ODD_IDS, *ARRAYS), {}),
    ("decode_batch", ([97], 5, [[97], [304]]), {}),
    ("decode_batch", ([[97]],), {"num_threads": 0}),
    ("decode_bytes_batch", ([[97]],), {"num_threads": 0}),
    ("decode", ([0xF0],), {"errors": "nope"}),
    ("is_special_token", (300, 97, 999, True, "a", np.int64(300)), {}),
    ("encode", NO_TEXTS, UNCHECKED),
    ("encode_ordinary", NO_TEXTS, {}),
    ("encode_to_numpy", ("", "hello", "a\ud800", END, "<a>\ud800"), {}),
    *(("encode", ("a<a>b", "ab"), {"allowed_special": allowed}) for allowed in ODD_SETS),
    *(("encode", ("ab",), {"allowed_special": allowed, **UNCHECKED}) for allowed in ODD_SETS),
    *(("encode", ("hello",), {"disallowed_special": odd}) for odd in ((), None, [""], ["ell"], "ell", "xyz", ("ell",), {"<a>"}, 5)),
    ("encode_batch", (5, None, "ab", ("a", "b"), [END, 5], [b"a"], []), {}),
    ("encode_ordinary_batch", (5, None, "ab", ["a", 5], [b"a"], [END]), {}),
    *(("encode_batch", (["a"],), {"num_threads": threads}) for threads in (None, 0, -1, 1)),
    ("token_byte_values", (), {}),
)
FLAT = [(name, argument, options) for name, arguments, options in CALLS for argument in arguments]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("name", "argument", "options"), FLAT, ids=[f"{name}-{place}" for place, (name, _, _) in enumerate(FLAT)])
def test_corners(name: str, argument: Any, options: dict[str, Any]) -> None:
    """Arguments of wrong types or out of range give the same results or the same errors as in `tiktoken`."""
    assert_same(small(), name, argument, **options)


@pytest.mark.parametrize(
    ("name", "argument", "options"),
    [
        *(("encode", text, {}) for text in NO_TEXTS),
        ("encode_to_numpy", 5, {}),
        ("encode", "hello", {"disallowed_special": {1}}),
        ("encode_batch", ["a", 5], {}),
        ("encode_batch", [5, END], {}),
    ],
)
def test_errors_of_regular_expressions(name: str, argument: Any, options: dict[str, Any]) -> None:
    """If `tiktoken` raises an error of one of its regex engines, the stand-in raises an error of the same type."""
    theirs, ours = (outcome(encoding, name, argument, **options) for encoding in small())
    assert ours[0] is theirs[0] is TypeError


def test_huge_numbers() -> None:
    """Numbers of more than 64 bits raise the same errors as in `tiktoken`."""
    for number in (1 << 63, 1 << 64, -1 << 70, 1 << 70):
        for name, argument in (("decode_single_token_bytes", number), ("decode_bytes", [number]), ("decode", [97, number])):
            assert_same(small(), name, argument)


def test_no_end_of_text() -> None:
    """An encoding without <|endoftext|> has no eot_token, as in `tiktoken`."""
    path = kept.FOLDER / f"small-{os.getpid()}.tiktoken"
    small()
    theirs = library.Encoding("small", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens={})
    ours = fst.tiktoken(fst.Tokenizer(kept.bpe(path, pattern=PATTERN, special={})), name="small")
    assert_properties_alike((theirs, ours))
    assert_same((theirs, ours), "encode", END, allowed_special="all")


@pytest.mark.parametrize("padding", ["=", "=="])
def test_empty_token(padding: str) -> None:
    """A padding line without content, as in Whisper's file of ranks, is an empty token, which has an id but no text."""
    path = kept.FOLDER / f"empty-{os.getpid()}.tiktoken"
    path.write_bytes(b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in RANKS.items()) + f"{padding} 280\n".encode())
    theirs = library.Encoding("small", pat_str=PATTERN, mergeable_ranks=loading.load_tiktoken_bpe(str(path)), special_tokens=SPECIAL)
    for source, options in ((path, {"pattern": PATTERN, "special": SPECIAL}), (theirs, {})):
        two = theirs, fst.tiktoken(fst.Tokenizer(kept.bpe(source, **options)), name="small")
        assert_properties_alike(two)
        for token in (b"", ""):
            assert_same(two, "encode_single_token", token)
        assert_same(two, "decode_single_token_bytes", 280)
        assert_decoded_alike(two, [280, 104, 280, 280, 300, 0xC3, 280, 0xA9])
        for text in (*TEXTS, "".join(PIECES[:12])):
            assert_same(two, "encode", text, allowed_special="all")
            assert_same(two, "encode_ordinary", text)


def test_members() -> None:
    """Every public member of the class in `tiktoken` exists in the stand-in with the same parameters."""
    theirs, ours = small()
    names = [name for name in dir(theirs) if not name.startswith("_")]
    assert {*names} <= {*dir(ours)}
    for name in names:
        if callable(getattr(theirs, name)):
            assert [*signature(getattr(ours, name)).parameters] == [*signature(getattr(theirs, name)).parameters]


def unstable(encoding: Any, text: str, **options: Any) -> Any:
    """Return the stable ids and the set of completions of a text, or the error."""
    found = outcome(encoding, "encode_with_unstable", text, **options)
    if found[0] is not tuple:
        return found
    (stable, completions), rows = found[1], {*map(tuple, found[1][1])}
    assert len(rows) == len(completions)
    return stable, rows


@given(texts, sets_of_strings, sets_of_strings)
@examples(2000)
def test_unstable_encoding(text: str, allowed: Any, disallowed: Any) -> None:
    """`encode_with_unstable` gives any text the same stable ids and the same set of completions as in `tiktoken`, or the same error."""
    theirs, ours = small()
    for options in ({"allowed_special": allowed, "disallowed_special": disallowed}, {"disallowed_special": ()}):
        assert unstable(ours, text, **options) == unstable(theirs, text, **options)


@needs_shared
@pytest.mark.parametrize("name", ["r50k_base", pytest.param("cl100k_base", marks=pytest.mark.slow)])
def test_unstable_encoding_of_real_encodings(name: str) -> None:
    """With real encodings, `encode_with_unstable` gives prefixes of texts the same stable ids and completions as in `tiktoken`."""
    theirs, ours = real(name)
    cases = "hello fanta", "a  \n \u3000", "  \n", "'", "caf\xe9", "\u6771", " \x1c", "1234", "a" + END, "\U0001f63a", "\n\n", "\x85"
    for text in sample(cases, 3):
        assert unstable(ours, text, allowed_special="all") == unstable(theirs, text, allowed_special="all")


def test_extended_encoding() -> None:
    """The attributes of the stand-in suffice to make an extended Encoding, as in the README of `tiktoken`, and `fst.tiktoken` compiles
    this Encoding.
    """
    ours = small()[1]
    more = {"<|im_start|>": 400, "<|im_end|>": 401}
    specials = {**ours._special_tokens, **more}
    theirs = library.Encoding(name="im", pat_str=ours._pat_str, mergeable_ranks=ours._mergeable_ranks, special_tokens=specials)
    two = theirs, fst.tiktoken(theirs)
    assert_properties_alike(two)
    assert (two[1]._pat_str, two[1]._mergeable_ranks, two[1]._special_tokens) == (PATTERN, RANKS, specials)
    assert [*two[1]._mergeable_ranks] == [*RANKS]
    for text in (*TEXTS, "<|im_start|>hello<|im_end|>"):
        assert_same(two, "encode", text, allowed_special="all")
    assert fst.tiktoken(theirs, name="x").name == "x"


def test_tables_of_live_encodings_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An Encoding is compiled only once, and an Encoding with different special tokens gets its own table."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    theirs = small()[0]
    parts = {"pat_str": theirs._pat_str, "mergeable_ranks": theirs._mergeable_ranks}
    other = library.Encoding(name=theirs.name, special_tokens={**theirs._special_tokens, "<|im_start|>": 400}, **parts)
    found = [fst.tiktoken(encoding).encode("<|im_start|>", disallowed_special=()) for encoding in (theirs, theirs)]
    assert found[0] == found[1] == theirs.encode("<|im_start|>", disallowed_special=())
    assert fst.tiktoken(other).encode("<|im_start|>", allowed_special="all") == [400]
    assert len([*tmp_path.rglob("*.npz")]) == 2


def test_names_of_encodings(monkeypatch: pytest.MonkeyPatch) -> None:
    """`get_encoding` and `encoding_for_model` compile each encoding of the installed `tiktoken` only once, and raise an error without
    `tiktoken`.
    """
    theirs = small()[0]
    monkeypatch.setitem(library.registry.ENCODINGS, "cl100k_base", theirs)
    monkeypatch.setattr(sys.modules["fst.runtime.compat.tiktoken.encoding"], "_BY_NAME", {})
    ours = fst.tiktoken.get_encoding("cl100k_base")
    assert ours is fst.tiktoken.encoding_for_model("gpt-4")
    assert_same((theirs, ours), "encode", "hello<a>", allowed_special="all")
    assert len(pickle.dumps(ours)) < 150
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert fst.tiktoken.list_encoding_names() == library.list_encoding_names()
    for name in ("get_encoding", "encoding_for_model", "encoding_name_for_model"):
        for argument in ("nowhere", 5):
            assert outcome(fst.tiktoken, name, argument) == outcome(library, name, argument)
    assert outcome(fst.tiktoken, "encoding_name_for_model", "gpt-4o") == outcome(library, "encoding_name_for_model", "gpt-4o")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(ImportError, match="pip install tiktoken"):
        fst.tiktoken.list_encoding_names()


def test_other_tables_have_no_ranks(tmp_path: Path) -> None:
    """If the ids of a table are not in the order of its merges, the stand-in has no `_pat_str` and no `_mergeable_ranks`."""
    model = {"type": "BPE", "vocab": {spelled(bytes([byte])): byte for byte in range(256)}, "merges": []}
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model, "pre_tokenizer": split}), "utf-8")
    ours = fst.tiktoken(fst.Tokenizer(kept.bpe(tmp_path / "tokenizer.json")))
    for name in ("_pat_str", "_mergeable_ranks"):
        with pytest.raises(fst.UnsupportedError, match="the table is not from ranks of tiktoken"):
            getattr(ours, name)


def test_other_tables() -> None:
    """`fst.tiktoken` refuses tokenizers that are not byte-level BPE."""
    with pytest.raises(fst.UnsupportedError, match=r"^fst.tiktoken stands in for byte-level BPE; .* 'wordpiece'"):
        fst.tiktoken(fst.Tokenizer(wordpiece(["[UNK]", "a"])))


def test_pickles() -> None:
    """A stand-in that is pickled and unpickled gives the same results as before."""
    ours = pickle.loads(pickle.dumps(small()[1]))
    assert repr(ours) == repr(small()[1])
    assert ours.encode("hello<a>", allowed_special="all") == small()[0].encode("hello<a>", allowed_special="all")


@pytest.mark.slow
def test_tiktoken_is_not_needed() -> None:
    """The stand-in does not import `tiktoken`."""
    code = "import sys, fst; fst.tiktoken; sys.exit('tiktoken' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@needs_shared
def test_vocabularies_of_hugging_face() -> None:
    """A stand-in can be made from a tokenizer.json that has the same tokens as an encoding, and gives the results of this encoding."""
    tokenizer = fst.Tokenizer(kept.bpe(SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json"))
    two = real("r50k_base")[0], fst.tiktoken(tokenizer, name="r50k_base")
    for text in TEXTS:
        assert_same(two, "encode", text)
        assert_same(two, "encode", text, allowed_special="all")
        assert_same(two, "encode_ordinary", text)
    assert_properties_alike(two)


@needs_shared
@each_real
def test_real_encodings(name: str) -> None:
    """With real encodings, ids, bytes, texts and offsets equal those of `tiktoken`."""
    two = real(name)
    for text in sample(TEXTS, 6):
        for allowed in ((), {END}, "all"):
            for disallowed in ((), "all"):
                given = set(allowed) if allowed != "all" else allowed
                assert_same(two, "encode", text, allowed_special=given, disallowed_special=disallowed)
        assert_decoded_alike(two, two[0].encode(text, allowed_special="all"))
    assert_properties_alike(two)


@needs_shared
@each_real
def test_every_id(name: str) -> None:
    """With real encodings, every id has the same bytes as in `tiktoken`, and encoding these bytes gives this id."""
    theirs, ours = real(name)
    numbers = sample(range(theirs.n_vocab + 2), 20)
    for number in numbers:
        assert_same((theirs, ours), "decode_single_token_bytes", number)
    known = [number for number in numbers if number in ours._contents]
    assert ours.decode_bytes(known) == theirs.decode_bytes(known)
    assert [ours.encode_single_token(token) for token in ours.decode_tokens_bytes(known)] == known


@needs_shared
@each_real
def test_corpora(name: str) -> None:
    """With real encodings, lines of the corpora get the same ids as in `tiktoken`, in single calls and in batches, and the ids decode to
    the lines.
    """
    theirs, ours = real(name)
    for path in sorted(path for path in (SHARED / "corpora").iterdir() if path.suffix in (".md", ".txt")):
        lines = [*sample(path.read_text(encoding="utf-8")[:600_000].splitlines(keepends=True), 30)]
        expected = theirs.encode_ordinary_batch(lines)
        assert ours.encode_ordinary_batch(lines) == ours.encode_batch(lines, disallowed_special=()) == expected
        assert ours.decode_batch(expected) == lines
        assert ours.encode("".join(lines), disallowed_special=()) == theirs.encode("".join(lines), disallowed_special=())
