"""Cuts: a long text that threads divide gets the same ids, positions and words as in one part.

Most tests shorten parts, so that a text of some hundred characters has many parts.
"""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import assemble, wordpiece
from support.machines.documents import ADDED, PIECES, TOKENS, source_with
from support.runtime.cuts import check_threads
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.machines.wordpiece.tokenizer import spaces
from fst.runtime.rows import batch as batches
from fst.runtime.safe_cuts import AfterSpaces
from fst.tables.header import ContextualToken

WORDS_AND_NUMBERS = ({"type": "Whitespace"}, {"type": "Digits", "individual_digits": False})
PUNCTUATION = ({"type": "Punctuation", "behavior": "Contiguous"}, {"type": "WhitespaceSplit"})
MACHINES: dict[str, dict[str, Any]] = {
    "as BERT": {},
    "short words": {"max_input_chars_per_word": 5},
    "words and numbers": {"pre_tokenizers": WORDS_AND_NUMBERS},
    "runs of punctuation": {"pre_tokenizers": PUNCTUATION},
    "marks stay": {"normalizers": ({"type": "NFD"},)},
    "nothing is cleaned": {"clean_text": False},
    "one word": {"pre_tokenizer": "none"},
}
HOSTILE = (
    *PIECES,
    *(" ", "\n", " \n ", "[MASK] ", "[MAS ", "<s> x", "\u302e ", "\u1b44\u302e \u302e", "!! !!", "12 34", "1a\n1", "x" * 99, "\0 \0"),
    *("\r\n", "_ ", "é ", "東京\n", "a" * 99 + " "),
)

each_machine = pytest.mark.parametrize("name", MACHINES)


@functools.cache
def tables(name: str) -> WordPieceTable:
    """Compile a few tokens, and special tokens without a space, which are found in raw text."""
    added = {token: len(TOKENS) + number for number, token in enumerate(ADDED) if " " not in token}
    found: WordPieceTable = assemble(source_with(added, **MACHINES[name]), "auto")
    return found


