"""Long texts for byte-level BPE can be cut at safe cuts, and the parts then have the same ids, positions and words as the entire text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as some
from support.kept import bpe
from support.machines.bpe import SMALL_PATTERNS, small
from support.pretokens.patterns import ANY, CL100K, O200K
from support.runtime.cuts import check_threads
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample

import fst
from fst.compile.pretokens.splits import GPT2
from fst.machines.bpe.table import BpeTable
from fst.runtime.pretokens.safe_cuts import STRETCHES, PretokenBegins, _codes, leave_ascii
from fst.runtime.rows import batch as batches
from fst.runtime.rows.texts import Text, rows_of
from fst.runtime.safe_cuts import SafeCuts
from fst.tables.header import ContextualToken

MERGES = [(b"a", b"b"), (b" ", b"a"), (b"\n", b"\n"), (b" a", b"b"), (b"'", b"s"), (b"b", b"b")]
SPECIAL = ("<s>", "<ab<", "\n\n<", "é>", "<<<s>", "> b", "xab")
PATTERNS = {"GPT-2": GPT2, "cl100k": CL100K, "look ahead": "a(?=b)|b+(?! )" + ANY, "runs": "(?:ab)+|ba| +" + ANY}
# Strings that are difficult next to a cut: words, spaces, contractions, complete and truncated special tokens, and non-ASCII characters.
PIECES = (
    *("ab", " ab", "abba", "Ab", "it's", " 'S", "12345", " 1", "  ", " \n", "\n\n", "\t", "!?", " ...", "x_y", "a" * 30, " " * 30, "the "),
    *(" we cut, (then) join;", "if x[0] == 'y':", "It's 3.14 o'clock ", "snake_case+CamelCase ", "//", "a\tb  c "),
    *(*SPECIAL, "<s", "<<<", "é", "e\u0301", "世界", "😀", "\u2028", "\u00a0 ", "\0"),
)

each_pattern = pytest.mark.parametrize(
    "name", ["GPT-2", "cl100k", *(pytest.param(name, marks=pytest.mark.slow) for name in ("look ahead", "runs", "o200k"))]
)


@cache
def tokenizer(pattern: str, special: tuple[str, ...] = SPECIAL) -> Any:
    """Make a tokenizer with few merges."""
    return fst.Tokenizer(small(pattern, MERGES, special=special).table)


def text_of(seed: int | str, pretokens: int) -> str:
    """A text that contains all strings that are difficult next to a cut."""
    return "".join(random.Random(seed).choices(PIECES, k=pretokens))


def cuts_of(tok: Any, text: Text) -> list[int]:
    """Find all safe cuts of a text."""
    cuts: PretokenBegins = tok._safe_cuts
    return [int(cut) for cut in cuts._cuts(_codes(text))]


class Given(SafeCuts):
    """A replacement for the search for safe cuts, which returns the cuts that a test passes."""

    ahead = PretokenBegins.ahead

    def __init__(self, cuts: Sequence[int]) -> None:
        self._cuts = cuts

    def parts(self, text: Text, size: int) -> list[tuple[int, int]]:  # noqa: ARG002
        """Return the parts between the cuts."""
        return list(zip([0, *self._cuts], [*self._cuts, len(text)], strict=True))


def hold(tok: Any, text: Text, cuts: Sequence[int]) -> None:
    """Check that a text that is cut at the given positions gets the same ids, spans and words as without cuts."""
    row: Any = [text]
    rows = rows_of(row)
    whole, parted = (batches.Job(rows, tok._special_ids, "strict", tok._spans_runner, safe_cuts=at).run(2) for at in (None, Given(cuts)))
    for name in ("ids", "row_splits", "offsets", "words"):
        np.testing.assert_array_equal(getattr(parted, name), getattr(whole, name), f"{name} of {text!r}, cut at {cuts}")


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the encoder divide texts of any length and read only a few characters at a time."""
    monkeypatch.setattr(batches, "MIN_SHARE", 1)
    monkeypatch.setattr(batches, "BLOCK", 16)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@each_pattern
