"""Sessions return exact changes, know certain ids, and raise errors without a change."""

from __future__ import annotations

import functools
import json
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import kept
from support.conformance.samples import GPT2, MERGES, unigram_document
from support.conformance.ways import table_of
from support.machines.documents import byte_level
from support.shared_data import SHARED, needs_shared

import fst
from fst.compile import tokenizer


def made(name: str) -> Any:
    """Make the tokenizer of a sample."""
    return fst.Tokenizer(table_of(name))


@functools.cache
def gpt2() -> Any:
    """Make the tokenizer of GPT-2."""
    return fst.Tokenizer(kept.tokenizer(SHARED / "vocab_bpe/gpt2/tokenizer.json"))


def bare(tok: Any, text: str) -> list[int]:
    """Encode a text without special tokens around it."""
    ids: list[int] = tok.encode(text, add_special_tokens=False).tolist()
    return ids


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("bpe automaton", "ab 1'"),
        ("bpe affixes", "abc "),
        ("bpe longest match", "ab 1é"),
        ("bpe characters", "ab é"),
        ("unigram", "ab日 "),
        ("wordpiece added", "u<s>x"),
        ("wordpiece composed", "ue\u0301 "),
    ],
)
def test_certain_ids_never_change(name: str, letters: str) -> None:
    """For all short texts over an alphabet, and all short texts that are appended, the certain ids stay."""
    check_certain(made(name), letters)


def check_certain(tok: Any, letters: str) -> None:
    """Check all short texts over an alphabet."""
    texts = ["".join(chosen) for size in range(4) for chosen in product(letters, repeat=size)]
    appended = texts[1 : 1 + len(letters) + len(letters) ** 2]
    for text in texts:
        session = tok.session(text)
        ids, certain = session.ids.tolist(), session.certain
        for more in appended:
            assert bare(tok, text + more)[:certain] == ids[:certain], (text, more)


@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD"])
def test_certain_ids_inside_a_composed_word(form: str, tmp_path: Path) -> None:
    """With a normalizer that composes, ids inside an unfinished word are certain, and stay."""
    document = byte_level(GPT2, [*MERGES, (b"\xcc", b"\x81")], [], ["<s>x"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**document, "normalizer": {"type": form}}), encoding="utf-8")
    tok: Any = fst.Tokenizer(tokenizer(path))
    check_certain(tok, "ae\u0301é ")
    session = tok.session("e\u0301 " + "b" * 9)
    assert len(session.ids) - session.certain == 1  # a mark may compose with the last letter


@pytest.mark.parametrize(
    ("name", "letters", "size"),
    [
        ("bpe automaton", "ab ", 4),
        ("bpe automaton", "ab1' ", 3),
        ("bpe ignored merges", "ab ", 4),
        ("bpe ranks", "ab ", 4),
        ("bpe longest match", "ab1", 4),
        ("bpe dropped text", "ab ", 4),
    ],
)
def test_certain_ids_are_all_that_never_change(name: str, letters: str, size: int) -> None:
    """For byte-level BPE, each further id is changed by some short text that is appended."""
    tok = made(name)
    texts = ["".join(chosen) for count in range(size + 1) for chosen in product(letters, repeat=count)]
    ids = {text: bare(tok, text) for text in {text + more for text in texts for more in texts}}
    for text in texts:
        same = (zip_longest(ids[text], ids[text + more]) for more in texts)
        expected = min(next((place for place, (one, other) in enumerate(pairs) if one != other), len(ids[text])) for pairs in same)
        assert tok.session(text).certain == min(expected, len(ids[text])), text


@needs_shared
@pytest.mark.parametrize("file", ["en_books_20MB.txt", "code_python.txt", "docs_zh.md"])
@pytest.mark.parametrize("name", ["gpt2/tokenizer.json", "qwen3/tokenizer.json.gz"])
def test_nearly_all_ids_are_certain(name: str, file: str) -> None:
    """At most 32 ids are uncertain, in English, code and Chinese, with and without a normalizer."""
    tok = fst.Tokenizer(kept.tokenizer(SHARED / "vocab_bpe" / name))
    text = (SHARED / "corpora" / file).read_text("utf-8")[:30_000]
    session = tok.session()
    for begin in range(0, len(text), 50):
        session.append(text[begin : begin + 50])
        assert len(session.ids) - session.certain <= 32
    assert session.ids.tolist() == bare(tok, text)


def test_a_change_is_the_smallest() -> None:
    """A change contains no id that is equal at the same place before and after it."""
    session = made("wordpiece auto").session("un un un")
    change = session.edit(3, 5, "a")
    assert (change.start, change.removed, len(change.ids)) == (1, 1, 1)
    assert session.edit(0, 0, "")[:2] == (0, 0)
    assert session.append("")[1:2] == (0,)


