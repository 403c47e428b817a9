"""A stream gives a text that is cut anywhere the same ids, spans and words as one call, and returns each id as soon as it is certain.

Streams are compared with one call for the entire text, and with `tokenizers`.
"""

from __future__ import annotations

import functools
import json
import random
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import assemble, wordpiece
from support.machines.documents import ADDED, TOKENS, source_with
from support.runtime.streams import HOSTILE, MACHINES, NOT_TEXT, Found, Piece, cut, hostile, made, whole
from support.shared_data import SHARED, needs_shared
from support.text.components import document, mixtures, small_vocabulary
from support.text.normalizers import machine
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer as Reference

import fst
from fst.compile import keywords, lattice
from fst.core.jit import Deferred
from fst.runtime import stream as streams
from fst.runtime.machines.segmentation.segmenter import PendingBlock
from fst.runtime.pretokens.pending import PendingPretoken
from fst.runtime.run import kernel_of
from fst.runtime.text.normalizer import PendingBorder, TextNormalizer
from fst.tables.kernel_call import IdsOutput, SpansOutput

REAL = ("bert-base-uncased", "bert-base-multilingual-cased")

each_machine = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if number % 2 else []) for number, name in enumerate(MACHINES)]
)
each_real = pytest.mark.parametrize("name", REAL)


@functools.cache
def real(name: str) -> fst.Tokenizer:
    """Make the tokenizer of a real vocabulary."""
    return fst.Tokenizer(wordpiece(SHARED / "vocab" / name / "tokenizer.json"))


def streamed(tok: fst.Tokenizer, pieces: Sequence[Piece], is_read: Iterator[bool] | None = None, **options: Any) -> Found:
    """Write parts to a stream, and read after each or some; a second stream without offsets must give the same ids."""
    stream, plain = tok.stream(offsets=True, **options), tok.stream(**options)
    parts = []
    for piece in pieces:
        stream.write(piece)
        plain.write(piece)
        if is_read is None or next(is_read):
            parts.append(stream.read())
            assert plain.read().ids.tolist() == parts[-1].ids.tolist()
    parts.append(stream.close())
    assert plain.close().ids.tolist() == parts[-1].ids.tolist()
    ids, offsets, words = ([getattr(part, name) for part in parts] for name in ("ids", "offsets", "words"))
    assert {array.dtype for array in ids} == {np.dtype(np.int32)}
    assert {array.dtype for array in offsets + words} == {np.dtype(np.int64)}
    return np.concatenate(ids).tolist(), np.concatenate(offsets).tolist(), np.concatenate(words).tolist()


def check_each_cut(tok: fst.Tokenizer, text: str) -> None:
    """Check a text that is cut in two at every byte, and in three at many pairs of bytes."""
    data, expected = text.encode(), whole(tok, text)
    for place in sample(range(len(data) + 1), 42):
        assert streamed(tok, cut(data, [place])) == expected, place
    draw = random.Random(len(data))
    some = draw.sample(range(len(data)), 8)
    for pair in sample([*product(some, some)], 10):
        assert streamed(tok, cut(data, pair)) == expected, pair


@pytest.mark.mostly_slow
@each_machine
def test_every_cut(name: str) -> None:
    """A hostile text that is cut anywhere, even inside a character, gets the same ids, positions and words as in one call."""
    check_each_cut(made(name), hostile(1))


@needs_shared
@each_real
def test_every_cut_real(name: str) -> None:
    """With real vocabularies, a hostile text that is cut anywhere gets the same ids, positions and words as in one call."""
    check_each_cut(real(name), hostile(2))


@needs_shared
@each_real
def test_ids_of_the_reference(name: str) -> None:
    """A hostile text in small parts gets the same ids as in `tokenizers`."""
    reference = Reference.from_file(str(SHARED / "vocab" / name / "tokenizer.json"))
    for seed in range(3, 13):
        text = hostile(seed)
        ids, _, _ = streamed(real(name), cut(text, range(7, len(text), 7)))
        assert ids == reference.encode(text).ids


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), thinned(product(MACHINES, (1, 2, 5, 64)), 8))
def test_small_pieces(name: str, size: int) -> None:
    """Parts of a few characters or bytes give the same results as one call, with a read after each part or only at the end."""
    text = hostile(13)
    expected = whole(made(name), text)
    for data in (text, text.encode()):
        pieces = cut(data, range(size, len(data), size))
        assert streamed(made(name), pieces) == expected
        assert streamed(made(name), pieces, iter(lambda: False, True)) == expected


