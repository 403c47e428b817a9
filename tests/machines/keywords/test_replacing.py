"""Matches and replacements in lists, columns and streams equal those of the naive implementation, of `re.sub`, and of calls with single
texts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive.search import keyword_matches
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst.compile import keywords
from fst.runtime.machines.keywords import searcher as searching
from fst.runtime.machines.keywords.replacing import Found, _ranked, chosen, replaced_strings

KEYWORDS = ["ab", "b", "é", "世a", "aab", "😀"]
LETTERS = "abcé世😀 "
TYPES = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())

each_type = pytest.mark.parametrize("kind", TYPES, ids=str)
texts_of = some.lists(some.text(LETTERS, max_size=40), max_size=8)
replacements = some.one_of(
    some.text("xé世", max_size=3),
    some.lists(some.text("xé😀", max_size=20), min_size=len(KEYWORDS), max_size=len(KEYWORDS)),
    some.dictionaries(some.sampled_from([*KEYWORDS, "other"]), some.text("xé", max_size=20)),
)


def replaced(text: str, by: Any) -> str:
    """Replace the matches that the naive implementation finds in a text."""
    parts, at = list[str](), 0
    for number, start, end in keyword_matches(KEYWORDS, text, "leftmost-longest"):
        keyword = KEYWORDS[number]
        own = by if isinstance(by, str) else by.get(keyword, keyword) if isinstance(by, dict) else by[number]
        parts += text[at:start], own
        at = end
    return "".join([*parts, text[at:]])


def column(texts: Sequence[str | None], kind: Any) -> Any:
    """Make an Arrow column of texts."""
    return pa.array(texts, pa.string()).cast(kind)


def checked(found: Any) -> list[Any]:
    """Validate an Arrow array, and return its rows, in which bytes are decoded to str."""
    found.validate(full=True)
    return [row.decode() if isinstance(row, bytes) else row for row in found.to_pylist()]


@pytest.fixture(scope="module")
def searcher() -> fst.Searcher:
    """Make a searcher for keywords with characters of one to four bytes."""
    return fst.Searcher(keywords(KEYWORDS))


@pytest.fixture(params=["few", "many"])
def _any_number(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test twice: first Python replaces all matches, then kernels replace all matches."""
    monkeypatch.setattr(searching, "FEW", -1 if request.param == "many" else 1 << 30)


class TestLists:
    """Tests of `replace` for str and lists."""

    @examples(400)
    @given(texts=texts_of, by=replacements)
    def test_any_texts(self, searcher: fst.Searcher, texts: list[str], by: Any) -> None:
        """Kernels and Python both replace the matches that the naive implementation finds."""
        with pytest.MonkeyPatch.context() as patch:
            for few in (-1, 1 << 30):
                patch.setattr(searching, "FEW", few)
                assert searcher.replace(texts, by) == [replaced(text, by) for text in texts]

    def test_regular_expressions(self) -> None:
        """Leftmost-first search makes the same replacements as `re.sub` with a pattern that lists the keywords as alternatives."""
        draw = random.Random(1)
        for _ in range(20):
            listed = list(dict.fromkeys("".join(draw.choices("abé", k=draw.randint(1, 4))) for _ in range(8)))
            found = fst.Searcher(keywords(listed, match_kind="leftmost-first"))
            texts = ["".join(draw.choices("abé ", k=draw.randint(0, 200))) for _ in range(20)]
            pattern = re.compile("|".join(listed))
            assert found.replace(texts, "<x>") == [pattern.sub("<x>", text) for text in texts]

    @needs_shared
    def test_lines_of_books(self) -> None:
        """In lines of English, a thousand frequent words are replaced as `re.sub` replaces them."""
        lines = (SHARED / "corpora" / "en_books_20MB.txt").read_text(encoding="utf-8")[:30_000].split("\n")
        listed = [*dict.fromkeys(re.findall(r"\w{3,}", "\n".join(lines)))][:1_000]
        found = fst.Searcher(keywords(listed, match_kind="leftmost-first"))
        pattern = re.compile("|".join(map(re.escape, listed)))
        assert found.replace(lines, "é") == [pattern.sub("é", line) for line in lines]

    @pytest.mark.usefixtures("_any_number")
    def test_what_is_refused(self, searcher: fst.Searcher) -> None:
        """A replacement that is not text is refused, and so is a list whose length is not the number of keywords."""
        for by in ("\ud800", ["\ud800"] * len(KEYWORDS), {"ab": "\ud800"}):
            with pytest.raises(fst.TextError, match=r"the replacement '\\ud800' is not text: a lone surrogate at character 0"):
                searcher.replace(["ab"], by)
        with pytest.raises(ValueError, match="by has 1 replacements; expected 6"):
            searcher.replace([], ["x"])
        wrong: Any
        for wrong in (None, 3, b"x"):
            with pytest.raises(TypeError, match=f"by is {type(wrong).__name__}; expected a str, a list, a dict or a function"):
                searcher.replace("ab", wrong)
        for wrong in ([None] * len(KEYWORDS), {"ab": None}):
            with pytest.raises(fst.TextError, match="the replacement None is NoneType; expected a str"):
                searcher.replace(["ab"], wrong)
        with pytest.raises(fst.TextError, match="row 1, position 0: a lone surrogate"):
            searcher.replace(["ab", "\ud800"], "x")

    @examples(300)
    @given(text=some.text(LETTERS, max_size=90), data=some.data())
    def test_matches_that_share_characters(self, text: str, data: some.DataObject) -> None:
        """Matches with ascending starts and ends may overlap; each match is replaced, and the rest of the text is copied only once."""
        starts, ends = (sorted(data.draw(some.lists(some.integers(0, len(text)), min_size=6, max_size=6))) for _ in range(2))
        spans = [(start, end) for start, end in zip(starts, ends, strict=True) if start <= end]
        found = Found(np.zeros(len(spans), np.int32), np.array(spans, np.int32).reshape(-1, 2), np.array([0, len(spans)]))
        expected = searching._replaced(text, [fst.Match(0, *span) for span in spans], lambda _match, _text: "é" * 17)
        assert replaced_strings([text], chosen("é" * 17, found, ["x"])) == [expected]

    def test_rows_without_matches_stay(self, searcher: fst.Searcher) -> None:
        """If a text has no match, `replace` returns the same object."""
        texts = ["c" * 99, "ab" * 99]
        assert searcher.replace(texts, "x")[0] is texts[0]

    def test_ranks(self) -> None:
        """`_ranked` returns the same ids and ranks whether the number of possible ids is small or large."""
        ids = np.array([5, 2, 5, 9], np.int32)
        for count in (10, 10_000):
            different, ranks = _ranked(ids, count)
            assert (different, ranks.tolist(), ranks.dtype.name) == ([2, 5, 9], [1, 0, 1, 2], "int32")