def test_every_cut(name: str) -> None:
    """If a text is cut at a single safe cut, or at every safe cut, the ids, spans and words are the same as without cuts."""
    tok = tokenizer(PATTERNS.get(name, O200K))
    text = text_of(name, 60)
    cuts = cuts_of(tok, text)
    assert len(cuts) > 5
    for cut in cuts:
        hold(tok, text, [cut])
    hold(tok, text, cuts)
    hold(tok, text.encode(), cuts_of(tok, text.encode()))


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("pattern", SMALL_PATTERNS)
def test_all_short_texts(pattern: str) -> None:
    """For each text of eight letters, each safe cut leaves the ids unchanged and is a boundary of the splitter."""
    tok = tokenizer(pattern, ("ba",))
    for letters in sample([*product("ab ", repeat=8)], 300, pattern):
        text = "".join(letters)
        begins = {begin for begin, _ in tok._table.splitter.pretokens(text)}
        for cut in cuts_of(tok, text):
            assert cut in begins or "ba" in text
            hold(tok, text, [cut])


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@each_pattern
@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=some.lists(some.lists(some.sampled_from(PIECES), max_size=30).map("".join), min_size=1, max_size=4), size=some.integers(1, 60))
def test_any_texts(name: str, texts: list[str], size: int) -> None:
    """Texts of any length get the same ids, spans, words and counts on several threads as on one."""
    tok = tokenizer(PATTERNS.get(name, O200K))
    for text in texts:
        parts = tok._safe_cuts.parts(text, size) if text else []
        assert "".join(text[begin:end] for begin, end in parts) == text
        assert all(end - begin >= size for begin, end in parts[:-1])
    check_threads(tok, texts, offsets=True)
    check_threads(tok, [text.encode() for text in texts])
    assert tok.count_tokens(texts, threads=3).tolist() == tok.count_tokens(texts, threads=1).tolist()


