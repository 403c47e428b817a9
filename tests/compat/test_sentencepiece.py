"""The stand-in for `sentencepiece` gives the same results as `sentencepiece`, and raises errors of the same types."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from inspect import signature
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.compat.sentencepiece import DECODED, PER_ID, RETURN_TYPES, Two, _two, assert_same, plain
from support.tiers import examples

import fst
from fst.compile import wordpiece
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL, KINDS, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from fst.compile.sources.sentencepiece.source import MODELS
from fst.compile.text.edits.double_arrays import charsmap

library = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

NAMES = ("<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁a", "▁ab", "abb", "é", "1", "2", "xa", "xay", "pqr")
OWN, NOT_USED = ("xa", "xay"), ("pqr",)
CHANGED = {"½": "1⁄2", "\t": " ", "ﬁ": "ab", "\u0301": "", "e\u0301": "é", "\n": " ", "\x01": ""}
PIECES = (*NAMES, *CHANGED, " ", "  ", "▁▁", "x", "y", "z", "☕", "😺", "⁄", "<0xE2>")

characters = some.characters(exclude_characters="\0", exclude_categories=["Cs"])  # a charsmap cannot replace a NUL
texts = some.lists(some.one_of(some.sampled_from(PIECES), some.text(characters, max_size=2)), max_size=10).map("".join)
flags = some.fixed_dictionaries({}, optional={name: some.booleans() for name in ("add_bos", "add_eos", "reverse", "emit_unk_piece")})


def proto(kind: str, fallback: bool, **normalizer: Any) -> Any:
    """Make the protocol buffer of a small model with pieces of each type."""
    made = sentencepiece_model_pb2.ModelProto()
    types = {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, **dict.fromkeys(OWN, USER_DEFINED), **dict.fromkeys(NOT_USED, UNUSED)}
    for number, name in enumerate(NAMES):
        made.pieces.add(piece=name, score=-number / 4, type=types.get(name, NORMAL))
    for name in BYTES if fallback else ():
        made.pieces.add(piece=name, score=0, type=BYTE)
    made.trainer_spec.model_type = next(number for number, known in KINDS.items() if known == kind)
    made.trainer_spec.byte_fallback = fallback
    for name, value in normalizer.items():
        setattr(made.normalizer_spec, name, value)
    return made


@cache
def small(kind: str, fallback: bool, is_bare: bool) -> Two:
    """A small model, loaded by `sentencepiece` and by the stand-in; with `is_bare`, the model does not normalize texts."""
    by: dict[str, Any] = {"precompiled_charsmap": charsmap(CHANGED)}
    if is_bare:
        by = {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "escape_whitespaces": True}
    return _two(proto(kind, fallback, **by).SerializeToString(), f"{kind}-{fallback}-{is_bare}")


@cache
def behind(kind: str) -> Two:
    """A small model that adds a space after each text, loaded by `sentencepiece` and by the stand-in."""
    made = proto(kind, True, precompiled_charsmap=charsmap(CHANGED))
    made.trainer_spec.treat_whitespace_as_suffix = True
    return _two(made.SerializeToString(), f"{kind}-behind")


SMALL = [(kind, fallback, is_bare) for kind in MODELS for fallback in (False, True) for is_bare in (False, True)]
each_small = pytest.mark.parametrize("which", SMALL, ids=["-".join(map(str, which)) for which in SMALL])


@pytest.mark.mostly_slow
@each_small
@given(text=texts, options=flags)
@examples(150)
def test_encoding(which: Any, text: str, options: dict[str, bool]) -> None:
    """Any text gets the same ids, pieces, spans and normalized text as in `sentencepiece`, or both libraries raise errors of the same
    type.
    """
    two = small(*which)
    for kind in RETURN_TYPES:
        assert_same(two, "encode", text, out_type=kind, **options)
    assert_same(two, "encode", text, return_type="offset_mapping", return_bytes=True)
    for given_text in (text, text.encode(), [text, text.encode()]):
        assert_same(two, "encode", given_text, return_type="offset_mapping")
        assert_same(two, "normalize", given_text)
        if two[0].normalize(text) or not text.strip(" "):
            assert_same(two, "normalize", given_text, with_offsets=True)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", MODELS)
@given(text=texts)
@examples(100)
def test_blanks_behind_words(kind: str, text: str) -> None:
    """If a model adds a space after each text, ids, normalized texts and decoded texts equal those of `sentencepiece`."""
    two = behind(kind)
    for form in RETURN_TYPES:
        assert_same(two, "encode", text, out_type=form)
    ids = two[0].encode(text)
    for form in DECODED:
        assert_same(two, "decode", ids, out_type=form)
    if two[0].normalize(text):
        assert_same(two, "normalize", text, with_offsets=True)


@pytest.mark.mostly_slow
@each_small
@given(rows=some.lists(texts, max_size=4), options=flags)
@examples(50)
def test_batches(which: Any, rows: list[str], options: dict[str, bool]) -> None:
    """Each text of a list gets the same results as in `sentencepiece`."""
    for kind in RETURN_TYPES:
        assert_same(small(*which), "encode", rows, return_type=kind, num_threads=2, **options)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("which", [which for which in SMALL if which[2]], ids=lambda which: f"{which[0]}-{which[1]}")
@given(data=some.binary(max_size=12), others=texts)
@examples(60)
def test_bytes_that_are_no_text(which: Any, data: bytes, others: str) -> None:
    """Bytes that are not UTF-8 get the same results as in `sentencepiece` if the model does not normalize U+FFFD."""
    text = others.encode() + data
    for kind in RETURN_TYPES:
        options = {"return_bytes": True} if kind == "offset_mapping" else {}
        assert_same(small(*which), "encode", text, return_type=kind, **options)
        assert_same(small(*which), "encode", [text, others], return_type=kind, **options)
    assert_same(small(*which), "normalize", text, with_offsets=True)


BYTES_OF_CAT = [len(NAMES) + byte for byte in "😺☕".encode()]


@pytest.mark.mostly_slow
@each_small
@given(ids=some.lists(some.one_of(some.integers(0, len(NAMES) - 1), some.sampled_from(BYTES_OF_CAT)), max_size=10))
@examples(150)
def test_decoding(which: Any, ids: list[int]) -> None:
    """Ids and pieces decode to the same texts and spans as in `sentencepiece`."""
    two = small(*which)
    ids = [number for number in ids if number < len(two[0])]
    pieces = two[0].id_to_piece(ids)
    for given_row in (ids, np.array(ids, np.int32), pieces, [piece.encode() for piece in pieces], [ids, [], ids], [[], pieces]):
        for kind in DECODED:
            assert_same(two, "decode", given_row, out_type=kind)
        assert_same(two, "decode", given_row, out_type="offset_mapping", return_bytes=True)


@pytest.mark.slow
@each_small
@given(pieces=some.lists(some.one_of(some.sampled_from(PIECES), some.text(max_size=3)), max_size=8))
@examples(100)
def test_decoding_of_unknown_pieces(which: Any, pieces: list[str]) -> None:
    """A string that is not a piece decodes to itself, as in `sentencepiece`."""
    for kind in DECODED:
        assert_same(small(*which), "decode", pieces, out_type=kind)


TEXTS = ("", " ", "ab a  xay b☕☕é", b"ab \xe2\x98\x95", "ab " * 50)
NO_TEXTS: Sequence[Any] = (5, None, ("ab",), bytearray(b"ab"), ["ab", 5], "\ud800", ["\ud800"], [["ab"]], {"ab": 1}, [])
ODD_IDS: Sequence[Any] = (
    *([4, 5], (4, 5), range(4, 7), np.array([4]), np.array([4], np.uint8), np.array([[4], [5]]), np.array([4.0]), np.array([])),
    *(np.int64(4), 4, 4.0, True, None, "", "ab", b"ab"),
    *([], [[]], [[], [4]], [4.0], [True], [-1], [99999], [1 << 40], [[4], [-1]], np.array([99999])),
    *(["ab", "☕"], [b"ab", "a"], ["a", b"\xff"], [["ab"], [b"a"], []], [4, "a"], ["a", 4], [4, [4]], [[4], 4], [["a"], [4]], ["\ud800"]),
)


@pytest.mark.mostly_slow
@each_small
def test_odd_arguments(which: Any) -> None:
    """Arguments of wrong types or out of range give the same results as in `sentencepiece`, or errors of the same types."""
    two = small(*which)
    for text in (*TEXTS, *NO_TEXTS):
        for kind in (*RETURN_TYPES, "words", [int]):
            assert_same(two, "encode", text, out_type=kind)
        assert_same(two, "normalize", text)
        assert_same(two, "parallel_encode", text, chunk_len=5)
    for ids in ODD_IDS:
        for kind in (*DECODED, int, "numpy"):
            assert_same(two, "decode", ids, out_type=kind)
        for name in (*PER_ID, "piece_to_id"):
            assert_same(two, name, ids)


CALLS: Sequence[tuple[str, Any, dict[str, Any]]] = (
    ("encode", "ab", {"return_type": int, "out_type": int}),
    ("encode", "ab", {"return_bytes": True}),
    ("encode", ["ab"], {"num_threads": None}),
    ("encode", ["ab"], {"num_threads": 0}),
    ("encode", ["ab"], {"num_threads": "two"}),
    ("encode", "ab", {"num_threads": 1.0}),
    ("encode", ["ab"], {"thread_pool": SimpleNamespace(num_threads=lambda: 2)}),
    ("encode", "ab", {"enable_sampling": True, "nbest_size": 1}),
    ("encode", "ab", {"enable_sampling": True, "nbest_size": 513}),
    ("encode", "ab", {"text": "ab"}),
    ("encode_as_ids", "ab", {"out_type": str}),
    ("encode_as_ids", ["ab"], {"add_bos": True}),
    ("encode_as_pieces", "ab☕", {"emit_unk_piece": True}),
    ("encode_as_numpy", "ab", {}),
    ("encode_as_offset_mapping", "ab", {}),
    ("tokenize", "ab", {"out_type": str}),
    ("detokenize", [4, 5], {}),
    ("decode", [4], {"return_bytes": True}),
    ("decode", [4], {"num_threads": 1.5}),
    ("decode_ids", [4, 5], {}),
    ("decode_pieces", ["a", "b"], {}),
    ("parallel_encode", "ab", {}),
    ("parallel_encode", "ab", {"chunk_len": 0}),
    ("parallel_encode", "ab", {"chunk_len": 5, "out_type": "offset_mapping"}),
    ("parallel_encode", ["ab", "a"], {"chunk_len": 1, "add_eos": True}),
    ("parallel_encode_as_pieces", "ab", {"chunk_len": 1}),
    ("nbest_encode", "ab", {"out_type": "offset_mapping"}),
    ("nbest_encode", 5, {}),
    ("piece_to_id", ["ab", b"ab", "nothing", b"\xff"], {}),
    ("__getitem__", "ab", {}),
    *((name, None, {}) for name in ("unk_id", "bos_id", "eos_id", "pad_id", "get_piece_size", "piece_size", "vocab_size", "__len__")),
)


@pytest.mark.mostly_slow
@each_small
def test_calls(which: Any) -> None:
    """Each method, under both spellings of its name, gives the same results as in `sentencepiece`, or errors of the same types."""
    two = small(*which)
    for name, argument, options in CALLS:
        camel = "".join(part.title() for part in name.split("_")).replace("Nbest", "NBest")
        for spelling in (name, camel):
            if hasattr(two[0], spelling) and "thread_pool" not in options:
                assert_same(two, spelling, *([] if argument is None else [argument]), **options)
    assert two[1].encode(["ab"], thread_pool=SimpleNamespace(num_threads=lambda: 2)) == two[0].encode(["ab"])


def test_members() -> None:
    """Every public member of the class in `sentencepiece`, except for loading and protocol buffers, exists in the stand-in with the same
    parameters.
    """
    theirs, ours = library.SentencePieceProcessor, type(small(*SMALL[0])[1])
    refused = re.compile("from_?|load|.*proto$", re.IGNORECASE)
    for name in (name for name in dir(theirs) if not name.startswith("_") and not refused.match(name)):
        assert hasattr(ours, name), name
        expected, found = ([one.name for one in signature(getattr(of, name)).parameters.values()] for of in (theirs, ours))
        variable = {"kwargs": "options", "arg": "filename"}
        assert len(found) == len(expected) or "_" in found, name
        assert found == [variable.get(one, one) for one in expected], name


def test_defaults() -> None:
    """The arguments of the constructor become the default values of the methods, as in `sentencepiece`."""
    theirs, ours = small("bpe", False, False)
    data = theirs.serialized_model_proto()
    for options in ({"out_type": str, "add_bos": True}, {"return_type": "numpy", "reverse": True}, {"add_eos": True, "num_threads": 1}):
        two = library.SentencePieceProcessor(model_proto=data, **options), fst.sentencepiece(ours.fst, **options)
        for again in (two, (two[0], pickle.loads(pickle.dumps(two[1])))):
            for text in ("ab☕", ["ab", "a"]):
                assert_same(again, "encode", text)
                assert_same(again, "encode_as_ids", text)
                assert_same(again, "encode", text, add_bos=False, add_eos=False, reverse=False)
    for wrong in ({"out_type": "words"}, {"out_type": int, "return_type": int}):
        with pytest.raises(ValueError, match=r"return_type"):
            fst.sentencepiece(ours.fst, **wrong)


@pytest.mark.skipif("unigram" not in MODELS, reason="Unigram alone has several segmentations")
@pytest.mark.parametrize("is_bare", [False, True])
@given(text=texts)
@examples(100)
def test_best_segmentations(is_bare: bool, text: str) -> None:
    """`nbest_encode` finds all segmentations of a short text, and orders those with different scores as `sentencepiece` does."""
    two = small("unigram", True, is_bare)
    text = text[:6]
    expected = two[0].nbest_encode_as_proto(text, nbest_size=512).nbests
    scores = {tuple(piece.id for piece in one.pieces): one.score for one in expected}
    found = [scores[tuple(ids)] for ids in two[1].nbest_encode(text, nbest_size=512)]
    assert found == pytest.approx([one.score for one in expected], rel=1e-5, abs=1e-5)
    for kind in (int, str, bytes, "numpy"):
        each = (plain(processor.nbest_encode(text, nbest_size=512, return_type=kind, add_eos=True)) for processor in two)
        assert sorted(map(repr, next(each))) == sorted(map(repr, next(each)))
    assert two[1].nbest_encode([text, "ab"]) == [two[1].nbest_encode(text), two[1].nbest_encode("ab", nbest_size=1)]


@pytest.mark.skipif("unigram" not in MODELS, reason="Unigram alone has several segmentations")
def test_sampling() -> None:
    """In each call, sampling returns a single segmentation of a text, and over many calls every possible segmentation occurs."""
    two = small("unigram", True, False)
    every = two[0].nbest_encode("abab", nbest_size=512)
    drawn = two[1].sample_encode_as_ids(["abab"] * 2000, nbest_size=-1, alpha=0.1)
    assert sorted({*map(tuple, drawn)}) == sorted({*map(tuple, every)})
    assert {*map(tuple, two[1].sample_encode_as_ids(["abab"] * 500, nbest_size=2, alpha=0.1))} == {*map(tuple, every[:2])}
    assert two[1].sample_encode_as_pieces("", 5, 0.5) == []
    for name in ("pieces", "numpy"):
        assert len(getattr(two[1], f"sample_encode_as_{name}")(["ab", "b"], nbest_size=5, alpha=0.1)) == 2
    assert fst.sentencepiece(two[1].fst, enable_sampling=True, alpha=1e6).encode("abab") == two[0].encode("abab")
    for nbest_size in (0, 1, 513):
        assert_same(two, "encode", "ab", enable_sampling=1, nbest_size=nbest_size)
        assert_same(two, "sample_encode_as_ids", "ab", nbest_size)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "unigram"])
def test_models_with_one_segmentation(kind: str) -> None:
    """If `sentencepiece` cannot sample a model or list its n best segmentations, the stand-in raises an error of the same type."""
    two = small(kind, False, False)
    assert_same(two, "nbest_encode", "ab", 5)
    assert_same(two, "nbest_encode", ["ab"])
    if kind != "bpe":
        assert_same(two, "sample_encode_as_ids", "ab", -1, 0.1)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("encode", ("ab", None, None, None, None, None, None, None, None, None, "proto"), "return_type='proto': protocol buffers are not"),
        ("decode", ([4], "serialized_proto"), "return_type='serialized_proto': .* take return_type='offset_mapping'"),
        ("sample_encode_as_ids", ("ab",), r"take tok.encode\(text, randomness=fst.Dropout\(alpha\)\)"),
    ],
)
def test_refusals(name: str, arguments: Any, message: str) -> None:
    """If a table cannot give a result, the call is refused, and the message contains a remedy."""
    with pytest.raises(fst.UnsupportedError, match=message):
        getattr(small("bpe", False, False)[1], name)(*arguments)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("nbest_encode_as_proto", "protocol buffers are not made; take return_type='offset_mapping'"),
        ("DecodeIdsAsProto", "protocol buffers are not made"),
        ("load", "compile the .model file"),
        ("LoadFromFile", "compile the .model file"),
        ("from_proto", "compile the .model file"),
        ("serialized_model_proto", "keep the file, or pickle this object"),
    ],
)
def test_absent_members(name: str, remedy: str) -> None:
    """A method that a table cannot support is missing, and the error contains a remedy."""
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .*{remedy}"):
        getattr(small("bpe", False, False)[1], name)


def test_only_a_tokenizer_is_accepted() -> None:
    """A stand-in of an object that is not a tokenizer is refused, and the message contains a remedy."""
    with pytest.raises(TypeError, match=r"^fst.sentencepiece is called with int; expected a fst.Tokenizer, a table, a path"):
        fst.sentencepiece(5)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("flags", [*product((False, True), repeat=3)])
def test_texts_that_vanish(flags: tuple[bool, ...], suffix: bool) -> None:
    """A text that normalizes to an empty string gets the same offsets as in `sentencepiece`."""
    names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    changes = charsmap({"x": "", "y": " ", "é": "", "yb": "a"})
    made = proto("char", False, precompiled_charsmap=changes, **dict(zip(names, flags, strict=True)))
    made.trainer_spec.treat_whitespace_as_suffix = suffix
    two = _two(made.SerializeToString(), f"vanish-{'-'.join(map(str, flags))}-{suffix}")
    for parts in product(("", " ", "x", "y", "é", "\u3000"), repeat=3):
        text = "".join(parts)
        assert_same(two, "normalize", text, with_offsets=True)
        assert_same(two, "normalize", text.encode(), with_offsets=True)


def test_bytes_that_normalisation_changes() -> None:
    """If the model normalizes U+FFFD, bytes that are not UTF-8 are refused."""
    two = _two(proto("bpe", False, precompiled_charsmap=charsmap({"\ufffd": " "})).SerializeToString(), "changes")
    assert_same(two, "encode", "ab\ufffd".encode())
    for text in (b"ab\xff", [b"ab", b"ab\xff"]):
        with pytest.raises(fst.UnsupportedError, match="mend the text"):
            two[1].encode(text)


def test_members_of_other_versions() -> None:
    """A method that only older versions of `sentencepiece` have is missing, and the error contains the method that replaces it."""
    ours = small("bpe", False, False)[1]
    for name in ("set_encode_extra_options", "SetEncodeExtraOptions"):
        with pytest.raises(AttributeError, match=r"no attribute 'S?s?et_?E?e?ncode.*: pass add_bos"):
            getattr(ours, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nowhere'$"):
        _ = ours.nowhere


def test_other_tables() -> None:
    """A table that was not compiled from a SentencePiece model gives the ids, pieces and texts of its source, and refuses methods that
    need such a model.
    """
    sp = fst.sentencepiece(fst.Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"])))
    assert sp.encode("unable") == [3, 4]
    assert sp.encode(["unable", "x"], out_type=str) == [["un", "##able"], ["[UNK]"]]
    assert sp.decode([1, 3, 4]) == sp.decode(["un", "##able"]) == "unable"
    assert (sp.piece_to_id("zzz"), sp.unk_id(), sp.bos_id(), sp.is_control(1), sp.is_unknown([0, 3])) == (0, 0, -1, True, [True, False])
    calls: Sequence[tuple[str, Any]] = (("get_score", 3), ("normalize", "x"), ("encode_as_offset_mapping", "x"), ("decode", ["un", "☕"]))
    for name, argument in (*calls, ("nbest_encode", "x")):
        with pytest.raises(fst.UnsupportedError):
            getattr(sp, name)(argument)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ({"scores": "AAAA"}, "sentencepiece is .*; expected null or a mapping with the types and scores"),
        ({"scores": "AAAAAA=="}, "sentencepiece has 4 bytes of scores for 16 pieces"),
        ({"scores": "é"}, "sentencepiece is "),
        ({"eos_id": 16}, "sentencepiece names the id 16; there are 16 pieces"),
        ({"byte": [3, 1 << 20]}, "sentencepiece names the id 1048576"),
        ({"unk_id": None}, "sentencepiece is "),
        ({"kind": "words"}, "sentencepiece is "),
    ],
)
def test_hostile_tables_are_refused(kind: str, harm: Any, message: str, tmp_path: Any) -> None:
    """A table with invalid scores or invalid piece types is refused when it is loaded."""
    table = small(kind, False, False)[1].fst._table
    replace(table, header={**table.header, "sentencepiece": {**table.header["sentencepiece"], **harm}}).save(tmp_path / "wrong.npz")
    with pytest.raises(fst.TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


@pytest.mark.slow
def test_sentencepiece_is_not_needed() -> None:
    """The stand-in does not import `sentencepiece`."""
    code = "import sys, fst; fst.sentencepiece; sys.exit('sentencepiece' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