class TestColumns:
    """Tests of `find_arrow` and `replace_arrow`."""

    TEXTS = ("xabé", None, "", "世a😀ab", None, "none", "ab" * 30)

    def found(self, texts: Sequence[str | None]) -> list[Any]:
        """Return the matches of the naive implementation in the form of an Arrow list."""
        names = ("id", "start", "end")
        rows = [None if text is None else keyword_matches(KEYWORDS, text, "leftmost-longest") for text in texts]
        return [None if row is None else [dict(zip(names, match, strict=True)) for match in row] for row in rows]

    @each_type
    def test_types_and_slices(self, searcher: fst.Searcher, kind: Any) -> None:
        """A column of any type, sliced anywhere, has the same matches as its texts, and replacement keeps its type."""
        whole = column(self.TEXTS, kind)
        for first, last in ((0, 7), (1, 5), (3, 4), (2, 2), (5, 7)):
            part, texts = whole[first:last], self.TEXTS[first:last]
            assert checked(searcher.find_arrow(part)) == self.found(texts)
            for by in ("*", {"ab": "ÄÖ"}, [str(number) for number in range(6)]):
                new = searcher.replace_arrow(part, by)
                assert (type(new), new.type) == (type(part), kind)
                assert checked(new) == [None if text is None else replaced(text, by) for text in texts]

    @each_type
    def test_chunks(self, searcher: fst.Searcher, kind: Any) -> None:
        """Replacement in a chunked column keeps the chunks, including empty chunks."""
        chunks = pa.chunked_array([column(self.TEXTS[first:last], kind) for first, last in ((0, 3), (3, 3), (3, 7))])
        for new in (searcher.find_arrow(chunks), searcher.replace_arrow(chunks, "")):
            assert list(map(len, new.chunks)) == [3, 0, 4]
            new.validate(full=True)
        assert searcher.find_arrow(chunks).to_pylist() == self.found(self.TEXTS)
        assert searcher.replace_arrow(chunks, "").type == kind
        assert searcher.replace_arrow(pa.chunked_array([], kind), "x").type == kind

    @each_type
    @pytest.mark.parametrize("index", [pa.int8(), pa.uint32()], ids=str)
    def test_dictionaries(self, searcher: fst.Searcher, kind: Any, index: Any) -> None:
        """Replacement in a dictionary column keeps its type, and the new dictionary contains each text only once."""
        numbers = pa.array([0, 1, 3, None, 3, 6, 0, 2], index)
        texts = [None if number is None else self.TEXTS[number] for number in numbers.to_pylist()]
        whole = pa.DictionaryArray.from_arrays(numbers, column(self.TEXTS, kind))
        assert checked(searcher.find_arrow(whole)) == self.found(texts)
        new = searcher.replace_arrow(whole[1:], {"ab": "x", "é": "x"})
        assert new.type == whole.type
        assert checked(new) == [None if text is None else replaced(text, {"ab": "x", "é": "x"}) for text in texts[1:]]
        assert len(new.dictionary.unique()) == len(new.dictionary)

    @examples(300)
    @given(texts=some.lists(some.none() | some.text(LETTERS, max_size=80), max_size=10), by=replacements, data=some.data())
    def test_any_column(self, searcher: fst.Searcher, texts: list[str | None], by: Any, data: some.DataObject) -> None:
        """With any texts, a slice of a column has the same matches and replacements as in the naive implementation."""
        kind, first = data.draw(some.sampled_from(TYPES)), data.draw(some.integers(0, len(texts)))
        part = column(texts, kind)[first:]
        assert checked(searcher.find_arrow(part)) == self.found(texts[first:])
        assert checked(searcher.replace_arrow(part, by)) == [None if text is None else replaced(text, by) for text in texts[first:]]

    @pytest.mark.parametrize("kind", [*TYPES, pa.null()], ids=str)
    def test_nulls_alone(self, searcher: fst.Searcher, kind: Any) -> None:
        """Nulls remain null, and an empty column remains empty."""
        for nulls in (pa.nulls(3, kind), pa.nulls(0, kind)):
            assert checked(searcher.find_arrow(nulls)) == [None] * len(nulls)
            assert searcher.replace_arrow(nulls, "x").equals(nulls)

    @pytest.mark.parametrize("by", [lambda match: f"<{match.id}>", "<{0.id}>".format, partial(str.format, "<{0.id}>")])
    def test_functions_of_one_argument(self, searcher: fst.Searcher, by: Any) -> None:
        """A function with one parameter gets the match and returns the replacement, as with `re.sub`."""
        assert searcher.replace(["cab", "é"], by) == ["c<0>", "<2>"]
        assert checked(searcher.replace_arrow(column(["cab", None], pa.string()), by)) == ["c<0>", None]

    def test_functions(self, searcher: fst.Searcher) -> None:
        """A function with two parameters gets the match and the matched text, and returns the replacement."""
        new = searcher.replace_arrow(column(self.TEXTS[:4], pa.large_string()), lambda match, text: f"<{match.start}{text}>")
        assert checked(new) == ["x<1ab><3é>", None, "", "<0世a><2😀><3ab>"]

    def test_other_libraries(self, searcher: fst.Searcher) -> None:
        """A column from any library that exports Arrow arrays is accepted, with any number of threads."""

        class Exported:
            def __arrow_c_array__(self, schema: Any = None) -> Any:
                return column(TestColumns.TEXTS, pa.string()).__arrow_c_array__(schema)

        assert checked(searcher.replace_arrow(Exported(), "*", threads=2)) == checked(
            searcher.replace_arrow(column(self.TEXTS, pa.string()), "*")
        )

    def test_errors(self, searcher: fst.Searcher) -> None:
        """A message about a wrong text contains its row in the entire column, and a message about a wrong column contains the column's
        type.
        """
        wrong = pa.chunked_array([column(["a"], pa.binary()), pa.array([None, b"a\xff"])])
        with pytest.raises(fst.TextError, match="row 2, position 1: not UTF-8"):
            searcher.find_arrow(wrong)
        with pytest.raises(fst.TextError, match="row 2, position 1: not UTF-8"):
            searcher.replace_arrow(wrong, "x")
        unused = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array([b"\xff", b"ab"]))
        assert searcher.replace_arrow(unused, "x").to_pylist() == [b"x", b"x"]
        with pytest.raises(fst.TextError, match="the type of the column is int64; expected texts"):
            searcher.replace_arrow(pa.array([1]), "x")
        with pytest.raises(ValueError, match="by has 0 replacements; expected 6"):
            searcher.replace_arrow(column([], pa.string()), [])

    def test_texts_that_grow_too_long(self, searcher: fst.Searcher) -> None:
        """If a result would be too long for the offsets of the column's type, it is refused before memory is allocated."""
        texts = column(["ab" * 3_000], pa.string())
        with pytest.raises(fst.TextError, match=r"3,000,000,000 bytes in one array of string; .* cast it to large_string"):
            searcher.replace_arrow(texts, "x" * 1_000_000)


