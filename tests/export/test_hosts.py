"""Exported tables in C and in JavaScript give the same results as Python."""

from __future__ import annotations

import ctypes
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.hosts import C, FstError, in_utf_16, needs_c, needs_node, node
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.cli.commands.export.command import exported
from fst.compile import keywords
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.machines.wordpiece.tokenizer import WordPieceTokenizer
from fst.runtime.pretokens.tokenizer import PretokenTokenizer

pytestmark = [pytest.mark.slow, needs_shared]

# One table for each kind of kernel; the texts of T5 are rewritten first.
SOURCES = {"bpe": "vocab_bpe/gpt2", "unigram": "vocab_unigram/t5", "wordpiece": "vocab/bert-base-uncased"}
IMAGE, ABI, TEXT, LONG = -1, -2, -4, -5  # errors of fst.h
ODD = (
    "", " ", "a", "\ufeff a\u0301 \u1e9b\u0323", "<|endoftext|> [MASK] <s></s>", " " * 70, "é" * 99, "😀" * 33 + "x",
    "\u212b \uac00\u1100\u1161", "x" * 5000, "\0", "\U0010ffff\ud7ff\ue000", "don't\r\n\t 1234567",
)  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Odd texts, and lines of all corpora."""
    lines = [line for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")]
    return [*ODD, *sample(random.Random(34).sample(lines, 1500), 3)]


class Machine(NamedTuple):
    """A tokenizer, and the folders of its exports to C and to JavaScript."""

    tok: fst.Tokenizer
    c: Path
    js: Path


@pytest.fixture(scope="module", params=SOURCES)
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A tokenizer and its exports. JavaScript runs the small table, and C the table with all parts."""
    folder = tmp_path_factory.mktemp(request.param)
    table = tokenizer(SHARED / SOURCES[request.param])
    table.save(folder / "table.npz")
    written = {}
    for kind, layout in (("c", "full"), ("wasm", "small")):
        written[kind] = folder / kind
        written[kind].mkdir()
        for name, data in exported(folder / "table.npz", [kind], layout=layout).items():
            (written[kind] / name).write_bytes(data)
    return Machine(fst.Tokenizer(table), written["c"], written["wasm"])


@needs_c
def test_c_has_the_ids_and_the_spans_of_python(machine: Machine, texts: list[str]) -> None:
    """In C, the ids of a text and their spans in bytes are those of Python."""
    tok = machine.tok
    host, expected = C(machine.c), tok.encode_batch(texts, offsets="bytes")
    assert expected.offsets is not None
    spans = [expected.offsets[begin:end].tolist() for begin, end in zip(expected.row_splits, expected.row_splits[1:], strict=False)]
    for text, ids, span in zip(texts, expected, spans, strict=True):
        assert host.encode(text.encode()).tolist() == ids.tolist()
        assert host.encode_offsets(text.encode()) == (ids.tolist(), span)


@needs_node
def test_javascript_has_the_ids_and_the_spans_of_python(machine: Machine, texts: list[str]) -> None:
    """In JavaScript, the ids of a text and their spans in units of UTF-16 are those of Python."""
    tok = machine.tok
    expected = tok.encode_batch(texts, offsets=True)
    found = node(machine.js, [["encodeWithOffsets", text] for text in texts] + [["path", "a"], ["encodeBatch", texts]])
    batch, path = found.pop(), found.pop()
    assert (path is None) == isinstance(tok, PretokenTokenizer)  # BPE and Unigram of the layout small have no automaton
    assert (batch["ids"], batch["rowSplits"]) == (expected.ids.tolist(), expected.row_splits.tolist())
    assert expected.offsets is not None
    for place, (text, answer) in enumerate(zip(texts, found, strict=True)):
        row = slice(expected.row_splits[place], expected.row_splits[place + 1])
        assert answer == {"ids": expected.ids[row].tolist(), "offsets": in_utf_16(text, expected.offsets[row].ravel().tolist())}


