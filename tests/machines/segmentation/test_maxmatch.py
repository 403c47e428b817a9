"""Segmentation by MaxMatch: the naive implementation, the walk and the kernel give the tokens that were recorded from other segmenters."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive.search import maxmatch as defined
from support.shared_data import EXAMPLES, SHARED, needs_shared
from support.tiers import examples, sample, thinned

import fst
from fst.compile import maxmatch
from fst.machines.segmentation.maxmatch import BACKWARD, DIRECTIONS, FORWARD, UNSEEN, MaxMatchTable
from fst.machines.segmentation.unit_trie import ENTRY, LEAF
from fst.runtime.rows import arrow
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Column

EXAMPLE = EXAMPLES / "segment_corpus.py"
each_direction = pytest.mark.parametrize("direction", DIRECTIONS)
DICTIONARIES = [
    *(["a", "a" * 9 + "b"], ["ab", "bab", "b"], ["abab", "ba", "a"], ["b", "abc", "bcd", "bc", "abcde"]),
    *(["é", "世é", "éa", "世"], ["aab", "ab", "abaab"], ["世"]),
]
WORDS = some.lists(some.text("ab", min_size=1, max_size=5), min_size=1, max_size=8)
TEXTS = some.lists(some.text("abc", max_size=14), max_size=8)


def ids_of(words: Sequence[str], tokens: Sequence[str]) -> list[int]:
    """Return the id of each token."""
    return [words.index(token) if token in words else UNSEEN for token in tokens]


def places_of(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the position of each token in a text that consists only of these tokens."""
    return [*pairwise(accumulate(map(len, tokens), initial=0))]


