"""SentencePiece models give the same ids, offsets and decoded texts as in `sentencepiece`, or are refused."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as some
from support.machines.bpe import hold_every_way, hold_in_pieces
from support.naive import sentencepiece as defined
from support.naive.sentencepiece import NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece
from support.shared_data import SHARED, needs_shared
from support.sources.sentencepiece import CHARS, UNK, Spaces, model_of
from support.text.every_character import EVERY_CHARACTER, swept_characters
from support.tiers import examples, sample, thinned

import fst
import fst.compile
from fst import UnsupportedError
from fst.cli.main import main
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL, KINDS
from fst.compile.sources.sentencepiece.source import of_bytes
from fst.machines.bpe.table import BpeTable
from fst.machines.unigram.table import UnigramTable

sentencepiece = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

ALL_BYTES = [Piece(name, 0, BYTE) for name in BYTES]
ORACLES = sorted((SHARED / "oracles/bpe_unigram").glob("*.jsonl"))


class Both(NamedTuple):
    """A model that is loaded by `sentencepiece` and by this package."""

    of: Any
    table: BpeTable | UnigramTable
    tokenizer: fst.Tokenizer


def both(data: bytes) -> Both:
    """Load the bytes of a model in `sentencepiece` and in this package."""
    table = of_bytes(data, "x.model").table()
    assert isinstance(table, BpeTable | UnigramTable)
    table.prove()
    return Both(sentencepiece.SentencePieceProcessor(model_proto=data), table, fst.Tokenizer(table))


@cache
def real(name: str) -> Both:
    """Load a real model in `sentencepiece` and in this package."""
    return both((SHARED / name).read_bytes())


REAL = [
    "vocab_bpe/mistral01/tokenizer.model",
    "vocab_bpe/spm_fixtures/test_sentencepiece_bpe.model",
    "vocab_bpe/spm_fixtures/test_sentencepiece_bpe_char.model",
    "vocab_unigram/t5/spiece.model",
    "vocab_unigram/albert/spiece.model",
    "vocab_unigram/spm_fixtures/sp_test_model.model",
    "vocab_unigram/spm_fixtures/test_sentencepiece.model",
    "vocab_unigram/spm_fixtures/test_sentencepiece_with_bytefallback.model",
]
each_real = pytest.mark.parametrize("name", thinned(REAL, 4), ids=lambda name: name.split("/")[-1])


def hold(made: Both, texts: Sequence[str]) -> None:
    """Check that ids, offsets and decoded texts equal those of `sentencepiece`, and that kernels give the same ids as the walk."""
    of, table, tokenizer = made
    batch = tokenizer.encode_batch([*texts], offsets=True)
    plain = tokenizer.encode_batch([*texts])
    assert batch.offsets is not None
    for row, text in enumerate(texts):
        expected = of.encode(text, return_type="proto")
        ids, own = [piece.id for piece in expected.pieces], slice(batch.row_splits[row], batch.row_splits[row + 1])
        assert batch[row].tolist() == plain[row].tolist() == table.run(text) == ids, text
        at = np.cumsum([0, *(len(char.encode()) for char in text)])
        spans = [tuple(np.searchsorted(at, (piece.begin, piece.end)).tolist()) for piece in expected.pieces]
        assert [*map(tuple, batch.offsets[own].tolist())] == spans, text
        assert tokenizer.decode(ids) == of.decode(ids), text


# Small models.

SCORES = some.sampled_from([-1.0, -2.0, -2.5, -3.0, 0.1, -0.1, 0.0, -0.0, -7.3])
TEXTS = some.text("aabb▁ é \x01c½", max_size=12)
TYPES = some.sampled_from([NORMAL, NORMAL, NORMAL, NORMAL, USER_DEFINED])
PIECES = some.lists(some.builds(Piece, some.text("ab▁é", min_size=1, max_size=3), SCORES, TYPES), min_size=1, max_size=6)
SPACES = some.builds(Spaces, some.booleans(), some.booleans(), some.sampled_from([True, True, False]))
STRINGS = some.text("ab \x01é½c", min_size=1, max_size=2)
REPLACEMENTS = some.dictionaries(STRINGS, some.sampled_from(["", "a", "b ", " ", "ab", " é", "½"]), max_size=3)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("is_suffix", [False, True])
@pytest.mark.parametrize("kind", KINDS.values())
@examples(400)
@given(PIECES, SPACES, REPLACEMENTS, some.booleans(), some.lists(TEXTS, max_size=6))
def test_small_models(
    kind: str, is_suffix: bool, pieces: list[Piece], spaces: Spaces, replacements: dict[str, str], byte_fallback: bool, texts: list[str]
) -> None:
    """With any pieces, normalizer and texts, ids, offsets and decoded texts equal those of `sentencepiece` and of the naive
    implementations.
    """
    every = [UNK, *{piece.text: piece for piece in [*CHARS, *pieces]}.values(), *(ALL_BYTES * byte_fallback)]
    data = model_of(every, kind, spaces, replacements, byte_fallback=byte_fallback, treat_whitespace_as_suffix=is_suffix)
    try:
        made = both(data)
    except UnsupportedError as error:
        assert any(reason in str(error) for reason in ("score", "two adjacent spaces")), error  # noqa: PT017
        return
    hold(made, texts)
    own = [piece.text for piece in every if piece.type == USER_DEFINED]
    for text in texts:
        normal, begins = defined.normal_text(text, charsmap=replacements, own=own, is_suffix=is_suffix, **spaces._asdict())
        assert (normal, begins) == made.of.normalize(text, with_offsets=True), text
        assert made.table.run(text) == defined.sentencepiece(every, kind, normal, byte_fallback=byte_fallback)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", KINDS.values())
def test_self_test_data(kind: str) -> None:
    """The data for self-tests in older models is ignored, as in `sentencepiece`."""
    sample_ = b"\x0a\x02ab\x12\x05wrong"
    data = model_of([UNK, *CHARS, Piece("ab", -1)], kind) + b"\x22" + bytes([len(sample_) + 2]) + b"\x0a" + bytes([len(sample_)]) + sample_
    hold(both(data), ["ab ab", " a▁b é", ""])


@each_real
@needs_shared
def test_texts_by_real_models(name: str) -> None:
    """With real models, texts with spaces anywhere, dropped characters and unknown characters get the same ids as in `sentencepiece`."""
    texts = ["", " ", "Hello  world ", " ▁ a▁", "日本語🙂é ﬁ½", "a\x00\x01 \x01b", "  \x01a", "a \ufffd" + " " * 40 + "b", "\u200b"]
    hold(real(name), texts)


CONTEXTS = ("{}", "a{}b", " {} ", "{0}{0} e{0}\u0301")

@each_real
@needs_shared
def test_every_code_point(name: str) -> None:
    """With real models, every character, alone, repeated, and between letters or spaces, gets the same ids as in `sentencepiece`."""
    made = real(name)
    for chars in (sample(swept_characters(), 800, name), EVERY_CHARACTER[:0x300], EVERY_CHARACTER[0x2000:0x2100]):
        for context in CONTEXTS:
            texts = [context.format(char) for char in chars]
            batch, expected = made.tokenizer.encode_batch(texts), made.of.encode(texts)
            assert batch.row_splits.tolist() == [0, *accumulate(map(len, expected))]
            assert batch.ids.tolist() == [number for ids in expected for number in ids]


# Tied scores.

TIED = some.dictionaries(some.text("ab", min_size=2, max_size=5), some.sampled_from([-1.0, -2.0, -3.0]), min_size=2, max_size=8)


@examples(400)
@given(TIED, some.lists(some.text("aab", max_size=14), min_size=3, max_size=6))
def test_tied_scores(scores: dict[str, float], texts: list[str]) -> None:
    """If scores are tied, the leftmost pair merges first, as in `sentencepiece`, or the model is refused with the names of two pieces."""
    every = [UNK, Piece("a", -9), Piece("b", -9), *(Piece(*piece) for piece in scores.items())]
    try:
        made = both(model_of(every, "bpe", Spaces(add_dummy_prefix=False)))
    except UnsupportedError as error:
        reasons = "and '[ab]*' have the same score|has the part '[ab]*', whose score is neither higher nor unique"
        assert re.search(f"pieces? '[ab]*' ({reasons})", str(error))  # noqa: PT017
        return
    hold(made, texts)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("sizes", [(2, 4, 8, 5, 16, 6, 12, 13, 10, 14, 3, 9, 7, 11), range(2, 32), (2, 3, 5, 8)])
def test_runs_of_one_score(sizes: Sequence[int]) -> None:
    """If all pieces for runs of spaces have the same score, as in Mistral's model, runs of any length get the same ids as in
    `sentencepiece`.
    """
    every = [UNK, Piece("▁", -5), Piece("x", -5), Piece("▁x", -1), *(Piece("▁" * size, -1e9) for size in sizes), *ALL_BYTES]
    made = both(model_of(every, "bpe", Spaces(remove_extra_whitespaces=False), byte_fallback=True))
    hold(made, [" " * count + end for count in range(100) for end in ("", "x")])
    assert isinstance(made.table, BpeTable)
    assert made.table.has_automaton == (16 in sizes and 15 not in sizes)


# Batches, streams and columns


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", ["bpe", "unigram", "word"])
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("is_suffix", [True, False])
def test_every_way_through_the_package(kind: str, byte_fallback: bool, is_suffix: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any type of text, any number of threads and any cuts of streams, the kernel gives the same ids as the walk."""
    words = [Piece(text, -place / 7) for place, text in enumerate(["▁a", "ab", "▁b", "é▁", "▁ab", "bb", "▁▁"], 3)]
    own = [Piece("<x>", 0, USER_DEFINED), Piece("b▁", 0, USER_DEFINED)]
    every = [UNK, *CHARS, *words, *own, *ALL_BYTES * byte_fallback]
    options: dict[str, Any] = {"byte_fallback": byte_fallback, "treat_whitespace_as_suffix": is_suffix}
    data = model_of(every, kind, replacements={"½": "a b", "\x01": "", "\u3000": " "}, **options)
    made, draw = both(data), random.Random(kind)
    bits = ["a", "b", "ab", " ", "  ", "é", "½", "\x01", "\u3000", "▁", "<x>", "b ", "漢", "\x00"]
    texts = ["".join(draw.choices(bits, k=draw.choice((1, 3, 10, 40)))) for _ in range(10)]
    texts += [" ", "  \x01", "\x01 ", "\u3000" * 3]  # texts that normalization reduces to spaces or to nothing
    hold(made, texts)
    hold_every_way(made.tokenizer, texts, made.of.encode(texts), draw)
    for text in sample(texts, 6):
        hold_in_pieces(made.tokenizer, text * 9, draw.choice((4, 16, 64)), monkeypatch)