@needs_c
@needs_node
def test_spans_are_trimmed(tmp_path: Path, texts: list[str]) -> None:
    """For RoBERTa, spans exclude the spaces at the ends of tokens, as in Python."""
    table = tokenizer(SHARED / "vocab_bpe/roberta")
    table.save(tmp_path / "roberta.npz")
    for name, data in exported(tmp_path / "roberta.npz", ["wasm", "c"]).items():
        (tmp_path / name).write_bytes(data)
    tok, host, some = fst.Tokenizer(table), C(tmp_path), [" a  b ", *texts[:400]]
    found = node(tmp_path, [["encodeWithOffsets", text] for text in some])
    for text, answer in zip(some, found, strict=True):
        characters, octets = (tok.encode_batch([text], offsets=unit).offsets for unit in ("chars", "bytes"))
        assert characters is not None
        assert octets is not None
        assert host.encode_offsets(text.encode())[1] == octets.tolist()
        assert answer["offsets"] == in_utf_16(text, characters.ravel().tolist())


@needs_c
@needs_node
@pytest.mark.parametrize("skip", [True, False])
def test_decoded_texts_are_those_of_python(machine: Machine, texts: list[str], skip: bool) -> None:
    """Ids of texts and random ids, some without a token, decode as in Python: in JavaScript to the text, in C to the bytes."""
    tok = machine.tok
    draw = random.Random(7)
    rows = [[draw.randrange(len(tok) + 3) for _ in range(draw.randrange(9))] for _ in range(2000)]
    rows += [ids.tolist() for ids in tok.encode_batch(texts)]
    expected = [tok.decode(ids, skip_special_tokens=skip) for ids in rows]
    assert node(machine.js, [["decode", ids, {"skipSpecialTokens": skip}] for ids in rows]) == expected
    host = C(machine.c)
    for ids, text in zip(rows, expected, strict=True):
        data = host.decode(ids, skip)
        assert data == text.encode() or "\ufffd" in text


def cut(text: Any, draw: random.Random) -> list[Any]:
    """Cut a text or bytes into parts at random places."""
    places = sorted(draw.randrange(len(text) + 1) for _ in range(draw.randrange(1, 20)))
    return [text[begin:end] for begin, end in pairwise([0, *places, len(text)])]


@needs_c
@needs_node
def test_streams_have_the_ids_of_whole_texts(machine: Machine, texts: list[str]) -> None:
    """Wherever a text is cut, even inside a character, a stream gives the ids of the whole text."""
    draw = random.Random(8)
    longer = [*texts, "\n".join(texts[20:400]), "x" * 200_000]
    expected = [ids.tolist() for ids in machine.tok.encode_batch(longer)]
    host = C(machine.c)
    for text, ids in zip(longer, expected, strict=True):
        assert host.stream(cut(text.encode(), draw)) == ids
    units = [text.encode("utf-16-le") for text in longer]
    parts = [[part.decode("utf-16-le", "surrogatepass") for part in halves(data, draw)] for data in units]
    assert [[*chain(*answer)] for answer in node(machine.js, [["stream", each] for each in parts])] == expected


def halves(data: bytes, draw: random.Random) -> list[bytes]:
    """Cut UTF-16 into parts, also between surrogates."""
    size = len(data) // 2
    places = sorted(draw.randrange(size + 1) for _ in range(9))
    return [data[2 * begin : 2 * end] for begin, end in pairwise([0, *places, size])]


@needs_node
def test_decoded_streams_are_those_of_python(machine: Machine, texts: list[str]) -> None:
    """Ids that arrive in parts decode to the text of Python's stream, or for WordPiece, which has no stream, to the text of all ids."""
    tok, draw = machine.tok, random.Random(9)
    rows = [[draw.randrange(len(tok) + 3) for _ in range(draw.randrange(30))] for _ in range(500)]
    rows += [ids.tolist() for ids in tok.encode_batch(texts[:300])]
    parts = [cut(row, draw) for row in rows]
    found = node(machine.js, [["decodeStream", each] for each in parts])
    for each, answer in zip(parts, found, strict=True):
        if isinstance(tok, WordPieceTokenizer):
            assert "".join(answer) == tok.decode([*chain(*each)])
            continue
        stream = tok.decode_stream()
        assert answer[:-1] == [stream.write(part) for part in each]
        assert answer[-1] == stream.close()