def columns_of(found: fst.Segments, row: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the ids and positions of a row."""
    assert found.starts is not None
    assert found.ends is not None
    part = slice(found.row_splits[row], found.row_splits[row + 1])
    return found.ids[part].tolist(), [*zip(found.starts[part].tolist(), found.ends[part].tolist(), strict=True)]


def check(table: MaxMatchTable, texts: Sequence[str], expected: Sequence[Sequence[str]]) -> None:
    """Check that walk and kernel find the expected tokens with the expected ids and positions."""
    table.prove()
    segmenter = fst.Segmenter(table)
    found, in_bytes = (segmenter.segment_batch(texts, offsets=offsets) for offsets in ("characters", "bytes"))
    assert [*found] == [*expected]
    for row, (text, tokens) in enumerate(zip(texts, expected, strict=True)):
        ids = ids_of(segmenter.words, tokens)
        assert columns_of(found, row) == (ids, places_of(tokens))
        encoded = [*zip(ids, places_of([token.encode() for token in tokens]), strict=True)]  # type: ignore[misc]
        assert [*zip(*columns_of(in_bytes, row), strict=True)] == encoded
        assert [(token.id, (token.start, token.end)) for token in table.tokens(text.encode())] == encoded
        assert table.run(text) == ids


@each_direction
@examples(600)
@given(words=WORDS, texts=TEXTS)
def test_definition(direction: str, words: list[str], texts: list[str]) -> None:
    """With any dictionary, walk and kernel find the same tokens as the naive implementation."""
    expected = [defined(words, text, backward=direction == BACKWARD) for text in texts]
    check(maxmatch(words, direction), texts, expected)


@each_direction
@examples(200)
@given(
    words=some.lists(some.text("aé世😀😁", min_size=1, max_size=4), min_size=1, max_size=6),
    texts=some.lists(some.text("aé世😀😁二", max_size=20), min_size=1, max_size=3),
)
def test_characters_of_several_bytes(direction: str, words: list[str], texts: list[str]) -> None:
    """Tokens end at the ends of characters, and positions count characters, or bytes on request."""
    check(maxmatch(words, direction), texts, [defined(words, text, backward=direction == BACKWARD) for text in texts])


@examples(300)
@given(words=WORDS, texts=TEXTS)
def test_backward_is_forward_of_the_reverse(words: list[str], texts: list[str]) -> None:
    """If a text and all words are reversed, segmentation from the start gives the reversed tokens of segmentation from the end."""
    backward = fst.Segmenter(maxmatch(words, BACKWARD))
    forward = fst.Segmenter(maxmatch([word[::-1] for word in words]))
    expected = [[token[::-1] for token in forward.segment(text[::-1])][::-1] for text in texts]
    assert [*backward.segment_batch(texts)] == expected


def cut_at(draw: random.Random, text: str) -> str:
    """Insert separators at random positions of a text."""
    return text[0] + "".join(draw.choice(("", "|")) + char for char in text[1:])


@each_direction
@examples(400)
@given(words=WORDS, strings=some.lists(some.text("abé", min_size=1, max_size=6), max_size=4), texts=TEXTS, draw=some.randoms())
def test_rules(direction: str, words: list[str], strings: list[str], texts: list[str], draw: random.Random) -> None:
    """A rule segments its string as listed in the rule, and does not change which single characters are words."""
    is_backward = direction == BACKWARD
    rules = {"|".join(defined(words, string, backward=is_backward)): cut_at(draw, string) for string in strings}
    table = maxmatch(words, direction, rules)
    assert table.words[: len(words)] == tuple(words)
    assert {*table.words[len(words) :]} == {token for right in rules.values() for token in right.split("|") if len(token) > 1} - {*words}
    check(table, texts, [defined(words, text, backward=is_backward, rules=rules) for text in texts])


def test_a_rule_corrects_a_segmentation() -> None:
    """In Sassano's example, a rule applies only where MaxMatch without rules finds exactly the tokens that the rule replaces."""
    words = ["研究", "研究生", "生命", "命", "科学"]
    corrected = fst.Segmenter(maxmatch(words, rules={"研究生|命": "研究|生命"}))
    assert corrected.segment("研究生命科学") == ["研究", "生命", "科学"]
    assert corrected.segment("研究生科学") == ["研究生", "科学"]
    assert corrected.words == tuple(words)


ORACLE = SHARED / "oracles" / "toolkit" / "segment_maxmatch.jsonl"


@cache
def oracle() -> list[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    """Each dictionary, with the recorded rows that are segmented with it."""
    groups: dict[str | tuple[str, ...], list[dict[str, Any]]] = {}
    for line in ORACLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        groups.setdefault(row.get("dictionary") or tuple(row["words"]), []).append(row)
    return [(dictionary(words) if isinstance(words, str) else words, rows) for words, rows in groups.items()]


@cache
def dictionary(name: str) -> tuple[str, ...]:
    """Read the words of a dictionary file, which are the first fields of its lines."""
    lines = (SHARED / "dict" / name).read_text(encoding="utf-8").splitlines()
    return tuple(line.split("\t" if name.endswith(".tsv") else " ")[0] for line in lines)


@needs_shared
@pytest.mark.parametrize("direction", thinned(DIRECTIONS, 4))
@pytest.mark.slow
def test_oracles(direction: str) -> None:
    """The tokens equal the recorded tokens: in batches, in single calls, on two threads, as bytes, in columns, and in streams cut
    anywhere.
    """
    draw = random.Random(direction)
    for words, rows in oracle():
        segmenter = fst.Segmenter(maxmatch(words, direction))
        texts, expected = [row["text"] for row in rows], [row[direction] for row in rows]
        assert [*segmenter.segment_batch(texts)] == expected
        assert [*segmenter.segment_batch(texts, offsets=True, threads=2)] == expected
        for text, tokens in sample([*zip(texts, expected, strict=True)], 40):
            assert segmenter.segment(text.encode()) == tokens
        assert segmenter.segment_arrow(pa.array(texts)).to_pylist() == expected
        if direction == FORWARD:
            for text, tokens in sample([*zip(texts, expected, strict=True)], 40):
                assert streamed(segmenter, text, draw) == tokens


def streamed(segmenter: fst.Segmenter, text: str, draw: random.Random) -> list[str]:
    """Return the tokens of a text that is streamed in parts, as str or as bytes."""
    data: Any = draw.choice((text, text.encode()))
    cuts = sorted(draw.randint(0, len(data)) for _ in range(draw.randint(0, 9)))
    stream, tokens = segmenter.stream(), list[str]()
    for begin, end in pairwise([0, *cuts, len(data)]):
        stream.write(data[begin:end])
        tokens += stream.read()
    return [*tokens, *stream.close()]


def drawn(draw: random.Random) -> list[str]:
    """Draw texts of different lengths, the last of which is long and has no position at which it can be cut."""
    return ["", *("".join(draw.choices("abcé世 \n", k=draw.randint(0, 60))) for _ in range(40)), "ab" * 5_000]


def test_streams_give_tokens_when_they_are_certain() -> None:
    """A stream, cut anywhere, returns each token as soon as no further text could make the token longer."""
    draw = random.Random(0)
    for words in DICTIONARIES:
        segmenter = fst.Segmenter(maxmatch(words))
        for text in drawn(draw)[:-1]:
            assert streamed(segmenter, text, draw) == defined(words, text)
    stream = fst.Segmenter(maxmatch(["ab", "abcd"])).stream()
    given = []
    for char in "xabcabcde":
        stream.write(char)
        given.append(stream.read())
    assert given == [["x"], [], [], [], ["ab", "c"], [], [], ["abcd"], ["e"]]
    assert stream.close() == []
    with pytest.raises(ValueError, match="closed"):
        stream.read()


def test_representation() -> None:
    """The representation of a segmenter contains its kind and its number of words."""
    assert repr(fst.Segmenter(maxmatch(["a", "b"]))) == "<fst.Segmenter maxmatch, 2 words>"


def test_streams_backward_are_refused() -> None:
    """Streams are refused for a table that segments texts from their end."""
    with pytest.raises(fst.UnsupportedError, match="needs the end of a text first"):
        fst.Segmenter(maxmatch(["a"], BACKWARD)).stream()


@pytest.mark.mostly_slow
@each_direction
@pytest.mark.parametrize("letters", ["ab世\n", "ab世"])
def test_long_texts_and_threads(direction: str, letters: str) -> None:
    """A long text has the same tokens on one thread, on two, and in parts, whether or not it has positions at which it can be cut."""
    segmenter = fst.Segmenter(maxmatch(["ab", "bab", "aabb世"], direction))
    text = "".join(random.Random(1).choices(letters, k=600_000))
    one, two = (segmenter.segment_batch(["a", text, "b"], offsets=True, threads=threads) for threads in (1, 2))
    for name in ("ids", "starts", "ends", "row_splits"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert segmenter.count([text]).tolist() == [one.row_splits[2] - 1]
    tokens = one[1]
    assert "".join(tokens) == text
    near = 1 << 10
    if direction == FORWARD:
        assert tokens[:near] == defined(["ab", "bab", "aabb世"], text[: 8 * near])[:near]
    else:
        assert tokens[-near:] == defined(["ab", "bab", "aabb世"], text[-8 * near :], backward=True)[-near:]


@pytest.mark.mostly_slow
@each_direction
def test_time_does_not_depend_on_the_words(direction: str) -> None:
    """A long word that never matches costs no more than a short word, because the walk takes at most two look-ups per byte."""
    words = ["a", ("a" * 5_000 + "b")[:: -1 if direction == BACKWARD else 1]]
    segmenter = fst.Segmenter(maxmatch(words, direction))
    assert segmenter.count(["a" * 300_000]).tolist() == [300_000]


def test_columns() -> None:
    """For a column of texts of any type, the result is a column of tokens with the same nulls and the same chunks."""
    segmenter = fst.Segmenter(maxmatch(["un", "able", "世界"]))
    texts = ["unable", None, "", "é世界!", "un able"]
    expected = [["un", "able"], None, [], ["é", "世界", "!"], ["un", " ", "able"]]
    kinds = [pa.string(), pa.large_string(), pa.binary(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    for kind in kinds:
        found = segmenter.segment_arrow(pa.array(texts, pa.string()).cast(kind)[1:])
        found.validate(full=True)
        assert (found.type, found.to_pylist()) == (pa.list_(pa.string()), expected[1:])
    chunked = segmenter.segment_arrow(pa.chunked_array([texts[:2], [], texts[2:]], pa.string()), threads=2)
    assert [len(chunk) for chunk in chunked.chunks] == [2, 0, 3]
    assert chunked.to_pylist() == expected
    with pytest.raises(fst.TextError, match="row 2, position 1: not UTF-8"):
        segmenter.segment_arrow(pa.array([b"a", None, b"a\xff"]))


def test_columns_share_the_memory_of_texts() -> None:
    """The strings in a column of tokens are views of the buffer of the column of texts."""
    column = pa.array(["unable", "é世界"])
    found = fst.Segmenter(maxmatch(["un"])).segment_arrow(column[1:])
    assert found.values.buffers()[2].address == column.buffers()[2].address + len("unable")


def test_columns_of_tokens_with_gaps() -> None:
    """A column of tokens does not contain the text between tokens."""
    spans = np.array([[0, 2], [3, 5], [1, 2]], np.int32)

    def segment(_: Column) -> Batch:
        return Batch(np.zeros(3, np.int32), np.array([0, 2, 2, 3]), spans, np.zeros(3, np.int32))

    found = arrow.segmented(pa.array(["né 世界", "x", " é"]), segment)
    found.validate(full=True)
    assert found.to_pylist() == [["né", "世界"], [], ["é"]]


def test_columns_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that is too large is refused, and the message contains its size, the limit and a remedy."""
    monkeypatch.setattr(arrow, "MAX_VALUES", 10)
    with pytest.raises(fst.TextError, match=r"11 bytes of text in one array, and .* at most 10; pass slices"):
        fst.Segmenter(maxmatch(["a" * 11])).segment_arrow(pa.array(["a" * 11]))


def test_segments_are_columns_and_rows() -> None:
    """Segments are stored as columns with row splits, and each row is read as a list of strings, with or without offsets."""
    segmenter = fst.Segmenter(maxmatch(["é", "世界", "世界"]))
    found = segmenter.segment_batch(["x世界", "", "é"])
    assert (found.ids.tolist(), found.row_splits.tolist(), found.starts, found.ends) == ([UNSEEN, 1, 0], [0, 2, 2, 3], None, None)
    assert (len(found), found[0], found[-1], [*found][1]) == (3, ["x", "世界"], ["é"], [])
    for offsets, ends in ((True, [1, 3, 1]), ("characters", [1, 3, 1]), ("bytes", [1, 7, 2])):
        located = segmenter.segment_batch(["x世界", "", "é"], offsets=offsets)
        assert located.ends is not None
        assert (located.ends.tolist(), located[0]) == (ends, ["x", "世界"])
    with pytest.raises(IndexError, match="row 3 of 3"):
        found[3]


@each_direction
def test_malformed_texts(direction: str) -> None:
    """A row that is not text is refused, and the message contains the row number; on request, malformed bytes are read as U+FFFD
    instead.
    """
    segmenter = fst.Segmenter(maxmatch(["ab"], direction))
    with pytest.raises(fst.TextError, match="row 1, position 1"):
        segmenter.segment_batch(["ab", "a\ud800"])
    with pytest.raises(fst.TextError, match="the text is int; expected str or bytes"):
        segmenter.segment(3)  # type: ignore[arg-type]
    for offsets in (False, True, "bytes"):
        assert [*segmenter.segment_batch(["ab\ud800ab"], offsets=offsets, errors="replace")] == [["ab", "\ufffd", "ab"]]
        assert [*segmenter.segment_batch([b"ab\xffab"], offsets=offsets, errors="replace")] == [["ab", "\ufffd", "ab"]]
    with pytest.raises(ValueError, match="offsets is 'chars'"):
        segmenter.segment_batch(["a"], offsets="chars")
    with pytest.raises(ValueError, match="errors is 'ignore'"):
        fst.Segmenter(maxmatch(["ab"])).stream(errors="ignore")


def test_streams_of_malformed_text() -> None:
    """On request, a stream reads malformed bytes as U+FFFD, even if a part ends inside a character."""
    for pieces in ([b"ab\xe4", b"\xb8", b"ab"], ["ab\ud800", "ab"]):
        stream = fst.Segmenter(maxmatch(["ab"])).stream(errors="replace")
        for piece in pieces:
            stream.write(piece)
        assert stream.close() == ["ab", "\ufffd", "ab"]


def test_files_of_words(tmp_path: Path) -> None:
    """A dictionary can be read from a file of lines, from a file in jieba's format, from a compressed file, or from a column."""
    (tmp_path / "words.txt").write_text("研究\n生命\n", encoding="utf-8")
    (tmp_path / "dict.txt.gz").write_bytes(gzip.compress("研究 3 n\n生命 5\n".encode()))
    for table in (
        maxmatch(tmp_path / "words.txt"),
        maxmatch(str(tmp_path / "dict.txt.gz"), format="jieba"),
        maxmatch(pa.array(["研究", "生命"])),
    ):
        assert table.words == ("研究", "生命")


@pytest.mark.slow
def test_the_example(tmp_path: Path) -> None:
    """`examples/segment_corpus.py` writes the words of a text file, and adds a column of words to a Parquet file."""
    (tmp_path / "words").write_text("研究\n研究生\n生命\n", encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("研究生命 。\n\n", encoding="utf-8")
    pq.write_table(pa.table({"text": ["研究生命", None]}), tmp_path / "corpus.parquet")
    for name in ("corpus.txt", "corpus.parquet"):
        files: list[str | Path] = [tmp_path / "words", tmp_path / name, "-o", tmp_path / f"new-{name}"]
        subprocess.run([sys.executable, EXAMPLE, *files, "--backward"], check=True)
    assert (tmp_path / "new-corpus.txt").read_text(encoding="utf-8") == "研究 生命 。\n\n"
    assert pq.read_table(tmp_path / "new-corpus.parquet")["words"].to_pylist() == [["研究", "生命"], None]


CHINESE = ["研究", "研究生", "生命", "命"]
REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ([], {}, fst.VocabularyError, "there are no words"),
    (["a", ""], {}, fst.VocabularyError, "word 1: the word is empty"),
    (["a", 3], {}, fst.VocabularyError, "word 1 is int, not str"),
    (["\ud800"], {}, fst.VocabularyError, "word 0: .* is not text"),
    (["a" * 70_000], {}, fst.UnsupportedError, "70,000 bytes"),
    (["a"], {"direction": "left"}, ValueError, "direction is 'left'; expected 'forward' or 'backward'"),
    (CHINESE, {"rules": {"研究|生命": "研究生|命"}}, fst.VocabularyError, r"rule '研究\|生命': the dictionary segments .* '研究生\|命'"),
    (CHINESE, {"rules": {"研究生|命": "研究|生"}}, fst.VocabularyError, r"rule '研究生\|命': '研究\|生' does not segment the same string"),
    (CHINESE, {"rules": {"研究生|命": "研究||生命"}}, fst.VocabularyError, "does not segment the same string"),
    (CHINESE, {"rules": {"研究生|命": ["研究", "生命"]}}, fst.VocabularyError, "both sides are str"),
    (CHINESE, {"rules": {"|": "|"}}, fst.VocabularyError, "rule 0: the rule is empty"),
    (["a"], {"rules": {"\ud800": "\ud800"}}, fst.VocabularyError, "rule 0: .* is not text"),
]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("words", "options", "error", "message"), REFUSED)
def test_dictionaries_that_are_refused(words: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    """An invalid word or rule is refused, and the message contains its position."""
    with pytest.raises(error, match=message):
        maxmatch(words, **options)


def test_rules_with_too_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler counts the tokens of all rules before it allocates memory for them."""
    monkeypatch.setattr(import_module("fst.compile.machines.segmentation.maxmatch"), "MAX_MATCHES", 100)
    with pytest.raises(fst.UnsupportedError, match="the rules give more than 100 tokens"):
        maxmatch(["a", "a" * 200], rules={"a" * 200: "|".join("a" * 200)})


def test_words_with_too_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler counts the tokens of all jumps (failure links) before it allocates memory for them."""
    monkeypatch.setattr(import_module("fst.compile.machines.segmentation.maxmatch"), "MAX_MATCHES", 2_000)
    start = "".join(random.Random(0).choices("ab", k=100))
    words = [start + "c", *(f"x{start}{letter}z" for letter in "defghijklmnopqrstuvw")]
    with pytest.raises(fst.UnsupportedError, match=r"the words contain more than .* tokens of each other"):
        maxmatch(words)


def test_too_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary is refused if it has more words and rules than a table has numbers for."""
    monkeypatch.setattr(import_module("fst.compile.machines.segmentation.maxmatch"), "MAX_VALUE", 3)
    with pytest.raises(fst.UnsupportedError, match="there are 5 words and rules; a table has room for 3"):
        maxmatch(["a", "b", "ab"], rules={"a|c": "ac"})


def sound(direction: str = FORWARD) -> MaxMatchTable:
    """A table that contains all kinds of states, jumps (failure links) and token lists."""
    rules = {"ab|c": "abc"} if direction == FORWARD else {"a|bab": "aba|b"}
    return maxmatch(["ab", "bab", "abcab", "c", "cabd", "😀a😀b"], direction, rules)


HARM: dict[str, tuple[dict[str, Any], str]] = {
    "another direction": ({"direction": "up"}, "direction is 'up'"),
    "another kind of table": ({"kind": "keywords"}, "kind is 'keywords'"),
    "another number of words": ({"words": 5}, "there are 7 words; expected 5"),
    "another length": ({"longest": 7}, "the longest walk reads 6 units; expected 7"),
    "too little length": ({"longest": 3}, "is not within 3 units of the root"),
}


@pytest.mark.parametrize("name", HARM)
def test_damaged_metadata_is_refused(name: str) -> None:
    """A table with contradictory metadata is refused, and the message gives the reason."""
    changes, message = HARM[name]
    with pytest.raises(fst.TableError, match=message):
        replace(sound(), header={**sound().header, **changes}).prove()


TABLE = sound()
EDGES = TABLE.edges()
JUMPS = TABLE.lasts(EDGES).jumps[EDGES.targets != LEAF]
JUMPING, OTHER = (int(EDGES.targets[EDGES.targets != LEAF][found][0]) for found in (JUMPS, ~JUMPS))
LAST_EDGE = int(EDGES.slots[EDGES.targets == LEAF][0])
NO_WORD = int(ENTRY.pack(EDGES.labels[EDGES.targets == LEAF][0], LEAF))
HARMED: dict[str, tuple[str, Any, int, str]] = {
    "a label of two units": ("units", ord("z"), int(TABLE.units[ord("a")]), "2 units have the label"),
    "bits that are no label": ("units", 0, 1 << 17, "unit 0 has the bits 0x20000"),
    "a path without a word": ("entries", LAST_EDGE, NO_WORD, "ends a path, and no word"),
    "a jump that is none": ("entries", OTHER, ENTRY.free | 1, f"state {OTHER} has the jump 1"),
    "no jump": ("entries", JUMPING, ENTRY.free, f"state {JUMPING} has the jump 0"),
    "a jump past the last": ("entries", JUMPING, ENTRY.free | 99, f"state {JUMPING} has the jump 99 of"),
    "a jump without tokens": ("jumps", (1, 0), 0, "jumps without a token"),
    "a jump with a token past the last": ("jumps", (1, 0), 999, "jumps with the token 999"),
    "a jump to no state": ("jumps", (1, 1), 999_999, "jumps to 999999, which is not a state"),
    "a jump over too little": ("jumps", (1, 1), 0, "units too many"),
    "a jump to another token": ("jumps", (1, 3), 9, "jumps to a token that is not that of state"),
    "a first jump": ("jumps", (0, 2), 1, "row 0 of jumps is not empty"),
    "a token past the last word": ("lists", (1, 0), 99, "token 1 has the value 99; there are 7 words"),
    "a token without an end": ("lists", (1, 1), 0, "token 1 does not end after token 0"),
    "a token with another number": ("lists", (1, 2), 7, "token 1 has the number 7"),
    "a token after itself": ("lists", (1, 3), 1, "token 1 does not come after token 1"),
    "a first token": ("lists", (0, 0), 1, "row 0 of lists is not empty"),
    "a rule past the last token": ("rules", 0, 999, "rule 0 has the token 999"),
    "a rule of another size": ("rules", 0, 2, "ends a rule of"),
}


@pytest.mark.parametrize("name", HARMED)
def test_damaged_arrays_are_refused(name: str) -> None:
    """A table that violates a precondition of the kernels is refused, and the message gives the reason."""
    member, place, value, message = HARMED[name]
    array = getattr(TABLE, member).copy()
    array[place] = value
    with pytest.raises(fst.TableError, match=message):
        replace(TABLE, **{member: array}).prove()


@pytest.mark.parametrize("member", ["jumps", "lists"])
def test_missing_rows_are_refused(member: str) -> None:
    """A table without its first jump or first token list, which mean "no jump" and "no token", is refused."""
    with pytest.raises(fst.TableError, match=f"{member} has the shape"):
        replace(TABLE, **{member: getattr(TABLE, member)[:0]}).prove()


def test_equal_dictionaries_have_equal_bytes() -> None:
    """The same words and rules always compile to the same bytes."""
    for direction in DIRECTIONS:
        assert sound(direction).dumps() == sound(direction).dumps()