class TestStreams:
    """Tests of `stream`."""

    @examples(400)
    @given(text=some.text(LETTERS, max_size=40), data=some.data())
    def test_any_cut(self, searcher: fst.Searcher, text: str, data: some.DataObject) -> None:
        """A text that is streamed as str or bytes, cut anywhere, has the same matches as in the naive implementation."""
        whole: Any = data.draw(some.sampled_from([text, text.encode()]))
        cuts = sorted(data.draw(some.lists(some.integers(0, len(whole)), max_size=5)))
        stream, found = searcher.stream(), list[fst.Match]()
        for begin, end in pairwise([0, *cuts, len(whole)]):
            stream.write(whole[begin:end])
            found += stream.read()[0]
        assert [*found, *stream.close()[0]] == keyword_matches(KEYWORDS, text, "leftmost-longest")

    def test_columns(self, searcher: fst.Searcher) -> None:
        """A stream returns its matches as one row, with positions of 64 bits."""
        stream = searcher.stream()
        stream.write("ab ab")
        found = stream.close()
        assert (len(found), found.row_splits.tolist()) == (1, [0, 2])
        assert [array.dtype.name for array in (found.ids, found.starts, found.ends)] == ["int32", "int64", "int64"]
        with pytest.raises(ValueError, match="the stream is closed"):
            stream.write("ab")

    def test_memory_does_not_grow(self) -> None:
        """A stream never stores more bytes than the longest keyword has, however much text it reads."""
        stream = fst.Searcher(keywords(["a" * 50 + "b", "cd"])).stream()
        for _ in range(200):
            stream.write("ca" * 5 + "a" * 5_000)
            stream.read()
            assert sum(map(len, stream._stream._unread)) <= 50

    def test_errors(self, searcher: fst.Searcher) -> None:
        """A stream refuses bytes that are not UTF-8, or reads them as U+FFFD on request."""
        stream = searcher.stream()
        stream.write(b"ab\xff")
        with pytest.raises(fst.TextError, match="position 2 of the stream: not UTF-8"):
            stream.read()
        stream = searcher.stream(errors="replace")
        stream.write(b"ab\xffab")
        assert stream.close()[0] == [fst.Match(0, 0, 2), fst.Match(0, 3, 5)]
        with pytest.raises(ValueError, match="errors is 'skip'"):
            searcher.stream(errors="skip")


