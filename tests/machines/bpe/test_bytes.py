"""Byte-level BPE: the naive implementation, the walk, the kernel, `tokenizers` and `tiktoken` give the same ids for every text."""

from __future__ import annotations

import json
import random
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.kept import bpe
from support.machines.bpe import (
    CORPORA,
    ENGLISH_MERGES,
    HOSTILE,
    LISTS,
    SCRIPTS,
    SMALL_PATTERNS,
    SPECIAL,
    WORDS,
    Small,
    corpus,
    cuts,
    hold_every_way,
    ids_of,
    mixed,
    small,
    streamed,
)
from support.machines.documents import Merges
from support.machines.documents import compiled as wordpiece_machine
from support.naive import models as naive
from support.pretokens.patterns import CL100K, MANY_CLASSES, O200K, QWEN
from support.shared_data import SHARED, needs_shared
from support.text.every_character import swept_characters
from support.tiers import ALL, examples, sample, thinned
from tokenizers import Tokenizer

import fst
from fst.compile.pretokens.splits import GPT2
from fst.machines.bpe.table import BpeTable
from fst.pretokens.arguments import LONGEST
from fst.pretokens.byte_letters import bytes_of
from fst.pretokens.table import WORD_BYTES
from fst.tables.kernel_call import CHUNK, SHORT

VOCABULARIES = SHARED / "vocab_bpe"


# Small vocabularies, compared with the naive implementation of BPE.


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", SMALL_PATTERNS)
@pytest.mark.parametrize("name", LISTS)
def test_all_short_texts(name: str, pattern: str) -> None:
    """For each text of up to seven letters over an alphabet of three, the naive implementation, the walk and the kernel give the same
    ids.
    """
    found = small(pattern, LISTS[name])
    texts = sample(["".join(text) for length in range(8) for text in product("ab ", repeat=length)], 40, name + pattern)
    ids = ids_of(fst.Tokenizer(found.table).encode_batch(texts))
    assert ids == [found.define(text) for text in texts]
    assert ids == [found.table.run(text) for text in texts]


@some.composite
def machines(draw: some.DrawFn) -> Small:
    """Draw a vocabulary over two letters and a space; each merge follows the merges that make its parts."""
    tokens, merges = [b"a", b"b", b" "], list[tuple[bytes, bytes]]()
    for _ in range(draw(some.integers(0, 7))):
        pair = draw(some.sampled_from(tokens)), draw(some.sampled_from(tokens))
        if pair not in merges and b"".join(pair) not in tokens:
            merges.append(pair)
            tokens.append(b"".join(pair))
    more = [token for token in (b"ba ", b"abab", b"aab") if token not in tokens]
    return small(draw(some.sampled_from(SMALL_PATTERNS)), merges, more, ignore_merges=draw(some.booleans()))


@examples(300)
@given(found=machines(), texts=some.lists(some.text("ab ", max_size=30), max_size=8))
def test_random_machines(found: Small, texts: list[str]) -> None:
    """With any merges, the naive implementation, the walk and the kernel give the same ids, and decoding restores the text."""
    tokenizer = fst.Tokenizer(found.table)
    ids = ids_of(tokenizer.encode_batch(texts))
    assert ids == [found.define(text) for text in texts]
    assert ids == [found.table.run(text) for text in texts]
    assert tokenizer.decode_batch(ids) == texts


LONG_PIECES = (b"x" * 25, b"x" * 40, b"x" * 39 + b"y", b"ab" * 32, b"ab" * 32 + b"c", b"q" * 700, "\u00e9".encode() * 13)


@pytest.mark.parametrize("merges", [[(b"x", b"x"), (b"a", b"b")], [(b"ab", b"a"), (b"a", b"b"), (b"x", b"x")]], ids=["automaton", "merges"])
def test_long_pieces_that_no_merges_make(merges: Merges) -> None:
    """With ignore_merges, a pre-token that equals a token of any length becomes this token, although merges do not make it, and other
    pre-tokens are merged as usual.
    """
    found = small(r"[^ ]+| ", merges, LONG_PIECES, ["<s>"], ignore_merges=True)
    pieces = [piece.decode() for piece in LONG_PIECES]
    around = [change for piece in pieces for change in (piece[:-1], f"{piece}x", piece * 2)]
    texts = [*pieces, *around, " ".join(pieces), "<s>".join(pieces)]
    batch = fst.Tokenizer(found.table).encode_batch(texts, offsets=True)
    assert ids_of(batch) == [found.table.run(text) for text in texts]
    assert ids_of(batch)[: len(pieces)] == [[found.table.token_ids[found.table.contents.index(piece)]] for piece in LONG_PIECES]
    assert batch.offsets is not None
    assert batch.offsets[: len(pieces)].tolist() == [[0, len(piece)] for piece in pieces]
    expected = [found.define(text) for text in texts if "<s>" not in text]
    assert [ids for text, ids in zip(texts, ids_of(batch), strict=True) if "<s>" not in text] == expected