@pytest.mark.mostly_slow
@each_machine
@examples(100)
@given(seed=st.integers(0, 2**32 - 1), pieces=st.lists(st.sampled_from(HOSTILE), max_size=60), are_bytes=st.booleans())
def test_any_cuts(name: str, seed: int, pieces: list[str], are_bytes: bool) -> None:
    """Any text, with any cuts and reads, gets the same ids, positions and words as in one call, with and without special tokens."""
    draw = random.Random(seed)
    text = "".join(pieces)
    data = text.encode() if are_bytes else text
    places = [draw.randint(0, len(data)) for _ in range(draw.randint(0, 12))]
    is_read = (draw.random() < 0.5 for _ in iter(int, 1))
    for add_special_tokens in (True, False):
        found = streamed(made(name), cut(data, places), is_read, add_special_tokens=add_special_tokens)
        assert found == whole(made(name), text, add_special_tokens=add_special_tokens)


@pytest.mark.slow
@pytest.mark.parametrize("block", thinned([1, 2, 7, 64], 4))
def test_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids do not depend on how much text is encoded at a time."""
    monkeypatch.setattr(streams, "STREAM_BLOCK", block)
    for name in MACHINES:
        text = hostile(14)
        assert streamed(made(name), [text.encode()]) == streamed(made(name), [text]) == whole(made(name), text)


@pytest.mark.slow
def test_pieces_larger_than_a_block() -> None:
    """Parts of any size below, near and above that of a block give the same results as one call."""
    text = hostile(15, 300_000)
    expected = whole(made("as BERT"), text)
    block = streams.STREAM_BLOCK
    for size in (block - 1, block, block + 1, 2 * block, 5 * block + 1, len(text)):
        assert streamed(made("as BERT"), cut(text, range(size, len(text), size))) == expected
        assert streamed(made("as BERT"), cut(text.encode(), range(size, len(text.encode()), size))) == expected


@pytest.mark.mostly_slow
@each_machine
def test_bytes_that_are_not_text_are_replaced(name: str) -> None:
    """With errors="replace", invalid bytes become the same characters as in one call, with any cuts."""
    draw = random.Random(16)
    data = b"".join(draw.choice([*NOT_TEXT, *(piece.encode() for piece in HOSTILE)]) for _ in range(120))
    expected = whole(made(name), data, errors="replace")
    for place in sample(range(len(data) + 1), 16, name):
        assert streamed(made(name), cut(data, [place]), errors="replace") == expected
    assert streamed(made(name), cut(data, range(1, len(data))), errors="replace") == expected


def test_lone_surrogates_are_replaced() -> None:
    """With errors="replace", lone surrogates are replaced, and two halves in adjacent parts are one character."""
    draw = random.Random(17)
    text = "".join(draw.choice(["\ud83d", "\ude00", "a", " ", "\U0001f600", "un", "\ud800\ud83d\ude00"]) for _ in range(200))
    expected = whole(made("as BERT"), text, errors="replace")
    for place in range(len(text) + 1):
        assert streamed(made("as BERT"), cut(text, [place]), errors="replace") == expected
    assert streamed(made("as BERT"), cut(text, range(1, len(text))), errors="replace") == expected


@pytest.mark.mostly_slow
@each_machine
def test_what_is_certain_is_read(name: str) -> None:
    """If no special token contains a space, a read returns at least the ids of the text before the last space."""
    added = {token: len(TOKENS) + number for number, token in enumerate(ADDED) if " " not in token}
    tok = fst.Tokenizer(assemble(source_with(added, **MACHINES[name]), "auto"))
    text = hostile(18, 250)
    ends_words = name != "one word"
    for end in range(len(text) + 1):
        stream = tok.stream(add_special_tokens=False)
        stream.write(text[:end])
        ids = stream.read().ids.tolist()
        before = text[: text.rfind(" ", 0, end) + 1] if ends_words else ""
        assert ids[: len(tok.encode(before, add_special_tokens=False))] == tok.encode(before, add_special_tokens=False).tolist()
        assert len(ids) <= len(tok.encode(text[:end], add_special_tokens=False))


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("un", ""),
        ("un ", "un"),
        ("un!", "un !"),
        ("unaffable un", "un ##aff ##able"),
        ("a[", ""),
        ("a[MASK", ""),
        ("a[MASK]", "a [MASK]"),
        ("a[MASs", "a ["),
        ("a <s>", "a"),  # <s>x is also a token
        ("a <s>y", "a <s>"),
        ("世世", "世"),  # 世< is also a token
        ("b\u302e", ""),
        ("! \u302e", "!"),
        ("! \u302e\u1b44", "!"),
        ("! \u302e a", "! \u302e"),
        ("a" * 101, ""),
    ],
    ids=ascii,
)
def test_what_is_held_back(text: str, certain: str) -> None:
    """A stream returns only certain ids: not those of an unfinished word, of text that may become a special token, or of a run of marks."""
    tok = made("as BERT")
    names = dict(enumerate([*TOKENS, *ADDED]))
    for pieces in ([text], list(text)):
        stream = tok.stream(add_special_tokens=False)
        found: list[int] = []
        for piece in pieces:
            stream.write(piece)
            found += stream.read().ids.tolist()
        assert " ".join(names[number] for number in found) == certain


@pytest.fixture
def composing(tmp_path: Path) -> fst.Tokenizer:
    """A tokenizer whose normalizers compose letters and change capitals."""
    path = tmp_path / "tokenizer.json"
    parts = {"type": "NFKC"}, {"type": "Lowercase"}
    path.write_text(json.dumps(document(parts, [{"type": "BertPreTokenizer"}], small_vocabulary())))
    return fst.Tokenizer(wordpiece(path))


@pytest.mark.slow
def test_letters_that_change_are_not_held_back(composing: fst.Tokenizer) -> None:
    """A stream returns the ids of letters that a normalizer changes, except of letters that may still compose."""
    stream = composing.stream(add_special_tokens=False, offsets=True)
    stream.write("AB² " * 9 + "ABE")
    assert composing.decode(stream.read().ids) == " ".join(["ab ##2"] * 9)
    stream.write("\u0301")
    assert len(stream.read().ids) == 0
    stream.close()


@pytest.mark.slow
def test_letters_that_compose(composing: fst.Tokenizer) -> None:
    """A stream of single characters has the ids and offsets of the whole text, although letters compose and change."""
    for text in mixtures(8, 60):
        assert streamed(composing, [*text]) == whole(composing, text), ascii(text)


def test_reading_twice_gives_nothing() -> None:
    """A second read returns nothing new, and a read before the first write returns no ids."""
    stream = made("as BERT").stream(offsets=True)
    assert len(stream.read().ids) == 0
    stream.write("un a")
    first, second = stream.read(), stream.read()
    assert first.ids.tolist() == [TOKENS.index("[CLS]"), TOKENS.index("un")]
    assert (second.ids.shape, second.offsets.shape, second.words.shape) == ((0,), (0, 2), (0,))  # type: ignore[union-attr]
    stream = made("as BERT").stream()
    assert (stream.read().offsets, stream.read().words) == (None, None)


@pytest.mark.parametrize("pieces", [[], [""], [b""], ["", "", ""]], ids=str)
def test_an_empty_stream(pieces: list[Piece]) -> None:
    """A stream without text gives the same ids as an empty text."""
    assert streamed(made("as BERT"), pieces) == whole(made("as BERT"), "")


@pytest.mark.parametrize("base", [2**31 - 5, 2**32 - 5, 2**40])
def test_places_beyond_32_bits(base: int) -> None:
    """Offsets and word numbers continue beyond 32 bits."""
    tok, text = made("as BERT"), hostile(19)
    ids, offsets, words = whole(tok, text, add_special_tokens=False)
    for size in (1, 64, 2000):
        stream = tok.stream(add_special_tokens=False, offsets=True)
        # Set the counters of a stream as if this much text had been read.
        stream._characters, stream._spans._words = base, base  # type: ignore[union-attr]
        parts = []
        for piece in cut(text, range(size, len(text), size)):
            stream.write(piece)
            parts.append(stream.read())
        parts.append(stream.close())
        assert np.concatenate([part.ids for part in parts]).tolist() == ids
        assert np.concatenate([part.offsets for part in parts]).tolist() == (np.array(offsets) + base).tolist()
        assert np.concatenate([part.words for part in parts]).tolist() == (np.array(words) + base).tolist()


def test_a_word_beyond_32_bits() -> None:
    """A word may contain more than 2 ** 32 dropped characters, and the offsets of its tokens are right before
    and after these characters.
    """
    stream = made("as BERT").stream(add_special_tokens=False, offsets=True)
    stream.write("b un\0")
    stream.read()
    stream._characters += 2**33  # pretend that this many dropped characters have been read
    stream.write("aff")
    stream.read()
    stream.write("able!")
    last = stream.close()
    assert last.ids.tolist() == [TOKENS.index(token) for token in ("un", "##aff", "##able", "!")]
    on = 2**33 + 5
    assert last.offsets.tolist() == [[2, 4], [on, on + 3], [on + 3, on + 7], [on + 7, on + 8]]  # type: ignore[union-attr]
    assert last.words.tolist() == [1, 1, 1, 2]  # type: ignore[union-attr]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "unit", ["un a! ", "x", "[", "世", "\0", "e\u0301", "[MASK", "\U0001f600", "a\u302e", "<mask of more letters "], ids=ascii
)
def test_memory_does_not_grow(unit: str) -> None:
    """The memory of a stream does not grow with the length of the text, not even within an endless word."""
    check_memory(unit, offsets=True)


@pytest.mark.parametrize("unit", ["\0", "\u0301"], ids=ascii)
def test_what_is_dropped_takes_no_memory(unit: str) -> None:
    """Without offsets, dropped characters take no memory."""
    check_memory(unit, offsets=False)


def check_memory(unit: str, offsets: bool) -> None:
    """Check that a long stream takes no more memory at its peak than a short stream."""
    tok = made("as BERT")
    piece = (unit * 4096)[:4096].encode()

    def peak(pieces: int) -> int:
        stream = tok.stream(offsets=offsets)
        tracemalloc.start()
        for _ in range(pieces):
            stream.write(piece)
            stream.read()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        stream.close()
        return most

    peak(20)
    assert peak(300) < 1.1 * peak(60) + 4096


def test_empty_pieces_do_not_pile_up() -> None:
    """Any number of empty parts takes no memory."""
    stream = made("as BERT").stream()
    for _ in range(3 * streams.STREAM_BLOCK):
        stream.write("")
    assert len(stream._pieces) <= streams.STREAM_BLOCK


@pytest.mark.parametrize("are_read", [False, True])
@pytest.mark.parametrize("name", ["as BERT", "marks stay"])
def test_a_long_run_of_marks(name: str, are_read: bool) -> None:
    """A long run of marks gets the same ids as in one call, and the text after it is certain at once."""
    draw = random.Random(20)
    run = "".join(draw.choices("\u302e\u1b44\u0301\u0323", k=40_000))
    text = f"b \u302e{run} [MASK] un"
    found = streamed(made(name), cut(text, range(64, len(text), 64)), None if are_read else iter(lambda: False, True))
    assert found == whole(made(name), text)
    stream = made(name).stream(add_special_tokens=False)
    for piece in (f"b \u302e{run}", run, run[:5], " un "):
        stream.write(piece)
        last = stream.read().ids
    assert last[-1] == TOKENS.index("un")


@pytest.mark.parametrize("mark", ["\u0301", "\u1b44", "\u302e\u1b44"], ids=ascii)
def test_a_run_of_marks_is_read_a_few_times(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many parts a run of marks has, the kernel reads it only a few times, also if special tokens begin with marks."""
    tok = fst.Tokenizer(assemble(source_with({"\u0301!": 90, "\u1b44\u302e\u1b44": 91}), "auto"))
    text, units = "a" + mark * 2000, [0]
    expected = whole(tok, text)
    for output in (IdsOutput, SpansOutput):
        kernel = kernel_of(tok._table.kernel, "encode_rows", len(output._fields))
        monkeypatch.setattr(kernel, "call", partial(counted, units, kernel.call))
    assert streamed(tok, cut(text, range(5, len(text), 5))) == expected
    assert units[0] <= 8 * len(text)