@pytest.mark.slow
@pytest.mark.usefixtures("short_parts")
def test_what_is_not_text_is_replaced() -> None:
    """In a text that is divided, invalid bytes and lone surrogates are replaced as in other texts, and errors contain the position in
    the entire text.
    """
    tok, draw = tokenizer(GPT2), random.Random(8)
    wrong = (b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\xbd", b"\xff", b"\xe4\xb8 \xad", b"\xc2\n")
    data = [b"".join(draw.choice([*wrong, *(pretoken.encode() for pretoken in PIECES)]) for _ in range(150)) for _ in range(3)]
    check_threads(tok, data, errors="replace", offsets=True)
    surrogates = ("\ud83d", chr(0xDE00), "\ud83d \ude00", *PIECES)
    check_threads(tok, ["".join(draw.choices(surrogates, k=150)) for _ in range(3)], errors="replace", offsets=True)
    with pytest.raises(fst.TextError, match="row 0, position 450: not UTF-8"):
        tok.encode_batch([b"ab " * 150 + b"\xff" + b" ab" * 90], threads=3)


@pytest.mark.slow
def test_added_tokens_are_kept_away_from() -> None:
    """A position is not a safe cut if an added token may contain or overlap the characters that would make the cut safe."""
    text = "the abc def ghi jkl " * 4
    free, cut = cuts_of(tokenizer(GPT2, ()), text), text.index(" ghi")
    first = cut + PretokenBegins.ahead - tokenizer(GPT2, ())._safe_cuts._width
    assert cut in free
    assert free == cuts_of(tokenizer(GPT2, ("<s>",)), text)
    for special in (text[cut:], text[cut + 2], text[first], f"x{text[first - 1]}", f"x{text[first - 1 : first + 1]}x"):
        held = cuts_of(tokenizer(GPT2, (special,)), text)
        assert cut not in held, special
        assert set(held) < set(free)


def test_contextual_tokens_have_room() -> None:
    """If added tokens may include adjacent whitespace, the characters that make a cut safe neither begin nor end with whitespace."""
    tok = tokenizer(GPT2, ())
    table: BpeTable = tok._table
    token = ContextualToken(0, single_word=False, lstrip=True, rstrip=True, normalized=False, decoded="<m>")
    added = replace(table.metadata.added_tokens, contextual={"<m>": token})
    contextual = replace(table, header={**table.header})
    vars(contextual)["metadata"] = replace(table.metadata, added_tokens=added)
    cuts, width = PretokenBegins(contextual, tok._ids_runner.arguments.shared), tok._safe_cuts._width
    text = text_of("contextual", 300)
    found = cuts._cuts(_codes(text)).tolist()
    assert found
    assert not [cut for cut in found if text[cut + 2 - width].isspace() or text[cut + 1].isspace()]


def test_normalizers() -> None:
    """If a table has normalizers, a text is cut only in ASCII characters that the normalizers do not change."""
    assert leave_ascii(["NFC"])
    assert leave_ascii([])
    assert not leave_ascii(["NFC", "Lowercase"])


@pytest.mark.parametrize("text", ["世界" * 200_000, "a" * 400_000, "é " * 200_000, b"\xff" * 400_000], ids=["世", "a", "é", "bytes"])
def test_texts_without_cuts(text: Text) -> None:
    """A text without safe cuts is not divided, and the search for cuts reads only a small part of the text."""
    tok = tokenizer(GPT2)
    assert tok._safe_cuts.parts(text, 1 << 16) == [(0, len(text))]
    assert STRETCHES[-1] <= 1 << 13
    if isinstance(text, str):
        check_threads(tok, [text], 2)


def test_long_text_is_shared(helpers: Any) -> None:
    """Several threads encode one long text, even with few safe cuts, and its ids are the same as on one thread."""
    tok = tokenizer(GPT2)
    for text in ("the abba is 12 " * 60_000, ("世" * 5_000 + " the ab ba\n the") * 150):
        assert helpers(tok.encode_batch, [text], threads=2) == 1
        check_threads(tok, [text, "a"], 2, offsets=True)


def test_long_rows_of_columns_are_shared(helpers: Any) -> None:
    """A long row of a column is divided among threads without a copy, and its ids are the same as on one thread."""
    arrow = pytest.importorskip("pyarrow")
    tok, text = tokenizer(GPT2), "the abba, é is 12 " * 50_000
    column = arrow.array(["ab", text, None])
    assert helpers(lambda: tok.encode_arrow(column, threads=2)) == 1
    assert tok.encode_arrow(column, threads=2).to_pylist() == [tok.encode("ab").tolist(), tok.encode(text).tolist(), None]


@pytest.mark.usefixtures("short_parts")
def test_cuts_where_no_piece_begins() -> None:
    """If a forged table allows a cut inside a pre-token, the cut is detected, and the text is refused."""
    for text, cut in (("a" * 100, 50), ("the abba", 6), ("it's ab", 3)):
        with pytest.raises(fst.TableError, match=f"^row 0, position {cut}: the text cannot be cut here, although the table allows it"):
            hold(tokenizer(GPT2, ()), text * 3, [cut])


TIKTOKEN = [f"{name}/{name}.tiktoken" for name in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base")]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"),
    sample(
        [*product(["gpt2", *TIKTOKEN, "tekken_240718/tekken.json.gz"], sorted(path.name for path in (SHARED / "corpora").glob("*")))], 36
    ),
)
def test_corpora(name: str, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many cuts, and with parts of the usual size, the corpora get the same ids and spans as on one thread."""
    tok: Any = fst.Tokenizer(bpe(SHARED / "vocab_bpe" / name))
    text = (SHARED / "corpora" / file).read_text("utf-8")[:500_000]
    check_threads(tok, [text], 2, offsets=True)
    monkeypatch.setattr(batches, "MIN_SHARE", 1)
    cuts = cuts_of(tok, text[:20_000])
    hold(tok, text[:20_000], cuts[::10])