def test_short_pieces_without_a_slot() -> None:
    """With ignore_merges, a pre-token that equals a token becomes this token, even if the token has no slot in the table of words."""
    merges = [(b"a", b"bb"), (b"a", b"b"), (b"b", b"b"), (b"a", b"a"), (b"abb", b"a")]
    more = ["".join(text).encode() for text in product("abc", repeat=5)]
    found = small(r"[^ ]+| ", merges, more, ignore_merges=True)
    texts = [token.decode() for token in found.table.contents[256:]]
    assert any(len(piece) <= WORD_BYTES for piece in found.table.long_pretokens)
    assert ids_of(fst.Tokenizer(found.table).encode_batch(texts)) == [found.define(text) for text in texts]


PATTERNS = {"gpt2": GPT2, "cl100k": CL100K, "o200k": O200K, "qwen": QWEN, "many classes": MANY_CLASSES, "one piece": r"[\s\S]+"}
each_way_pattern = pytest.mark.parametrize("pattern", thinned([pytest.param(pattern, id=name) for name, pattern in PATTERNS.items()], 4))


@cache
def special_machine(pattern: str) -> tuple[BpeTable, fst.Tokenizer]:
    """A table and its tokenizer, with special tokens that begin like each other or like text, or occur inside each other."""
    found = small(pattern, ENGLISH_MERGES, special=SPECIAL)
    return found.table, fst.Tokenizer(found.table)


@pytest.mark.mostly_slow
@each_way_pattern
def test_special_tokens_anywhere(pattern: str) -> None:
    """Kernel and walk give the same ids for texts of special tokens and their prefixes, even if the texts are streamed and cut anywhere."""
    draw = random.Random(pattern)
    table, tokenizer = special_machine(pattern)
    for seed in sample(range(1_000), 80):
        text = mixed(random.Random(seed), 6)
        expected = table.run(text)
        assert tokenizer.encode(text).tolist() == expected
        for whole in (text, text.encode()):
            assert streamed(tokenizer, whole, range(len(whole) + 1)) == expected
            assert streamed(tokenizer, whole, cuts(draw, len(whole), 2)) == expected


ASCII_UNITS = ("it's", " a", "1234", "   ", "\n\n", "\r\n  x", "!?...", " = (BAR);", "\t\tI'LL'd", "aB", "_", "\x7f", "' ")


@pytest.mark.slow
@pytest.mark.parametrize(("pattern", "has_products"), thinned(product(PATTERNS.values(), (True, False)), 8))
def test_runs_of_ascii(pattern: str, has_products: bool) -> None:
    """Kernel and walk give the same ids for ASCII runs of any length, whether the kernel decides 64 boundaries at a time or one by one."""
    draw, table = random.Random(pattern), small(pattern, ENGLISH_MERGES).table
    if not has_products:
        table = replace(table, products=np.empty(0, np.uint8))
    runs = ["".join(draw.choices(ASCII_UNITS, k=length))[:length] for length in range(210)]
    texts = [*runs, *(end.join(draw.choices(runs, k=3)) for end in ("é", "\u2019", "世", "\x80") for _ in range(60))]
    assert ids_of(fst.Tokenizer(table).encode_batch(texts)) == [table.run(text) for text in texts]


def around(size: int, by: int) -> list[int]:
    """The lengths from `size - by` to `size + by`."""
    return [*range(size - by, size + by + 1)]