RUN = "x" * 30 + " é"  # unknown words


@pytest.mark.slow
@pytest.mark.parametrize("byte_fallback", [True, False])
def test_runs_of_unknown_words(byte_fallback: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of unknown words, of any length and with any cuts of streams, becomes either a single id or the ids of its bytes."""
    words = [Piece(text, -1) for text in ("▁a", "b", "▁" + "long" * 20, "▁" + "long" * 300)]
    made = both(model_of([UNK, *words, *ALL_BYTES * byte_fallback], "word", Spaces(False, False), byte_fallback=byte_fallback))
    runs = [" " * 9_000, (RUN + " ") * 1_500, "long" * 5_000, " " + "long" * 300, " é" * 4_096, " a" * 4_096]
    texts = ["b".join(runs), " a".join(runs), " a " + runs[1], *runs, "b" + runs[0]]
    hold(made, texts)
    draw = random.Random(byte_fallback)
    hold_every_way(made.tokenizer, texts[-3:], made.of.encode(texts[-3:]), draw)
    for size in (1 << 8, 1 << 12):
        hold_in_pieces(made.tokenizer, texts[1], size, monkeypatch)


def test_streams_decode_as_sentencepiece() -> None:
    """Ids that are decoded one by one give the same text as all ids together, even if their bytes are not valid UTF-8."""
    draw = random.Random(1)
    for spaces in (Spaces(), Spaces(remove_extra_whitespaces=False), Spaces(False, False)):
        made = both(model_of([UNK, *CHARS, *ALL_BYTES, Piece("<s>", 0, CONTROL)], "bpe", spaces, byte_fallback=True))
        numbers = [*range(7), 262, *(made.of.piece_to_id(f"<0x{byte:02X}>") for byte in "é漢🙂".encode() + b"\xff\x80\xed\xa0\xc3")]
        for _ in range(100):
            ids, stream = draw.choices(numbers, k=draw.randrange(12)), made.tokenizer.decode_stream(skip_special_tokens=True)
            assert "".join([*(stream.write([number]) for number in ids), stream.close()]) == made.of.decode(ids), ids
            assert made.tokenizer.decode_batch([ids, ids]) == [made.of.decode(ids)] * 2, ids


# Files.


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["x.model", "x.model.gz", "spiece.model", "download"])
def test_files_and_folders(name: str, tmp_path: Path) -> None:
    """A model file is read whatever its name, even if it is compressed, and so is a folder with a model; the table contains the name of
    the reference library.
    """
    data = model_of([UNK, *CHARS, Piece("▁a", -1)], "bpe")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    for source in [tmp_path / name, *([tmp_path] if "model" in name else [])]:
        table: Any = fst.compile.tokenizer(source)
        assert table.metadata.text.reference == "sentencepiece 0.2.3"
        assert table.run("a b") == sentencepiece.SentencePieceProcessor(model_proto=data).encode("a b")


def test_commands(tmp_path: Path) -> None:
    """`fst compile`, `fst info` and `fst verify` accept SentencePiece models."""
    of, other, text = tmp_path / "x.model", tmp_path / "y.model", tmp_path / "text.txt"
    of.write_bytes(model_of([UNK, *CHARS, Piece("▁a", -1)], "bpe"))
    other.write_bytes(model_of([UNK, *CHARS, Piece("▁a", -1)], "char"))
    text.write_text("a b\né a\n", encoding="utf-8")
    table = str(tmp_path / "x.npz")
    run = CliRunner().invoke
    assert run(main, ["compile", str(of), "-o", table]).exit_code == 0
    assert json.loads(run(main, ["info", "--json", table]).output)["reference"] == "sentencepiece 0.2.3"
    assert "all with the ids of the reference" in run(main, ["verify", table, "--against", str(of), str(text)]).output
    found = run(main, ["verify", table, "--against", str(other), str(text)])
    assert found.exit_code == 1
    assert "'a b'" in found.output


def test_tokenizers_has_no_such_tokenizer(tmp_path: Path) -> None:
    """A table of a SentencePiece model can replace a tokenizer of `transformers`, but cannot be saved as a tokenizer.json."""
    pytest.importorskip("transformers")
    made = both(model_of([UNK, *CHARS, Piece("▁a", -1)], "bpe"))
    found = fst.hf(made.tokenizer)
    assert found("a b")["input_ids"] == made.of.encode("a b")
    with pytest.raises(UnsupportedError, match=r"has no tokenizer\.json"):
        found.save_pretrained(tmp_path)


# Refusals.

NESTED = [Piece("a" * size, 0, USER_DEFINED) for size in range(2, 67)]
REFUSED: list[tuple[list[Piece], str, dict[str, Any], str]] = [
    ([], "bpe", {"unk_surface": ""}, "unk_surface ''"),
    ([Piece("ab", -1, UNUSED)], "bpe", {}, "piece 'ab' is of type UNUSED, and merges may make it"),
    ([Piece("ac", -1)], "bpe", {}, "merges may make piece 'ac' of 'c', which is not a piece"),
    ([Piece("ab", -1), Piece("ba", -1)], "bpe", {}, "pieces 'ab' and 'ba' have the same score, and each may overlap the other"),
    ([Piece("ab", -1), Piece("bb", -1), Piece("abb", -1)], "bpe", {}, "piece 'abb' has the part 'ab', whose score is neither higher"),
    ([Piece("a  ", 0, USER_DEFINED)], "bpe", {}, "the user-defined piece 'a  ' has two adjacent spaces"),
    (NESTED, "bpe", {}, "more than 64 user-defined pieces begin each other"),
    ([*ALL_BYTES, Piece("<0xab>", 0)], "bpe", {"byte_fallback": True}, "piece '<0xab>' with byte_fallback, which looks like one of"),
]


@pytest.mark.parametrize(("pieces", "kind", "trainer", "message"), REFUSED)
def test_refusals(pieces: list[Piece], kind: str, trainer: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A feature that cannot be compiled exactly is refused; the message begins with the file and contains the feature."""
    path = tmp_path / "x.model"
    path.write_bytes(model_of([UNK, *CHARS, *pieces], kind, **trainer))
    with pytest.raises(UnsupportedError, match=rf"^{path}: {message}"):
        fst.compile.tokenizer(path)


@pytest.mark.parametrize("kind", KINDS.values())
def test_pieces_that_no_text_has_are_refused(kind: str) -> None:
    """A model is refused if none of its pieces can occur in a text."""
    with pytest.raises(fst.VocabularyError, match="of the model can be in a text"):
        both(model_of([UNK, Piece("<s>", 0, CONTROL), Piece("a", 0, UNUSED)], kind))


def test_blanks_need_a_piece_beside_bytes() -> None:
    """A model with byte_fallback is refused if it does not have the piece ▁."""
    for kind in ("bpe", "unigram"):
        with pytest.raises(UnsupportedError, match="byte_fallback, and '▁', which represents a space"):
            both(model_of([UNK, Piece("a", -1), *ALL_BYTES], kind, byte_fallback=True))


OWN = ["<x>", "<x", "ê", "ｱ", "①②", "\u0301", "日本", "<mask>"]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", KINDS.values())
def test_own_pieces_beside_a_large_charsmap(kind: str) -> None:
    """With the default charsmap of `sentencepiece`, which has 225,000 strings, user-defined pieces are found at the same positions as in
    `sentencepiece`.
    """
    rules = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
    data = model_of([UNK, *CHARS, *(Piece(own, 0, USER_DEFINED) for own in OWN)], kind)
    made, normal = map(sentencepiece_model_pb2.ModelProto.FromString, (data, rules))
    made.normalizer_spec.precompiled_charsmap = normal.normalizer_spec.precompiled_charsmap
    draw = random.Random(kind)
    parts = [*OWN, "a", "b", " ", "<", ">", "x", "e", "\u0338", "\u0301", "ﾞ", "①", "②", "ｱﾞ", "½", "日", "≮", "\u200b", "\u3000"]
    hold(both(made.SerializeToString()), ["".join(draw.choices(parts, k=draw.randrange(12))) for _ in range(200)])


def test_other_kinds_and_options_are_refused(tmp_path: Path) -> None:
    """A SentencePiece model is refused by the functions for other kinds of models, and if options are passed."""
    path = tmp_path / "x.model"
    path.write_bytes(model_of([UNK, *CHARS], "bpe"))
    assert fst.compile.bpe(path).run("ab")
    wrong: list[tuple[Any, dict[str, Any], str]] = [(fst.compile.wordpiece, {}, "model BPE")]
    for compiler, options, message in [*wrong, (fst.compile.tokenizer, {"lowercase": True}, "lowercase: ")]:
        with pytest.raises(UnsupportedError, match=message):
            compiler(path, **options)


WHOLE = model_of(
    [UNK, Piece("<s>", 0, CONTROL), *CHARS, Piece("ab", -1), Piece("<x>", 0, USER_DEFINED)], "bpe", replacements={"ab": "é", "½": "a b"}
)


@given(some.lists(some.tuples(some.integers(0, len(WHOLE) - 1), some.integers(0, 255)), max_size=4), some.integers(0, len(WHOLE)))
@examples(1_000, deadline=None)
def test_damaged_models_are_refused_or_sound(damage: list[tuple[int, int]], size: int) -> None:
    """A model with changed bytes is refused, or gives the same ids as `sentencepiece`."""
    data = bytearray(WHOLE)
    for place, byte in damage:
        data[place] = byte
    for one in (bytes(data), bytes(data[:size])):
        try:
            made = both(one)
        except fst.FstError:
            continue
        except RuntimeError as error:  # raised by `sentencepiece`, which also refuses some charsmaps that are safe for this package
            assert "precompiled_charsmap is invalid" in str(error)  # noqa: PT017
            continue
        texts = ["ab ½  é<x>", "\x00", ""]
        assert made.tokenizer.encode_batch(texts).ids.tolist() == [number for text in texts for number in made.of.encode(text)]


# Cases from the tests of other projects


def oracle_rows() -> Iterator[Any]:
    """Yield the recorded rows for SentencePiece models."""
    for path in ORACLES:
        for number, row in enumerate(map(json.loads, path.read_text(encoding="utf-8").splitlines())):
            if row["config"].get("format") == "spm" or (isinstance(row["vocab"], dict) and "sentencepiece" in row["vocab"]):
                yield pytest.param(row, id=f"{path.stem}/{number}")


def inline(row: Any) -> Both:
    """Load the model of a row, which lists only its control pieces and the pieces that are not of type "normal", in both libraries."""
    stated, types = row["vocab"]["sentencepiece"], {"user_defined": USER_DEFINED, "unused": UNUSED}
    pieces = [Piece(name, 0, UNKNOWN if name == "<unk>" else CONTROL) for name in stated["control"]]
    pieces += [Piece(name, score, types.get(stated["types"].get(name), NORMAL)) for name, score in stated["pieces"]]
    return both(model_of(pieces, stated["model_type"], Spaces(False, False)))


@needs_shared
@pytest.mark.parametrize("row", [*oracle_rows()])
def test_rows_of_other_projects(row: Any) -> None:
    """The ids equal those that another project's test expects, or else those of `sentencepiece`."""
    if not isinstance(row["vocab"], str):
        try:
            made = inline(row)
        except UnsupportedError as error:
            pytest.skip(str(error))
        pieces = [*map(made.of.id_to_piece, made.of.encode(row["input"]))]
        assert [*map(made.of.id_to_piece, made.tokenizer.encode(row["input"]).tolist())] == pieces
        return
    (path,) = (SHARED / row["vocab"]).glob("*.model")
    made = real(str(path.relative_to(SHARED)))
    bos = [made.of.bos_id()] * row["config"].get("add_bos", False)
    assert [*bos, *made.tokenizer.encode(row["input"]).tolist()] == (row["expected"] if row["ref_agrees"] else row["ref_output"])
