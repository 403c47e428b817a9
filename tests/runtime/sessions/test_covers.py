"""`covers` returns the sequences of ids that cover a text, compared with the encoded continuations of the text."""

from __future__ import annotations

import functools
import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support import kept
from support.conformance.ways import table_of
from support.core.guides import spaced
from support.machines.bpe import LISTS
from support.machines.documents import byte_level
from support.naive import covers as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL, examples

import fst
from fst.compile import tokenizer, wordpiece
from fst.compile.pretokens.splits import GPT2
from fst.errors import UnsupportedError
from fst.runtime.machines.guide import covers

QWEN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ACCENTS = [(b"e", b"\xcc"), (b"\xc3", b"\xa9"), (b" ", b"e"), (b"a", b"\xc3\xa9")]
NEXT = [(b"\n", b"a"), (b"'", b"s"), (b" ", b"'"), (b"1", b"1"), (b"s", b"a"), (b"11", b"1"), (b"<", b"s")]
# Patterns, merges, added tokens and letters.
BYTE_LEVEL: dict[str, tuple[str, Any, list[str], str]] = {
    "runs": (GPT2, LISTS["runs"], ["  ", "   "], " a\n"),
    "chains": (GPT2, LISTS["chains"], [], " ab'"),
    "late": (r"[\s\S]+", LISTS["late"], [], " ab"),
    "contractions": (GPT2, NEXT, ["<s>"], "a's<>"),
    "digits": (QWEN, [*NEXT, *LISTS["chains"]], ["<s>", ">a"], "1<s>a"),
    "lines": (QWEN, [*NEXT, *LISTS["runs"]], ["\n\n\n"], "\n a'"),
    "accents": (QWEN, ACCENTS, ["é!", "<e>"], "eé\u0301a"),
}
WORDS = (
    "http:",
    " 'tis",
    "  ",
    "\n\n",
    "don't",
    "1234",
    "e\u0301",
    "世界",
    "\U0001f600",
    "<|endoftext|>",
    "<|im_",
    "Hello",
    " wor",
    "____",
    ".",
)
TEXTS = some.lists(some.one_of(some.sampled_from(WORDS), some.text(max_size=3)), max_size=4).map("".join)
SIZES = {3: (3, 6), 4: (3, 4), 5: (2, 4)}  # number of letters → the lengths of texts and of continuations


@functools.cache
def real(name: str) -> Any:
    """Make the tokenizer of a real vocabulary."""
    return fst.Tokenizer(kept.tokenizer(SHARED / name))


def found_by(result: fst.Covers) -> set[naive.Cover]:
    """The covers in a result."""
    certain, endings = result.certain.tolist(), result.endings
    assert len({(*end.ids.tolist(),) for end in endings}) == len(endings)
    found = [((*certain, *end.ids.tolist()), *each) for end in endings for each in zip(end.last.tolist(), end.remaining, strict=True)]
    assert len({*found}) == len(found)
    return {*found}


def is_found(result: fst.Covers, cover: naive.Cover) -> bool:
    """Whether a cover is in a result."""
    known, (ids, last, rest) = len(result.certain), cover
    ends = [end for end in result.endings if tuple(end.ids.tolist()) == ids[known:]] if result.certain.tolist() == [*ids[:known]] else []
    return bool(ends) and last in ends[0].last and ends[0].remaining[ends[0].last.tolist().index(last)] == rest


def texts_over(letters: str, longest: int) -> list[str]:
    """All texts of some letters up to a length."""
    return ["".join(text) for size in range(longest + 1) for text in product(letters, repeat=size)]


def written_by(tok: Any) -> Callable[[Sequence[int]], bytes]:
    """The function that decodes ids, also of added tokens."""
    if isinstance(tok, fst.BpeTokenizer):
        return lambda ids: tok.decode_bytes(ids, skip_special_tokens=False)
    return lambda ids: str(tok.decode(ids)).encode()


def nfc(text: str) -> str:
    """Compose a text."""
    return unicodedata.normalize("NFC", text)