def test_forks_are_independent() -> None:
    """A change of a fork changes neither the original nor another fork."""
    tok = made("bpe automaton")
    session = tok.session("the abba")
    first, second = session.fork(), session.fork()
    first.append("x")
    second.edit(0, 3, "a")
    assert (session.text, first.text, second.text) == ("the abba", "the abbax", "a abba")
    assert session.ids.tolist() == bare(tok, "the abba")


def test_marks() -> None:
    """A session returns to a mark any number of times; marks of other sessions and later marks are refused."""
    session = made("bpe automaton").session("a")
    first = session.mark()
    session.append("b")
    second = session.mark()
    session.append("c")
    session.rollback(second)
    assert session.text == "ab"
    session.rollback(first)
    session.rollback(first)
    assert session.text == "a"
    for wrong in (second, session.fork().mark(), None):
        with pytest.raises(ValueError, match="expected a mark of this session that no rollback has removed"):
            session.rollback(wrong)
    assert session.text == "a"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda session: session.append(b"a"), fst.TextError, "the text is bytes; expected str"),
        (lambda session: session.append("a\ud800"), fst.TextError, "position 1 of the given text: a lone surrogate"),
        (lambda session: session.edit(2, 1, "a"), ValueError, "the range is 2 to 1; expected 0 <= begin <= end <= 8"),
        (lambda session: session.edit(0, 9, "a"), ValueError, "the range is 0 to 9; expected 0 <= begin <= end <= 8"),
        (lambda session: session.edit(-1, 1, "a"), ValueError, "the range is -1 to 1"),
        (lambda session: session.edit(3, 4, "x"), ValueError, "expected text that is not from append_ids"),
        (lambda session: session.edit(1, 3, ""), ValueError, "expected text that is not from append_ids"),
        (lambda session: session.edit(3, 3, "x"), ValueError, "expected text that is not from append_ids"),
        (lambda session: session.append_ids([1, 10**6]), ValueError, "an id is 1000000; expected the id of a token"),
        (lambda session: session.append_ids([-1]), ValueError, "an id is -1; expected the id of a token"),
        (lambda session: session.append_ids([1.5]), TypeError, "an id is 1.5; expected a whole number"),
        (lambda session: session.append_ids([True]), TypeError, "an id is True; expected a whole number"),
        (lambda session: session.append_ids(3), TypeError, "ids is 3; expected a list or an array of whole numbers"),
        (lambda session: session.append_ids(np.array(3)), TypeError, r"ids is array\(3\); expected a list or an array"),
        (lambda session: session.edit("1", 1, ""), TypeError, "begin is '1'; expected a whole number"),
        (lambda session: session.edit(0, None, ""), TypeError, "end is None; expected a whole number"),
    ],
)
def test_errors_change_nothing(call: Any, error: type[Exception], message: str) -> None:
    """After an error, a session is as before."""
    tok = made("bpe automaton")
    session = tok.session("ab")
    session.append_ids(bare(tok, "abb"))
    session.append("the")
    before = session.text, session.ids.tolist(), session.certain
    assert before[0] == "ababbthe"
    with pytest.raises(error, match=message):
        call(session)
    assert (session.text, session.ids.tolist(), session.certain) == before


def test_unknown_characters_are_refused(tmp_path: Any) -> None:
    """Without an unknown token, a text with an unknown character is an error, and changes nothing."""
    document = unigram_document()
    document["model"]["unk_id"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    session = fst.Tokenizer(tokenizer(tmp_path / "tokenizer.json")).session("ab ab")
    before = session.ids.tolist()
    for begin, end in ((5, 5), (1, 2)):
        with pytest.raises(fst.TextError, match="'q' is unknown"):
            session.edit(begin, end, "q")
    assert session.ids.tolist() == before


def test_ids_in_a_character() -> None:
    """Appended ids may end inside a character, which later ids complete; a text in between is an error."""
    tok = made("bpe automaton")
    first, *others = bare(tok, "世")
    session = tok.session("a")
    session.append_ids([first])
    assert session.text == "a\ufffd"
    with pytest.raises(ValueError, match="end inside a character"):
        session.append("b")
    session.append_ids(np.array(others))
    session.append("b")
    assert session.text == "a世b"
    assert session.is_canonical


def test_appended_ids_stay() -> None:
    """Appended ids are not encoded again, and text after them is encoded like text after a special token."""
    tok = made("bpe automaton")
    session = tok.session("x ab")
    split = [tok.token_to_id("a"), tok.token_to_id("b")]
    change = session.append_ids(split)
    assert (change.start, change.removed, change.ids.tolist()) == (len(bare(tok, "x ab")), 0, split)
    assert not session.is_canonical
    assert session.certain == len(session.ids)
    session.append("ab")
    session.edit(0, 1, "the")
    assert session.ids.tolist() == [*bare(tok, "the ab"), *split, *bare(tok, "ab")]
    assert session.text == "the ababab"