KINDS: list[tuple[list[str], dict[str, Any]]] = [
    (["ab", "B", "é"], {"ignore_case": True, "whole_words": True}),
    (["f", "i", "fi", "a"], {"normalizer": {"type": "NFKC"}}),
    (["f", "i", "a-b"], {"normalizer": {"type": "NFKC"}, "match_kind": "leftmost-first", "ignore_case": True}),
    (["e", "\u0301", "ab"], {"normalizer": {"type": "NFD"}, "match_kind": "standard"}),
    (["", "ab", "é"], {"allow_empty": True}),
    (["", "fi"], {"allow_empty": True, "normalizer": {"type": "NFKC"}, "match_kind": "leftmost-first"}),
    (["a", "ab", "b", "b"], {"match_kind": "overlapping"}),
    (["", "f", "FI"], {"match_kind": "overlapping", "ignore_case": True, "allow_empty": True, "normalizer": {"type": "NFKC"}}),
]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("listed", "options"), KINDS)
def test_all_kinds(listed: list[str], options: dict[str, Any]) -> None:
    """With any options, columns and streams have the same matches as lists, and either kernels and Python make the same replacements, or
    both refuse.
    """
    draw, searcher = random.Random(1), fst.Searcher(keywords(listed, **options))
    texts = ["".join(draw.choices("aBéﬁfiAb -世", k=draw.randint(0, 30))) for _ in range(60)]
    found = searcher.find_batch(texts)
    lists = searcher.find_arrow(pa.array([*texts, None])).to_pylist()
    assert [[tuple(match.values()) for match in row] for row in lists[:-1]] == [*found]
    for text, row in zip(texts, found, strict=True):
        stream, matches = searcher.stream(), list[fst.Match]()
        cuts = sorted(draw.randint(0, len(text)) for _ in range(3))
        for begin, end in pairwise([0, *cuts, len(text)]):
            stream.write(text[begin:end])
            matches += stream.read()[0]
        assert [*matches, *stream.close()[0]] == row
    if options.get("match_kind") == "overlapping":
        for refused in (lambda: searcher.replace(texts, "x"), lambda: searcher.replace_arrow(pa.array(texts), "x")):
            with pytest.raises(ValueError, match="replace: matches overlap"):
                refused()
        return
    for by in ("", "<é>", [str(number) for number in range(len(listed))]):
        rows = []
        for few in (-1, 1 << 30):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(searching, "FEW", few)
                rows.append(searcher.replace(texts, by))
        assert rows[0] == rows[1] == searcher.replace_arrow(pa.array(texts), by).to_pylist()