def hold_continuation(tok: Any, text: str, more: str, normalized: Callable[[str], str]) -> None:
    """Check that the first ids of a text with a continuation are among the covers of the text, unless they are decoded to another text."""
    begun, whole, written = normalized(text), normalized(text + more), written_by(tok)
    ids = tok.encode(whole, add_special_tokens=False).tolist()
    if ids and whole.startswith(begun) and written(ids) == whole.encode():
        cover = naive.cover(begun.encode(), ids, written)
        assert cover
        assert is_found(tok.covers(text), cover)


def check(tok: Any, letters: str, normalized: Callable[[str], str] = str) -> int:
    """Compare the covers of all short texts with the first ids of their continuations; return the number of texts without covers."""
    known, (longest, more), refused = {*letters.encode()}, SIZES[len(letters)], 0
    written = written_by(tok)
    for text in texts_over(letters, longest):
        longer = [text + rest for rest in texts_over(letters, more) if text + rest]
        rows = tok.encode_batch(longer, add_special_tokens=False, threads=1)
        kept = [row.tolist() for row, whole in zip(rows, longer, strict=True) if written(row) == normalized(whole).encode()]
        expected = naive.covers(normalized(text).encode(), kept, written)
        if not expected:
            refused += 1
            with pytest.raises(UnsupportedError, match="do not decode to"):
                tok.covers(text)
            continue
        found = found_by(tok.covers(text))
        assert expected <= found, text
        assert {one for one in found if known >= {*one[2]}} <= expected, text
    return refused


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_byte_level_covers_are_the_definition(name: str, tmp_path: Path) -> None:
    """The covers of all short texts are the first ids of their continuations, and added tokens are among them."""
    pattern, merges, special, letters = BYTE_LEVEL[name]
    composes = name == "accents"
    document = {**byte_level(pattern, merges, special=special), "normalizer": {"type": "NFC"} if composes else None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = fst.Tokenizer(tokenizer(tmp_path / "tokenizer.json"))
    assert not check(tok, letters, nfc if composes else str)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("letters", ["ab ", "a.(", "b1 ."])
def test_wordpiece_covers_are_the_definition(letters: str) -> None:
    """The covers of all short texts to which ids of WordPiece decode are the first ids of their continuations; other texts are refused."""
    tokens = ["[UNK]", "a", "##a", "b", "##b", "ab", "##ba", "bb", "##bb", "aab", ".", "(", "1", "##1", "b1"]
    assert check(fst.Tokenizer(wordpiece(tokens)), letters)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("letters", ["ab ", "é 世"])
def test_unigram_covers_are_the_definition(letters: str) -> None:
    """The covers of all short texts to which ids of Unigram decode are the first ids of their continuations; other texts are refused."""
    assert check(spaced(table_of("unigram")), letters)


@pytest.mark.mostly_slow
@needs_shared
@pytest.mark.parametrize("name", ["gpt2/tokenizer.json", "qwen3/tokenizer.json.gz", "cl100k_base"])
def test_continuations_are_covered(name: str) -> None:
    """The first ids of a text and any continuation are among the covers of the text."""
    tok = real(f"vocab_bpe/{name}")

    @examples(1_600)
    @given(text=TEXTS, more=TEXTS)
    def holds(text: str, more: str) -> None:
        hold_continuation(tok, text, more, nfc if "qwen3" in name else str)

    holds()


@pytest.mark.mostly_slow
@needs_shared
@pytest.mark.parametrize("name", ["vocab_bpe/gpt2/tokenizer.json", "vocab_bpe/qwen3/tokenizer.json.gz", "vocab/bert-base-uncased"])
@pytest.mark.parametrize("file", ["en_books_20MB.txt", "docs_zh.md"])
def test_cut_texts(name: str, file: str) -> None:
    """The next ids of a text that is cut anywhere are among the covers of its beginning."""
    tok, text, draw = real(name), (SHARED / "corpora" / file).read_text("utf-8")[:50_000], random.Random(f"{name} {file}")
    for _ in range(300 if ALL else 20):
        begin, size = draw.randrange(len(text) - 1000), draw.choice([3, 20, 200])
        part, more = (each.lower() if "bert" in name else each for each in (text[begin:][:size], text[begin + size :][:40]))
        hold_continuation(tok, part, more, nfc if "qwen3" in name else str)


@pytest.mark.mostly_slow
@needs_shared
@pytest.mark.parametrize("name", ["gpt2/tokenizer.json", "qwen3/tokenizer.json.gz"])
@pytest.mark.parametrize("word", ["ab", "é", " ", "\n ", "世"])
def test_long_words(name: str, word: str) -> None:
    """The next ids of a long word, or of a long run of whitespace, are among the covers of its beginning."""
    tok = real(f"vocab_bpe/{name}")
    for size in (100, 2_000):
        hold_continuation(tok, word * size, word * 9, str)
        hold_continuation(tok, "x<|endof" + word * size + "<|endof", "text|>", str)


@pytest.mark.mostly_slow
@needs_shared
@pytest.mark.parametrize("name", ["gpt2/tokenizer.json", "qwen3/tokenizer.json.gz"])
def test_sessions(name: str) -> None:
    """After each change, the covers of a session are those of its text."""
    tok, draw = real(f"vocab_bpe/{name}"), random.Random(3)
    session = tok.session("\n".join(WORDS) * 1000)
    for _ in range(100 if ALL else 15):
        begin = draw.randint(0, len(session))
        session.edit(begin, min(begin + draw.choice([0, 5, 9_000]), len(session)), draw.choice(WORDS))
        session.append(draw.choice(WORDS)[: draw.randint(0, 3)])
        found, expected = session.covers(), tok.covers(session.text)
        assert found.certain.tolist() == expected.certain.tolist()
        assert found_by(found._replace(certain=found.certain[:0])) == found_by(expected._replace(certain=found.certain[:0]))


def test_appended_ids() -> None:
    """Appended ids are covered by themselves, and text after them is covered like a text by itself."""
    tok = fst.Tokenizer(table_of("bpe automaton"))
    session = tok.session("ab ")
    session.append_ids(tok.encode("ba", add_special_tokens=False))
    before = session.ids.tolist()
    found = session.covers()
    assert (found.certain.tolist(), found.endings[0].last.tolist(), found.endings[0].remaining) == (before[:-1], before[-1:], [b""])
    session.append("b")
    alone = found_by(tok.covers("b"))
    assert found_by(session.covers()) == {((*before, *ids), last, rest) for ids, last, rest in alone}


def test_empty_text() -> None:
    """An empty text is covered by each token with which a text may begin."""
    tok = fst.Tokenizer(wordpiece(["[UNK]", "a", "##b", "ab", "."]))
    (end,) = tok.covers("").endings
    assert (end.ids.tolist(), dict(zip(end.last.tolist(), end.remaining, strict=True))) == ([], {1: b"a", 3: b"ab", 4: b"."})


def test_places_are_not_kept_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that keeps too many places forgets them, and finds the same covers."""
    tok = fst.Tokenizer(table_of("bpe automaton"))
    expected = found_by(tok.covers("ab ba"))
    monkeypatch.setattr(covers, "MOST_PLACES", 0)
    assert all(found_by(tok.covers("ab ba")) == expected for _ in range(2))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bpe normalized", "covers: canonical masks do not cover this BPE: it has a normalizer"),
        ("unigram", "covers: canonical masks cover"),
    ],
)
def test_vocabularies_without_covers(name: str, message: str) -> None:
    """Vocabularies without canonical masks are refused with the reason."""
    with pytest.raises(UnsupportedError, match=f"{message}.*; use the certain ids of fst.Session.certain$"):
        fst.Tokenizer(table_of(name)).covers("a")


def test_texts_without_covers(tmp_path: Path) -> None:
    """A text is refused if its covers are not known, and the message contains the reason."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(byte_level(GPT2, [], special=["<s>", "<s>ab"])))
    nested = fst.Tokenizer(tokenizer(tmp_path / "tokenizer.json"))
    assert {rest for _, _, rest in found_by(nested.covers("<s>"))} == {b"", b"ab"}
    with pytest.raises(UnsupportedError, match="the added token '<s>', a part of '<s>ab'"):
        nested.covers("<s>a")
    words = fst.Tokenizer(wordpiece(["[UNK]", "a"])).session("a")
    words.append_ids([1])
    with pytest.raises(UnsupportedError, match="appended ids"):
        words.covers()