@needs_c
@pytest.mark.parametrize("skip", [True, False])
def test_c_decodes_parts(machine: Machine, texts: list[str], skip: bool) -> None:
    """In C, ids that arrive in parts decode to the bytes of all ids; a part for which there is too little memory has no effect."""
    host, draw, tok = C(machine.c), random.Random(10), machine.tok
    rows = [[draw.randrange(-1, len(tok) + 3) for _ in range(draw.randrange(30))] for _ in range(500)]
    for row in (*rows, *(ids.tolist() for ids in tok.encode_batch(texts[:300]))):
        assert host.decode_stream(cut(row, draw), skip) == host.decode(row, skip)


@needs_c
def test_long_words_wait(machine: Machine) -> None:
    """In C, a word of a kilobyte or more is read again when it has doubled, or at an empty part, with the ids of the whole text."""
    host, tok = C(machine.c), machine.tok
    text = "a" * 3000 + " b c d e" + "é" * 9000 + " f" * 9000
    parts = [text[at : at + 7].encode() for at in range(0, len(text), 7)]
    assert host.stream([part for part in parts for part in (part, b"")]) == host.stream(parts) == tok.encode(text).tolist()
    if isinstance(tok, BpeTokenizer):
        first = host.library.fst_stream_push(host.work, b"a" * 2000, ctypes.c_size_t(2000), None)
        later = [host.library.fst_stream_push(host.work, part, ctypes.c_size_t(len(part)), None) for part in (b" b c", b"")]
        end = host.library.fst_stream_end(host.work, None)
        assert [first, *later, end] == [0, 0, len(tok.encode("a" * 2000 + " b")), 1]


@needs_node
def test_long_words_wait_in_javascript(machine: Machine) -> None:
    """In JavaScript, a word of 1024 units or more is read again when it has doubled, in growing memory, with the ids of the whole text."""
    tok, text = machine.tok, "a" * 3000 + " b c d e" + "é" * 9000 + " f" * 9000
    parts = [text[at : at + 7] for at in range(0, len(text), 7)]
    long = ["a" * 2000, " b c", "d" * 2000]
    huge = ["x" * 4096] * 128
    found = node(machine.js, [["stream", each] for each in (parts, long, huge, parts)])
    expected = [tok.encode("".join(each)).tolist() for each in (parts, long, huge, parts)]
    assert [[*chain(*answer)] for answer in found] == expected
    if isinstance(tok, BpeTokenizer):
        begin = len(tok.encode("a" * 2000 + " b"))
        assert found[1] == [[], [], expected[1][:begin], expected[1][begin:]]


@needs_c
def test_pointers_may_be_null(machine: Machine) -> None:
    """An empty text may be NULL, and so may the pointers to results and errors; an image at an odd address is refused."""
    host, none, empty = C(machine.c), None, machine.tok.encode("")
    library, zero = host.library, ctypes.c_size_t(0)
    assert library.fst_encode(host.work, none, zero, none) == len(empty)
    assert library.fst_encode_offsets(host.work, none, zero, none, none) == len(empty)
    assert library.fst_stream_push(host.work, none, zero, none) + library.fst_stream_end(host.work, none) == len(empty)
    assert library.fst_decode(host.table, none, zero, 1, none, zero) == 0
    assert not library.fst_load(none, zero, none)
    assert not library.fst_load(ctypes.c_void_p(host.memory.ctypes.data + 1), ctypes.c_size_t(host.memory.nbytes - 8), none)