@functools.cache
def made(name: str) -> fst.Tokenizer:
    """Make the tokenizer that the tests share."""
    return fst.Tokenizer(tables(name))


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide texts into parts of 20 characters, two at a time."""
    monkeypatch.setattr(batches, "MIN_SHARE", 20)
    monkeypatch.setattr(batches, "BLOCK", 40)


def hostile(seed: int, pieces: int) -> str:
    """Make a text of all strings next to which a cut could change ids."""
    return "".join(random.Random(seed).choices(HOSTILE, k=pieces))


@pytest.mark.mostly_slow
@each_machine
def test_texts_fall_apart_at_blanks(name: str) -> None:
    """The parts of a text before and after a safe cut get the same ids alone as together."""
    may_be_cut = spaces(tables(name))
    assert may_be_cut == {"one word": ""}.get(name, " \n")
    tok, text = made(name), hostile(1, 40)
    whole = tok.encode(text, add_special_tokens=False).tolist()
    for place in [place for place, char in enumerate(text, 1) if char in may_be_cut]:
        before, after = (tok.encode(part, add_special_tokens=False).tolist() for part in (text[:place], text[place:]))
        assert before + after == whole, place


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("special", "expected"), [("[X]", " \n"), ("a b", "\n"), ("a\nb", " "), ("\n \n", ""), (" ", "\n"), ("a\tb", " \n")], ids=ascii
)
def test_blanks_of_special_tokens(special: str, expected: str) -> None:
    """A text is not cut at a character that a special token contains."""
    assert spaces(assemble(source_with({special: len(TOKENS)}), "auto")) == expected


@given(text=st.text(st.sampled_from("ab \n"), min_size=1, max_size=200), size=st.integers(1, 50), are_bytes=st.booleans())
def test_parts(text: str, size: int, are_bytes: bool) -> None:
    """The parts join to the text; each except the last has at least the given size, and ends at the first safe position."""
    data: Any = text.encode() if are_bytes else text
    found = [text[begin:end] for begin, end in AfterSpaces(" \n").parts(data, size)]
    assert "".join(found) == text
    assert all(found)
    for part in found[:-1]:
        assert len(part) > size
        assert part[-1] in " \n"
        assert not set(part[size:-1]) & set(" \n")


def test_parts_where_nothing_can_be_cut() -> None:
    """A text without a space is one part."""
    assert AfterSpaces(" \n").parts("a" * 1000, 10) == [(0, 1000)]


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@each_machine
@examples(120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    texts=st.lists(st.lists(st.sampled_from(HOSTILE), max_size=40).map("".join), min_size=1, max_size=6),
    threads=st.integers(2, 5),
    are_bytes=st.booleans(),
    framed=st.booleans(),
)
def test_any_texts(name: str, texts: list[str], threads: int, are_bytes: bool, framed: bool) -> None:
    """The ids, positions, words and counts of a text of any length do not depend on the number of threads."""
    tok = made(name)
    data: Any = [text.encode() for text in texts] if are_bytes else texts
    check_threads(tok, data, threads, offsets=True, add_special_tokens=framed)
    check_threads(tok, data, threads, add_special_tokens=framed)
    counted = tok.count_tokens(data, threads=threads, add_special_tokens=framed)
    assert counted.tolist() == tok.count_tokens(data, threads=1, add_special_tokens=framed).tolist()


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@each_machine
def test_long_beside_short(name: str) -> None:
    """Long texts between short and empty texts get the same rows, special tokens and positions from several threads as from one thread."""
    rows = ["", "a", hostile(2, 200), "", hostile(3, 3), hostile(4, 300), "b" * 500, " " * 500, "\n", hostile(5, 100)]
    for threads in (2, 3, 8):
        check_threads(made(name), rows, threads, offsets=True)
        check_threads(made(name), [row.encode() for row in rows], threads, offsets="bytes")


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("most", [2, 3, 17, 100, 10_000])
def test_at_most_so_many_ids(most: int) -> None:
    """`max_length` has the same effect on a divided text as on one part."""
    check_threads(made("as BERT"), [hostile(6, 100), "a", hostile(7, 300)], max_length=most, offsets=True)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_parts")
@each_machine
def test_what_is_not_text_is_replaced(name: str) -> None:
    """Invalid bytes and lone surrogates are replaced in a divided text as in one part."""
    draw = random.Random(8)
    wrong = (b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\xbd", b"\xff", b"\xe4\xb8 \xad", b"\xc2\n")
    data = [b"".join(draw.choice([*wrong, *(piece.encode() for piece in HOSTILE)]) for _ in range(150)) for _ in range(3)]
    check_threads(made(name), data, errors="replace", offsets=True)
    surrogates = ("\ud83d", chr(0xDE00), "\ud83d \ude00", "\ud83d\ude00", *HOSTILE)
    check_threads(made(name), ["".join(draw.choices(surrogates, k=150)) for _ in range(3)], errors="replace", offsets=True)


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([b"a " * 100, b"a " * 150 + b"\xff" + b" b" * 50 + b"\x80", b"\xff"], "row 1, position 300: not UTF-8"),
        ([b"a " * 100 + b"\xe4\xb8 " + b"a " * 100], "row 0, position 200: not UTF-8"),
        ([b"a " * 100 + b"\xe4\xb8"], "row 0, position 200: not UTF-8"),
        (["a " * 100, "é " * 150 + "\ud800" + " b" * 50 + "\ud800"], "row 1, position 300: a lone surrogate"),
        (["a", ["b"], "a " * 100], "row 1 is list, not str"),
        (["a", None, "a " * 100], "row 1 is NoneType, not str"),
        (["a", ["b"], b"a " * 100], "row 1 is list, not str"),
        (["a " * 100, b"a " * 100], "row 1 is bytes, not str"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_errors_are_those_of_the_whole(texts: Any, message: str, threads: int) -> None:
    """The first malformed row is reported with its position in the entire row, for any number of threads."""
    with pytest.raises(fst.TextError, match=message):
        made("as BERT").encode_batch(texts, threads=threads)


@pytest.mark.slow
@pytest.mark.usefixtures("short_parts")
def test_late_tokens_are_not_cut() -> None:
    """A divided text gets the same ids as in one part, also if an added token includes the spaces next to it."""
    source = source_with({})
    late = ContextualToken(len(TOKENS), single_word=False, lstrip=True, rstrip=True, normalized=True, decoded="un a")
    tok = fst.Tokenizer(assemble(replace(source, added=replace(source.added, contextual={"un a": late})), "auto"))
    text = " un  un a " * 100
    assert len(tokens := tok.tokenize(text)) == tokens.count("un") + tokens.count("un a")
    check_threads(tok, [text, "a"], offsets=True)


@needs_shared
@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-multilingual-cased"])
def test_parts_of_their_true_size(name: str) -> None:
    """A hostile text of several million characters gets the same ids from several threads as from one thread."""
    tok = fst.Tokenizer(wordpiece(SHARED / "vocab" / name / "tokenizer.json"))
    text = hostile(9, 80_000)
    assert len(AfterSpaces(" \n").parts(text, batches.MIN_SHARE)) > 3
    for threads in (2, 3):
        check_threads(tok, [text, "a", text.encode().decode()], threads, offsets=True)
        check_threads(tok, [text.encode()], threads)


def test_parts_are_taken_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long text is divided among all threads, and a single thread reads it in one part."""
    monkeypatch.setattr(batches, "MIN_SHARE", 1 << 12)
    job = batches.Job
    groups = []
    real = job._chunks

    def noted(self: batches.Job, threads: int, cut: Any) -> Any:
        groups.append((threads, found := list(real(self, threads, cut))))
        return iter(found)

    monkeypatch.setattr(job, "_chunks", noted)
    text = "un a! " * 50_000
    for threads in (1, 2, 4):
        made("as BERT").encode_batch([text], threads=threads)
    assert [count for count, _ in groups] == [1, 2, 4]
    assert [len(found) > 4 for _, found in groups] == [False, True, True]
    assert all(first.end == second.begin for first, second in pairwise(groups[1][1]))
