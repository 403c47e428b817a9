"""Small byte-level vocabularies, and checks that every encoding method gives the expected ids."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.kept import assemble
from support.machines.documents import Merges, byte_level
from support.naive import models as naive
from support.pretokens.patterns import ANY
from support.shared_data import SHARED

import fst
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.table import BpeTable

SCRIPTS = (
    "abcXYZ",
    "éüÑß",
    "привЕТ",
    "αβΓ",
    "اهمס",
    "हिन्दी",
    "東京世界",
    "かなカナ",
    "한글",
    "🇩🇪😀👩‍👩‍👧",
    "𝔘𐐨",
    "0123٣½Ⅷ",
    " \t\n\r\u00a0\u3000\u2028",
    ".,!?'\"-_/()«»…",
    "\0\x7f\x85\u0301\u200b\ufeff",
)
WORDS = (
    "it's",
    "we'll",
    "THEY'VE",
    "don't",
    " the",
    " The",
    "  ",
    "\n\n",
    " \n",
    "\t",
    "1234567",
    "3.14",
    "x=y;",
    "//",
    "naïve",
    "世界",
    "😀",
    "é",
    "'S",
)


class Small(NamedTuple):
    """A small table and its merges, from which the definition of BPE computes the expected ids."""

    table: BpeTable
    merges: Merges
    ignore_merges: bool

    def define(self, text: str) -> list[int]:
        """The ids of a text without special tokens, by the definition of BPE."""
        ids = dict(zip(self.table.contents, self.table.token_ids.tolist(), strict=True))
        pieces = [text[begin:end].encode() for begin, end in self.table.splitter.pretokens(text)]
        whole = [piece for piece in pieces if piece in ids] if self.ignore_merges else []
        return [ids[token] for piece in pieces for token in ([piece] if piece in whole else naive.bpe(piece, self.merges))]


def small(pattern: str, merges: Merges, more: Sequence[bytes] = (), special: Sequence[str] = (), *, ignore_merges: bool = False) -> Small:
    """Compile a small vocabulary."""
    source = of_document(byte_level(pattern, merges, more, special, ignore_merges=ignore_merges), Path("tokenizer.json"))
    return Small(assemble(source, "auto"), merges, ignore_merges)


def ids_of(batch: Any) -> list[list[int]]:
    """The ids of each row of a batch, as lists."""
    return [row.tolist() for row in batch]


LISTS: Mapping[str, Merges] = {
    "none": [],
    "one": [(b"a", b"b")],
    "runs": [(b"a", b"a"), (b"aa", b"aa"), (b"aa", b"a"), (b" ", b"a")],
    "chains": [(b"a", b"b"), (b"b", b"a"), (b"ab", b"a"), (b" ", b"ab"), (b"ba", b"b"), (b"ab", b"ab")],
    "late": [(b"b", b"b"), (b"a", b"bb"), (b" ", b" "), (b"  ", b"abb")],
}
SMALL_PATTERNS = (
    r"[\s\S]",
    r" ?[ab]+|\s+(?!\S)|\s+" + ANY,
    "a+|b" + ANY,
    "a+b" + ANY,
    "(?:ab)+|ba" + ANY,
    "[ab]+ " + ANY,
    r"[\s\S]+",
    "a(?=b)|b+(?! )" + ANY,
)
SPECIAL = ("<s>", "<s>x", "</s>", "<sss", "ab!", "é世", "世", " <", "\n\n", "<|endoftext|>", "\0")
ENGLISH_MERGES: Merges = [
    *((b" ", b"t"), (b"h", b"e"), (b" t", b"he"), (b"'", b"s"), (b"1", b"2"), (b"a", b"b"), (b"ab", b"ab"), (b" ", b" "), (b"  ", b"  ")),
    *((b"\xc3", b"\xa9"), (b"\xe4", b"\xb8"), (b"\xe4\xb8", b"\x96"), (b"\n", b"\n"), (b"x", b"x"), (b"xx", b"xx"), (b"xxxx", b"xxxx")),
    *((b"xxxxxxxx", b"xxxxxxxx"), (b"xxxxxxxxxxxxxxxx", b"xxxxxxxx"), (b"<", b"s")),
]


def mixed(draw: random.Random, count: int) -> str:
    """A text of special tokens, prefixes of them, words, and letters of any script."""

    def part() -> str:
        kind = draw.randrange(6)
        if kind == 0:
            return draw.choice(SPECIAL)
        if kind == 1:
            token = draw.choice(SPECIAL)
            return token[: draw.randint(0, len(token))]
        if kind == 2:
            return draw.choice("abx \n<é世") * draw.choice((1, 2, 3, 23, 24, 25, 63, 64, 65, 66))
        return draw.choice(WORDS) if kind < 5 else "".join(draw.choices(draw.choice(SCRIPTS), k=draw.randint(1, 9)))

    return "".join(part() for _ in range(count))


def cuts(draw: random.Random, size: int, count: int) -> list[int]:
    """Draw positions at which to cut a text of `size` characters or bytes."""
    return [0, *sorted(draw.randint(0, size) for _ in range(count)), size]


def streamed(tokenizer: fst.Tokenizer, text: str | bytes, places: Sequence[int]) -> list[int]:
    """The ids of a text that is written to a stream in parts; some ids are read between the parts."""
    stream, found = tokenizer.stream(), list[int]()
    for number, (begin, end) in enumerate(pairwise(places)):
        stream.write(text[begin:end])
        if number % 3 == 0:
            found += stream.read().ids.tolist()
    return [*found, *stream.close().ids.tolist()]


def located(tokenizer: fst.Tokenizer, text: str, places: Sequence[int]) -> tuple[list[int], list[list[int]], list[int]]:
    """The ids, offsets and words of a text that is written to a stream in parts."""
    stream, parts = tokenizer.stream(offsets=True), []
    for begin, end in pairwise(places):
        stream.write(text[begin:end])
        parts.append(stream.read())
    parts.append(stream.close())
    ids, offsets, words = ([*chain.from_iterable(getattr(part, name).tolist() for part in parts)] for name in ("ids", "offsets", "words"))
    return ids, offsets, words


def hold_every_way(tokenizer: fst.Tokenizer, texts: Sequence[str], expected: list[list[int]], draw: random.Random) -> None:
    """Check that every method that encodes gives the expected ids."""
    data = [text.encode() for text in texts]
    for rows in (texts, data):
        for threads in (1, 3):
            assert ids_of(tokenizer.encode_batch(rows, threads=threads)) == expected
        assert [tokenizer.encode(row).tolist() for row in rows] == expected
        assert ids_of(tokenizer.encode_batch(rows, max_length=5)) == [ids[:5] for ids in expected]
        assert tokenizer.count_tokens(rows).tolist() == [*map(len, expected)]
        assert [streamed(tokenizer, row, cuts(draw, len(row), draw.randint(0, 20))) for row in rows] == expected
    batch = tokenizer.encode_batch(texts, offsets=True)
    assert batch.offsets is not None
    assert batch.words is not None
    for text, begin, end in zip(texts, batch.row_splits, batch.row_splits[1:], strict=False):
        whole = batch.ids[begin:end].tolist(), batch.offsets[begin:end].tolist(), batch.words[begin:end].tolist()
        assert located(tokenizer, text, cuts(draw, len(text), draw.randint(0, 20))) == whole
    pyarrow = pytest.importorskip("pyarrow")
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary()):
        column = pyarrow.array(texts, pyarrow.string()).cast(kind)
        assert tokenizer.encode_arrow(column).to_pylist() == expected


def hold_in_pieces(tokenizer: fst.Tokenizer, text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a text that is read in parts of `size` gets the same ids, offsets and words as in one part."""
    whole = tokenizer.encode_batch([text], offsets=True)
    with monkeypatch.context() as patched:
        patched.setattr("fst.runtime.rows.batch.BLOCK", size)
        pieces = tokenizer.encode_batch([text], offsets=True)
    for one, other in zip(vars(whole).values(), vars(pieces).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def corpus(name: str) -> Iterator[str]:
    """Yield the texts of a corpus; a plain text file gives twenty lines at a time, with their line ends."""
    with (SHARED / "corpora" / name).open(encoding="utf-8", newline="") as file:
        if name.endswith(".jsonl"):
            yield from (json.loads(line)["text"] for line in file)
        else:
            while lines := [*islice(file, 20)]:
                yield "".join(lines)


CORPORA = sorted(path.name for path in (SHARED / "corpora").glob("*")) if SHARED.is_dir() else []
HOSTILE = ("blns.json", "emoji-test.txt", "tokendagger_emoji.txt", "utf8_sequence_0x10ffff.txt", "confusables.txt")