@needs_c
def test_parts_that_are_refused_can_be_smaller(machine: Machine) -> None:
    """A part that is too long is not read, and a shorter part continues the text; after malformed text, a new text begins."""
    host, tok = C(machine.c, most=300), machine.tok
    assert host.stream([b"abc def " * 15] * 9) == tok.encode("abc def " * 135).tolist()
    push = host.library.fst_stream_push
    first = push(host.work, b"un", ctypes.c_size_t(2), None)
    assert push(host.work, b"x" * 400, ctypes.c_size_t(400), None) == LONG
    assert host.stream([b"known "]) == tok.encode("unknown ").tolist()[first:]
    assert push(host.work, b"a\xff", ctypes.c_size_t(2), None) == TEXT
    assert host.stream([b"b"]) == tok.encode("b").tolist()


@needs_c
def test_c_refuses_what_it_cannot_read(machine: Machine) -> None:
    """Text that is not UTF-8 and text that is too long are errors, and the next text is encoded as if nothing had happened."""
    tok, host = machine.tok, C(machine.c, most=100)
    malformed = (b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"abcdefgh\x80", b"\xe2\x82")
    for text, error in [*((text, TEXT) for text in malformed), (b"a" * 101, LONG)]:
        with pytest.raises(FstError, match=str(error)):
            host.encode(text)
    assert host.encode(b"a" * 100).tolist() == tok.encode("a" * 100).tolist()


@needs_node
def test_javascript_replaces_lone_surrogates(machine: Machine) -> None:
    """In JavaScript, a lone surrogate is read as U+FFFD."""
    texts = ["a\ud800b", "\udc00", "\ude00\ud83d", "x\ud83d"]
    expected = [ids.tolist() for ids in machine.tok.encode_batch(texts, errors="replace")]
    assert node(machine.js, [["encode", text] for text in texts]) == expected


@needs_c
def test_threads_share_a_table(machine: Machine, texts: list[str]) -> None:
    """Two threads with one table, each with its own working memory, find the same ids as Python."""
    tok, host = machine.tok, C(machine.c)
    expected = [ids.tolist() for ids in tok.encode_batch(texts)]

    def run(work: Any) -> list[list[int]]:
        return [host.encode(text.encode(), work).tolist() for text in texts]

    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(run, [host.work, host.new_work(1 << 20)])] == [expected, expected]


@needs_c
def test_damaged_images_are_refused(machine: Machine) -> None:
    """An image with a changed byte, of another size, or of another program is refused."""
    host = C(machine.c)
    data, size, draw = host.memory.view("u1"), host.memory.nbytes, random.Random(5)
    for place in [*range(64), *(draw.randrange(size) for _ in range(40))]:
        before = data[place]
        data[place] ^= 1 << draw.randrange(8)
        with pytest.raises(FstError):
            host.load(data.ctypes.data, size)
        data[place] = before
    for wrong in (0, 8, size - 8):
        with pytest.raises(FstError, match=str(IMAGE)):
            host.load(data.ctypes.data, wrong)
    host.load(data.ctypes.data, size)


@needs_c
@needs_node
def test_keywords_are_found(tmp_path: Path, texts: list[str]) -> None:
    """For keywords, ids are the numbers of keywords, and spans are the positions of matches."""
    words = ["the", "he", "and", "Kaffee", "日本", "é", "in der"]
    table = keywords(words)
    table.save(tmp_path / "words.npz")
    for name, data in exported(tmp_path / "words.npz", ["wasm", "c"]).items():
        (tmp_path / name).write_bytes(data)
    host, searcher = C(tmp_path), fst.Searcher(table)
    expected = searcher.find_batch(texts, offsets="bytes")
    for text, matches in zip(texts, expected, strict=True):
        assert host.encode_offsets(text.encode()) == ([match.id for match in matches], [[match.start, match.end] for match in matches])
    answers = node(tmp_path, [["encodeWithOffsets", text] for text in texts])
    assert [answer["ids"] for answer in answers] == [[match.id for match in matches] for matches in expected]
    draw = random.Random(12)
    assert [host.stream(cut(text.encode(), draw)) for text in texts] == [answer["ids"] for answer in answers]