def counted(units: list[int], call: Callable[..., Any], text: Any, *arguments: Any) -> Any:
    """Call a kernel, and count the units that it reads."""
    units[0] += len(text)
    return call(text, *arguments)


JIEBA = lattice.jieba([("研究", 9), ("研究生", 3)])
PENDING: dict[str, tuple[Callable[[], Any], str]] = {
    "piece": (lambda: machine(("none", "none", False, True))[1].stream(offsets=True), "a"),
    "rewritten piece": (lambda: machine(("NFC", "all", False, True))[1].stream(offsets=True), "a"),
    "no border": (lambda: machine(("NFC", "all", False, True))[1].stream(offsets=True), "e\u0301"),
    "search": (lambda: fst.Searcher(keywords(["é"], normalizer={"type": "NFC"})).stream(), "e\u0301"),
    "block": (lambda: fst.Segmenter(JIEBA).stream(), "研究"),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", PENDING)
def test_pending_text_is_read_a_few_times(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels read pending text only a few times, for any number of reads of the stream."""
    make, unit = PENDING[name]
    text, counts = unit * (20_000 // len(unit)), [0]
    make().close()
    called = Deferred.__getattribute__

    def counting(self: Deferred, attribute: str) -> Any:
        found = called(self, attribute)
        return partial(work, called(self, "name") == "read_on", found) if attribute == "call" else found

    def work(reads_on: bool, call: Callable[..., Any], *arguments: Any) -> Any:
        begin = int(arguments[-1][0]) if reads_on else 0
        counts[0] += len(arguments[0]) - begin if isinstance(arguments[0], np.ndarray) else 0
        return call(*arguments)

    monkeypatch.setattr(Deferred, "__getattribute__", counting)
    stream = make()
    for piece in cut(text, range(10, len(text), 10)):
        stream.write(piece)
        stream.read()
    stream.close()
    assert counts[0] < 60 * len(text)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["piece", "rewritten piece", "no border", "block"])
def test_end_of_pending_text_is_seen_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each write, a stream returns as many ids as if kernels read all pending text again."""
    make, unit = PENDING[name]

    def counts(draw: random.Random) -> list[int]:
        """The number of ids that each read returns."""
        parts = unit * draw.randint(1, 60), "b ", " the ", "é!", "<s>", "1", "世", "[L", "e\u0301"
        text = "".join(draw.choice(parts) for _ in range(30))
        stream, size, found = make(), draw.choice((1, 3, 10)), list[int]()
        for piece in cut(text, range(size, len(text), size)):
            stream.write(piece)
            part = stream.read()
            found.append(len(part if isinstance(part, list) else part.ids))
        return found

    seen = [counts(random.Random(seed)) for seed in range(10)]
    for owner, method in ((PendingPretoken, "go_on"), (PendingBorder, "go_on"), (PendingBlock, "go_on"), (TextNormalizer, "goes_on")):
        monkeypatch.setattr(owner, method, lambda *_: False)
    assert seen == [counts(random.Random(seed)) for seed in range(10)]


def test_special_tokens_in_runs_of_marks() -> None:
    """A stream finds special tokens that begin with marks anywhere in a run of marks, with any cuts."""
    specials = {"\u0301!": 90, "\u1b44\u302e\u1b44": 91, "\u302e\u302e": 92, "\u0301\u0301\u0301": 93}
    tok = fst.Tokenizer(assemble(source_with(specials), "auto"))
    draw = random.Random(3)
    for _ in range(60):
        text = "".join(draw.choices(["\u0301", "\u1b44", "\u302e", "!", "a", "é"], [9, 9, 9, 1, 1, 1], k=draw.randint(1, 60)))
        pieces = cut(text, sorted(draw.sample(range(len(text)), min(len(text), draw.randint(0, 12)))))
        assert streamed(tok, pieces) == whole(tok, text), ascii(pieces)