@pytest.mark.mostly_slow
@each_way_pattern
def test_lengths_around_limits(pattern: str) -> None:
    """Kernel and walk give the same ids for rows and runs whose length is near a limit of the kernel (word, special token, chunk, bytes
    read together).
    """
    table, tokenizer = special_machine(pattern)
    few = [length for limit in (WORD_BYTES, LONGEST, 8, 16, 1) for length in around(limit, 2) if length >= 0]
    short = [
        unit * length + end for unit in ("x", " ", "1", "\n", "é", "!", "\0", "xxab") for length in few for end in ("", " the", "<s>", "\0")
    ]
    short = [*sample(short, 24, pattern)]
    assert ids_of(tokenizer.encode_batch(short)) == [table.run(text) for text in short]
    for unit in sample(("x", " ", "the ", "1", "\n", "é ", "世"), 14, pattern):
        ends = zip(around(CHUNK, 7), cycle(("", "<s>", "<s", " x", "é")), strict=False)  # each ending occurs with three lengths
        long = [(unit * CHUNK)[: length - len(end)] + end for length, end in ends]
        assert ids_of(tokenizer.encode_batch(long)) == [table.run(text) for text in long]


@pytest.mark.mostly_slow
@each_way_pattern
def test_special_tokens_at_ends_of_chunks(pattern: str) -> None:
    """If a special token, a character or a run crosses the end of a chunk, its ids are the same as inside a chunk."""
    table, tokenizer = special_machine(pattern)
    ends = ("<s>x", "<|endoftext|>", "<|endoftex", "é世", "😀😀", "  x", "it's")
    texts = ["the " * (CHUNK // 4 - 5) + "x" * gap + end + " the" for end in sample(ends, 8, pattern) for gap in range(0, 24, 3)]
    assert ids_of(tokenizer.encode_batch(texts)) == [table.run(text) for text in texts]


@pytest.mark.slow
def test_many_rows() -> None:
    """In a batch of thousands of rows, many of them empty, each row gets the same ids as in a call for this row only."""
    draw = random.Random(7)
    table, tokenizer = special_machine(GPT2)
    texts = [draw.choice(("", "", "x", "<s>", mixed(draw, 2))) for _ in range(10_000)]
    run = cache(table.run)
    expected = [run(text) for text in texts]
    for threads in (1, 2):
        assert ids_of(tokenizer.encode_batch(texts, threads=threads)) == expected
    assert ids_of(tokenizer.encode_batch([""] * 9_000)) == [[]] * 9_000


@pytest.mark.mostly_slow
@pytest.mark.parametrize("char", ["x", "é", "世", "😀"])
def test_short_texts_of_long_characters(char: str) -> None:
    """In the buffer that `encode` uses for short texts, there is space for one id per byte of the longest short text."""
    table = small(GPT2, []).table
    tokenizer, text = fst.Tokenizer(table), char * SHORT
    assert len(tokenizer._workspaces.take().short_ids) >= len(text.encode())
    assert tokenizer.encode(text).tolist() == table.run(text)
    assert len(tokenizer.encode(text)) == len(text.encode())


@pytest.mark.mostly_slow
@pytest.mark.parametrize("unit", ["x", " ", "1", "\n", "<", "é", "ab", "<s", "x "])
def test_long_runs(unit: str) -> None:
    """Kernel and walk give the same ids for a run that is longer than every internal block, as a single text and as a stream."""
    table, tokenizer = special_machine(GPT2)
    size = 150_000 if ALL else 20_000
    text = (unit * size)[:size] + "."
    expected = table.run(text)
    assert tokenizer.encode(text).tolist() == expected
    assert tokenizer.encode(text.encode()).tolist() == expected
    assert streamed(tokenizer, text, [*range(0, size, 3_000), size + 1]) == expected
    assert ids_of(tokenizer.encode_batch([text, "x", text], threads=2)) == [expected, table.run("x"), expected]


WRONG = (b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80")


@pytest.mark.mostly_slow
@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_bytes(wrong: bytes) -> None:
    """Bytes that are not UTF-8 are refused, or replaced as `bytes.decode` replaces them."""
    table, tokenizer = special_machine(GPT2)
    rows = [wrong, b"a" + wrong, wrong + b"<s>", b"x" * 70 + wrong + b"the", wrong.join([b"the "] * 2000), b"ok"]
    with pytest.raises(fst.TextError, match="row 0"):
        tokenizer.encode_batch(rows)
    assert ids_of(tokenizer.encode_batch(rows, errors="replace")) == [table.run(row.decode(errors="replace")) for row in rows]


@pytest.mark.parametrize("lone", ["\ud800", "\udfff"], ids=ascii)  # noqa: PT014 - ruff takes them for one
def test_lone_surrogates(lone: str) -> None:
    """A lone surrogate is refused, or replaced by a single U+FFFD."""
    table, tokenizer = special_machine(GPT2)
    rows = [lone, f"the{lone}<s>", lone * 3, "x" * 5000 + lone]
    with pytest.raises(fst.TextError, match="row 0"):
        tokenizer.encode_batch(rows)
    assert ids_of(tokenizer.encode_batch(rows, errors="replace")) == [table.run(row.replace(lone, "\ufffd")) for row in rows]


def test_kinds_take_turns() -> None:
    """A BPE table and a WordPiece table can be used alternately in one process."""
    (table, tokenizer), other = special_machine(GPT2), wordpiece_machine()
    bert = fst.Tokenizer(other)
    for text in ("unaffable the", "un 世", "abab<s>", "é! xxxxxxxx"):
        assert tokenizer.encode(text).tolist() == table.run(text)
        assert bert.encode(text, add_special_tokens=False).tolist() == other.run(text)


@each_way_pattern
@examples(500)
@given(text=some.text(some.sampled_from("abtx '1é世\n<s>/|\0😀") | some.characters(exclude_categories=["Cs"]), max_size=90))
def test_any_text(pattern: str, text: str) -> None:
    """For any text, the kernel gives the same ids as the walk, and decoding them returns the text."""
    table, tokenizer = special_machine(pattern)
    expected = table.run(text)
    assert tokenizer.encode(text).tolist() == expected
    assert tokenizer.decode(expected, skip_special_tokens=False) == text


# Well-known vocabularies, compared with their reference libraries.


class Known(NamedTuple):
    """A well-known vocabulary and the library that defines its ids."""

    table: BpeTable
    tokenizer: fst.Tokenizer
    special: Sequence[str]
    ask: Callable[[Sequence[str]], list[list[int]]]


@cache
def known(name: str) -> Known:
    """The well-known vocabulary in a folder; its reference is `tokenizers` for GPT-2, and `tiktoken` for all others."""
    if name == "gpt2":
        reference = Tokenizer.from_file(str(VOCABULARIES / name / "tokenizer.json"))
        table = bpe(VOCABULARIES / name)

        def ask(texts: Sequence[str]) -> list[list[int]]:
            return [encoding.ids for encoding in reference.encode_batch([*texts], add_special_tokens=False)]
    else:
        tiktoken = pytest.importorskip("tiktoken")
        stated = json.loads((VOCABULARIES / name / "encoding.json").read_text(encoding="utf-8"))
        lines = (VOCABULARIES / name / f"{name}.tiktoken").read_bytes().splitlines()
        ranks = {b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
        encoding = tiktoken.Encoding(name, pat_str=stated["pat_str"], mergeable_ranks=ranks, special_tokens=stated["special_tokens"])
        table = bpe(VOCABULARIES / name / f"{name}.tiktoken")

        def ask(texts: Sequence[str]) -> list[list[int]]:
            return [encoding.encode(text, allowed_special="all", disallowed_special=()) for text in texts]

    return Known(table, fst.Tokenizer(table), [*table.metadata.added_tokens.specials], ask)


def hold(name: str, texts: Sequence[str]) -> None:
    """Check that texts get the same ids as in the reference library."""
    found, expected = known(name).tokenizer.encode_batch(texts, add_special_tokens=False), known(name).ask(texts)
    for text, ids, others in zip(texts, found, expected, strict=True):
        assert ids.tolist() == others, text[:200]


TIKTOKEN = [pytest.param(name, marks=pytest.mark.slow) for name in ("cl100k_base", "o200k_base")]
each_model = pytest.mark.parametrize("name", ["gpt2", *TIKTOKEN])
CONTEXTS = ("{}", "a{}b", " {} ", "1{}!", "\n{}'s", "{0}{0}A")


@needs_shared
@pytest.mark.parametrize("context", CONTEXTS)
@each_model
def test_reference_on_every_code_point(name: str, context: str) -> None:
    """Every character, alone and in contexts, gets the same ids as in the reference library."""
    hold(name, [context.format(char) for char in sample(swept_characters(), 120, context)])


@needs_shared
@each_model
def test_reference_on_mixed_text(name: str) -> None:
    """Words and letters of all scripts, mixed with special tokens and parts of them, get the same ids as in the reference library."""
    draw = random.Random(name)

    def part() -> str:
        kind = draw.randrange(8)
        if kind == 0:
            token = draw.choice(known(name).special)
            return token[draw.choice((0, 0, 1)) : draw.randint(0, len(token))] if draw.randrange(2) else token
        return draw.choice(WORDS) if kind < 4 else "".join(draw.choices(draw.choice(SCRIPTS), k=draw.randint(1, 6)))

    hold(name, ["".join(part() for _ in range(draw.randint(1, 15))) for _ in sample(range(100_000), 600)])


@needs_shared
@each_model
def test_reference_on_fragments(name: str) -> None:
    """Texts that consist of tokens and parts of tokens get the same ids as in the reference library."""
    draw, tokens = random.Random(name), known(name).table.contents

    def part() -> bytes:
        token = draw.choice(tokens)
        return token if draw.randrange(2) else token[draw.randint(0, len(token)) :]

    texts = (b"".join(part() for _ in range(draw.randint(1, 8))) for _ in sample(range(100_000), 300))
    hold(name, [text.decode(errors="replace") for text in texts])


@needs_shared
@each_model
def test_reference_on_long_runs(name: str) -> None:
    """A long run of one character or string gets the same ids as in the reference library."""
    for size in (1_000, 100_000 if name == "gpt2" or ALL else 10_000):
        hold(name, [unit * size for unit in (" ", "1", "a", "\n", "é", "=", "ab")])
        hold(name, [f"the{unit * size} the" for unit in (" ", "1", "\n", "-")])


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("unit", thinned([" ", "1", "a", "\n"], 4))
def test_reference_on_very_long_runs(unit: str) -> None:
    """A run of three megabytes of one character gets the same ids as in the reference library."""
    hold("gpt2", [unit * 3_000_000])


@needs_shared
@pytest.mark.parametrize("file", CORPORA)
@each_model
def test_reference_on_corpora(file: str, name: str) -> None:
    """The texts of the corpora get the same ids as in the reference library."""
    texts = [*corpus(file)]
    hold(name, sample(texts, max(len(texts) // 10, 1), name))


@needs_shared
@pytest.mark.parametrize("file", HOSTILE)
@each_model
def test_reference_on_hostile_text(name: str, file: str) -> None:
    """Texts that were collected because they break programs get the same ids as in the reference library."""
    lines = (SHARED / "hostile" / file).read_text(encoding="utf-8").splitlines(keepends=True)
    hold(name, sample(lines, max(len(lines) // 100, 1), name))


@needs_shared
@each_model
def test_walk_on_well_known_vocabularies(name: str) -> None:
    """With well-known vocabularies, the walk gives the same ids as the reference library."""
    draw = random.Random(name)
    texts = [mixed(draw, 8) for _ in range(40)]
    assert [known(name).table.run(text) for text in texts] == known(name).ask(texts)


@needs_shared
@each_model
def test_every_way_of_well_known_vocabularies(name: str) -> None:
    """With well-known vocabularies, every method that encodes (batches, streams, columns, counts) gives the same ids as the reference
    library.
    """
    draw = random.Random(name)
    texts = ["", *("".join((mixed(draw, 9), draw.choice(known(name).special), mixed(draw, 9))) for _ in range(9)), ""]
    hold_every_way(known(name).tokenizer, texts, known(name).ask(texts), draw)


@needs_shared
def test_definition_of_gpt2() -> None:
    """With the merges of GPT-2, the naive implementation of BPE gives the same ids as the kernel."""
    model = json.loads((VOCABULARIES / "gpt2/tokenizer.json").read_text(encoding="utf-8"))["model"]
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    merges = [(bytes_of(first) or b"", bytes_of(second) or b"") for first, second in pairs]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    table, draw = known("gpt2").table, random.Random(2)
    ids = dict(zip(table.contents, table.token_ids.tolist(), strict=True))
    for text in [mixed(draw, 10).replace("<|endoftext|>", "") for _ in range(40)]:
        pieces = [text[begin:end].encode() for begin, end in table.splitter.pretokens(text)]
        tokens = [token for piece in pieces for token in naive.merged(piece, lambda left, right: ranks.get((left, right)))]
        assert known("gpt2").tokenizer.encode(text).tolist() == [ids[token] for token in tokens]


def test_words_that_are_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that exceeds the kernel's limit is refused, and the message contains the limit; a text of shorter words may have any
    length.
    """
    monkeypatch.setattr("fst.runtime.run.MOST_UNITS", 1 << 18)
    tokenizer = fst.Tokenizer(small(r"[^ ]+| ", [(b"a", b"b")]).table)
    assert len(tokenizer.encode("ab " * (1 << 17))) == 1 << 18
    with pytest.raises(fst.TextError, match="more than 262,144 bytes, which is more than can be read at once"):
        tokenizer.encode("ab" * (1 << 18))
