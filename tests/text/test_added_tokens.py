"""Added tokens with any flags are found at the same positions as in `tokenizers`, and cover the same parts of the text."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from support.kept import wordpiece
from support.text.added_tokens import CONTENTS, PIECES, check
from support.text.every_character import EVERY_CHARACTER
from support.tiers import sample, thinned
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import fst
from fst.automata.rows import WHITE_SPACE
from fst.compile import tokenizer as compile_tokenizer
from fst.compile.text.added_tokens import added_tokens
from fst.runtime.machines.wordpiece.normalizer import StepNormalizer

TOKENS = (
    *("[UNK]", "a", "b", "c", "##a", "##b", "foo", "##foo", "你", "好", "s", "e", "sea", "##d", "fo", "##o", "##c", "f", "##f", "##s"),
    *("##e", "-", "_", "<", ">", "mask", "new", "york", "x", "##x", "ab", "abc", "abcfoo", "##abc", "bar", "foobar"),
    *("\u1b44", "##\u1b44", "\u302e", "##\u302e"),
)
TEXTS = 150
INSIDE = (
    *("foo", "fo", "o", "oo", "foofoo", "ab", "abc", "bc", "bcab", "a", "é", "fóo", "İ", "ﬁ", "한", "\u1161", "1a", "1", "q", "qqqqqqqqq"),
    *("abcfoo", "sea", "ea", "newyork", "wy", "你", "foobarfoobar", "x"),
)
IN_WORDS = (
    *INSIDE,
    *("Fóo", "fo\u0301o", "FOO", "abcabc", "barfoo", "qqq", "한국", "\u1112\u1161\u11ab", "e\u0301a", "fi", "_", "-", " ", "  ", "\n"),
    *("\u0301", "\u200d", "\0", "😀", "ж", "²", "ªb", "\u20dd", "中", "[MASK]", "New York", "new", "york", "s", "c"),
)


def reference(added: Sequence[AddedToken], **options: Any) -> Tokenizer:
    """Make a tokenizer of `tokenizers` with BERT's components and some added tokens."""
    tokenizer = Tokenizer(models.WordPiece({token: number for number, token in enumerate(TOKENS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    for token in added:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


def compiled(of: Tokenizer, folder: Path) -> tuple[Tokenizer, fst.Tokenizer]:
    """Save a tokenizer and load it in both libraries, because only a loaded tokenizer has its added tokens in the order of the file."""
    path = str(folder / "tokenizer.json")
    of.save(path)
    return Tokenizer.from_file(path), fst.Tokenizer(wordpiece(path))


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(15), 30))
def test_any_flags_on_any_tokens(seed: int, tmp_path: Path) -> None:
    """Texts get the same ids and offsets as in `tokenizers`, with any added tokens, any flags of them, and any settings of BERT's
    normalizer.
    """
    chosen = random.Random(seed)
    options = {name: chosen.random() < 0.8 for name in ("lowercase", "clean_text", "handle_chinese_chars")}
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    added = [
        AddedToken(content, **{name: chosen.random() < 0.35 for name in names}) for content in chosen.sample(CONTENTS, chosen.randint(1, 7))
    ]
    added = [token for token in different(added) if options["clean_text"] or not token.normalized or " " not in token.content]
    strip_accents = chosen.choice([None, True, False])
    of, tokenizer = compiled(reference(added, strip_accents=strip_accents, **options), tmp_path)
    texts = ["".join(chosen.choices(PIECES, k=chosen.randint(0, 9))) for _ in sample(range(TEXTS), 10)]
    check(of, tokenizer, [*texts, "".join(chosen.choices(PIECES, k=3000))])


def _bytewise(chosen: random.Random) -> Tokenizer:
    """Make a byte-level BPE tokenizer."""
    names = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ab", "ĊĊ"]
    of = Tokenizer(models.BPE(dict(zip(names, range(300), strict=False)), [("a", "b"), ("Ċ", "Ċ")]))
    of.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=chosen.random() < 0.3, use_regex=chosen.random() < 0.7)
    of.decoder = decoders.ByteLevel()
    return of


def _of_pieces(chosen: random.Random, model: str) -> Tokenizer:
    """Make a tokenizer with BPE over characters or Unigram, like those of SentencePiece models."""
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *dict.fromkeys("▁ab<>ms_éA\n\t"), "ab", "▁a"]
    if model == "BPE":
        vocabulary = dict(zip(names, range(300), strict=False))
        of = Tokenizer(models.BPE(vocabulary, [("a", "b"), ("▁", "a")], unk_token="<unk>", byte_fallback=True))
    else:
        of = Tokenizer(models.Unigram([(name, -3.0 - number / 100) for number, name in enumerate(names)], 0, False))
    scheme: Any = chosen.choice(("always", "first", "never"))
    of.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=chosen.random() < 0.5)
    of.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return of


def _of_words(_: random.Random) -> Tokenizer:
    """Make a WordPiece tokenizer."""
    of = reference([])
    of.decoder = decoders.WordPiece()
    return of


BUILDERS: dict[str, Callable[[random.Random], Tokenizer]] = {
    "bytes": _bytewise,
    "characters": partial(_of_pieces, model="BPE"),
    "Unigram": partial(_of_pieces, model="Unigram"),
    "WordPiece": _of_words,
}
WHITE = ("\n", "  ", " ", "a\n", "\na", " a", "a ", "\u3000", "\n\n", " <m>", "<s> ", "a b", "\xa0")
SOLID = ("ab", "b", "<m>", "<s>", "é", "A", "_", "<m", "m>")


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("seed", "kind"), thinned(product(range(6), BUILDERS), 12))
def test_sets_of_tokens_with_white_space(seed: int, kind: str) -> None:
    """Added tokens with any flags that contain whitespace get the same ids and decoded texts as in `tokenizers`, or are refused."""
    chosen, done = random.Random(f"{seed} {kind}"), 0
    while done < (1 if kind == "WordPiece" else 3):
        of = BUILDERS[kind](chosen)
        if kind != "WordPiece":
            of.normalizer = chosen.choice([None, None, normalizers.NFC(), normalizers.Lowercase(), normalizers.Strip()])
        names, rate = ("lstrip", "rstrip", "single_word", "normalized", "special"), chosen.choice((0.15, 0.4))
        for content in chosen.sample((*WHITE, *SOLID), chosen.randint(2, 4)):
            flags = {name: chosen.random() < (0.5 if name in names[3:] else rate) for name in names}
            flags["normalized"] &= kind != "WordPiece" or content in SOLID
            (of.add_special_tokens if flags["special"] else of.add_tokens)([AddedToken(content, **flags)])
        try:
            tokenizer = fst.Tokenizer(compile_tokenizer(of))
        except fst.UnsupportedError:
            continue
        texts = ["".join(chosen.choices((*WHITE, *SOLID, "c", "!", "世"), k=chosen.randint(0, 8))) for _ in range(60)]
        for text, ids, expected in zip(texts, tokenizer.encode_batch(texts), of.encode_batch(texts), strict=True):
            assert ids.tolist() == expected.ids, text
            decoded = of.decode(expected.ids, skip_special_tokens=False)
            assert tokenizer.decode(ids, skip_special_tokens=False) == decoded, text
        done += 1


@pytest.mark.slow
@pytest.mark.parametrize("normalizer", thinned([([normalizers.NFKD()],), ([normalizers.NFD(), normalizers.Lowercase()],)], 4))
def test_words_that_begin_or_end_inside_a_character(normalizer: list[Any], tmp_path: Path) -> None:
    """A token with single_word is found as in `tokenizers`, even next to a part of a character, which occurs if a fraction is normalized
    to digits.
    """
    of = reference([AddedToken(content, single_word=True, normalized=True) for content in ("b1", "2b", "a=", "c", "x", ".b", "1")])
    of.normalizer = normalizers.Sequence(normalizer)
    chosen = random.Random(5)
    pieces = [*"½¼≠…℀⒈⑴℃´№12=ab.(c)x \u0338\u0323é中", "b1", "2b", "a=", "b½", "½b", ".b"]
    check(*compiled(of, tmp_path), sample(["".join(chosen.choices(pieces, k=chosen.randint(1, 8))) for _ in range(2000)], 24))


def different(added: Sequence[AddedToken]) -> list[AddedToken]:
    """Omit tokens that equal other tokens after normalization."""
    return list({token.content.replace("ó", "o").lower(): token for token in added}.values())


def refuse_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tokenizer raise an error if it would read a text a second time."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("texts are normalised")

    monkeypatch.setattr(StepNormalizer, "rewrite", refuse)


@pytest.mark.parametrize("seed", thinned(range(24), 48))
def test_words_are_cut_at_tokens(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a word, the leftmost added token is found, and the longest if several begin there, and the text is read only once."""
    chosen = random.Random(seed)
    options = {name: chosen.random() < 0.7 for name in ("lowercase", "clean_text", "handle_chinese_chars")}
    added = different([AddedToken(content, normalized=True) for content in chosen.sample(INSIDE, chosen.randint(1, 9))])
    of, tokenizer = compiled(reference(added, **options), tmp_path)
    check(of, tokenizer, ["".join(chosen.choices([*IN_WORDS, *"     "], k=6000))])
    if not options["handle_chinese_chars"] or all(token.content != "你" for token in added):
        refuse_to_read(monkeypatch)
    check(of, tokenizer, ["".join(chosen.choices(IN_WORDS, k=chosen.randint(0, 9))) for _ in range(TEXTS)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(8), 16))
def test_words_are_cut_at_whole_words(seed: int, tmp_path: Path) -> None:
    """A token with single_word is found only if no word continues next to it; otherwise, no other token that begins inside it is found."""
    chosen = random.Random(seed)
    added = [
        AddedToken(content, normalized=True, single_word=chosen.random() < 0.6, lstrip=chosen.random() < 0.1)
        for content in chosen.sample(INSIDE, chosen.randint(1, 9))
    ]
    of, tokenizer = compiled(reference(different(added), lowercase=chosen.random() < 0.7), tmp_path)
    texts = ["".join(chosen.choices(IN_WORDS, k=chosen.randint(0, 9))) for _ in range(TEXTS)]
    check(of, tokenizer, [*texts, "".join(chosen.choices([*IN_WORDS, *"     "], k=3000))])


@pytest.mark.slow
def test_whole_words_are_told_in_most_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token with single_word does not require a second reading of the text if it is next to characters of the vocabulary, whitespace
    or other tokens.
    """
    added = [AddedToken("foo", normalized=True, single_word=True), AddedToken("[MASK]", normalized=False)]
    of, tokenizer = compiled(reference(added), tmp_path)
    refuse_to_read(monkeypatch)
    neighbours = ["", "a", "é", "_", " ", "\n", "-", "<", "你", "[MASK]", "\0"]
    check(of, tokenizer, [f"{before}foo{after}" for before in neighbours for after in neighbours])


@pytest.mark.slow
def test_every_letter_is_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffers have space for the ids of words in which every letter, or every second letter, is an added token."""
    of, tokenizer = compiled(reference([AddedToken(content, normalized=True) for content in "abc"]), tmp_path)
    refuse_to_read(monkeypatch)
    words = [letters * (100 // len(letters)) for letters in ("a", "ab", "ax", "xa", "axx", "q", "aq", "é", "a\u0301", "\u1112a")]
    check(of, tokenizer, [("-".join(word[first:] for word in words for first in range(50)) + "-") * 3, *words, "-a" * 5000])


@pytest.mark.slow
@pytest.mark.parametrize("single_word", thinned([False, True], 4))
def test_tokens_at_the_ends_of_chunks(single_word: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An added token gives the same results as in `tokenizers`, wherever a chunk ends inside the token or next to it."""
    of, tokenizer = compiled(reference([AddedToken("abcfoo", normalized=True, single_word=single_word)]), tmp_path)
    refuse_to_read(monkeypatch)
    texts = [filler * 2000 for filler in ("abcfoo ", "xabcfoox ", "abcfoo-", "abcfoo_")]
    check(of, tokenizer, [" " * shift + text for text in texts for shift in range(9)])


@pytest.mark.slow
def test_any_number_of_classes(tmp_path: Path) -> None:
    """With any number of character classes, different characters have different ids."""
    ideographs = list(map(chr, range(0x20000, 0x20000 + 33_500)))
    of = reference([AddedToken("foo", normalized=True)])
    of.model = models.WordPiece({token: number for number, token in enumerate([*TOKENS, "foo", *ideographs])}, unk_token="[UNK]")
    check(*compiled(of, tmp_path), ["".join(ideographs)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("content", ["foo", "q", "x" * 98])
def test_tokens_in_words_of_any_length(content: str, tmp_path: Path) -> None:
    """A word is cut at added tokens before the lengths of its parts are compared with the maximum."""
    of, tokenizer = compiled(reference([AddedToken(content, normalized=True)]), tmp_path)
    lengths = [*range(92, 104), 200, 5000]
    letters = [("x" if content == "q" else "q") * length for length in lengths]
    check(of, tokenizer, [before + content + after for before in ["", *letters] for after in ["", *letters]])


@pytest.mark.slow
def test_equal_tokens_in_raw_and_in_normalized_text(tmp_path: Path) -> None:
    """If a token of raw text and a token of normalized text have the same symbols, the same token is found as in `tokenizers`."""
    added = [AddedToken("foo", normalized=False), AddedToken("Foo", normalized=True), AddedToken("oob", normalized=True)]
    of, tokenizer = compiled(reference(added), tmp_path)
    check(of, tokenizer, ["foo", "FOO", "foob", "FOOb", "xfOobx", "xfoobx", "afooFoo"])


@pytest.mark.slow
@pytest.mark.parametrize("normalized", thinned([False, True], 4))
def test_every_character_beside_a_whole_word(normalized: bool, tmp_path: Path) -> None:
    """A token with single_word is found next to a character if and only if `tokenizers` finds it there."""
    of, tokenizer = compiled(reference([AddedToken("foo", single_word=True, normalized=normalized)]), tmp_path)
    characters = EVERY_CHARACTER
    texts = [f"{char}foo foo{char} {char}" for char in sample([*characters[:0x3100], *characters[0x3100::61]], 18)]
    found, expected = tokenizer.encode_batch(texts), of.encode_batch_fast(texts)
    assert [row.tolist() for row in found] == [row.ids for row in expected]


@pytest.mark.slow
@pytest.mark.parametrize("normalized", thinned([False, True], 4))
def test_every_white_space_is_swallowed(normalized: bool, tmp_path: Path) -> None:
    """A token with lstrip and rstrip includes all kinds of whitespace around it, up to another token."""
    of, tokenizer = compiled(reference([AddedToken("foo", lstrip=True, rstrip=True, normalized=normalized)]), tmp_path)
    spaces = [*WHITE_SPACE, "\x1c", "\u200b", "\u180e", " \t ", "\u3000\u2028"]
    check(of, tokenizer, [f"a{space}foo{space}foo{space}{space}b" for space in spaces])


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(12), 24))
def test_white_space_at_the_ends_of_stretches(seed: int, tmp_path: Path) -> None:
    """Whitespace that a normalizer strips does not belong to a token, and whitespace that a token includes may contain another token."""
    chosen, flags = random.Random(seed), ("single_word", "lstrip", "rstrip", "normalized")
    of = reference([AddedToken(content, **{flag: chosen.random() < 0.4 for flag in flags}) for content in ("_", "😀", "ab")])
    raw = [content for content in ("\u3000", "\t", " _") if chosen.random() < 0.5]
    of.add_tokens([AddedToken(content, normalized=False, rstrip=chosen.random() < 0.4) for content in raw])
    strip = normalizers.Strip(left=chosen.random() < 0.7, right=chosen.random() < 0.7)
    of.normalizer = normalizers.Sequence(chosen.choice([[strip], [strip, of.normalizer], [of.normalizer, strip], [of.normalizer]]))
    pieces = [*"_ 😀ab\u3000\t\n\u200d\x85世", "ab", "  ", "x"]
    check(*compiled(of, tmp_path), ["".join(chosen.choices(pieces, k=chosen.randint(0, 8))) for _ in range(TEXTS)])


@pytest.mark.slow
def test_white_space_where_marks_are_ordered_in_steps(tmp_path: Path) -> None:
    """If offsets are computed in steps, a token with rstrip includes the whitespace after it, which may contain another token."""
    of = reference([AddedToken("foo", normalized=True, rstrip=True), AddedToken("new york", normalized=True)])
    of.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.BertNormalizer()])
    check(*compiled(of, tmp_path), ["foo  \u1b44\u0301 b", "a\u0323\u0301 foo  b", "new york foo \u302e\u1b44\u0301"])


@pytest.mark.slow
def test_marks_that_leave_no_symbol(tmp_path: Path) -> None:
    """If the normalizer drops a mark in a token, the token is found by its letters, even after the table is saved and loaded."""
    of, tokenizer = compiled(reference([AddedToken("foo\u0301", normalized=True, rstrip=True)]), tmp_path)
    tokenizer.save(tmp_path / "table.npz")
    check(of, fst.Tokenizer.load(tmp_path / "table.npz"), ["foo  b", "fo\u0301o\u0323\u0301 b", "afoo", "\u0301foo\u0301 \u0301"])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("end", ["\ud800", b"\xff"], ids=ascii)
def test_a_long_text_that_is_no_text_behind_a_token(end: Any, tmp_path: Path) -> None:
    """Malformed text at the end of a long text is refused with its position, even if an added token requires a second reading of the
    text.
    """
    _, tokenizer = compiled(reference([AddedToken("foo", rstrip=True)]), tmp_path)
    text = "foo " + "a b " * 200_000
    with pytest.raises(fst.TextError, match=f"row 1, position {len(text)}"):
        tokenizer.encode_batch([end[:0], (text if isinstance(end, str) else text.encode()) + end], threads=1)


@pytest.mark.slow
def test_most_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is read a second time only if it may contain an added token."""
    of, tokenizer = compiled(reference([AddedToken("abcfoo", normalized=True), AddedToken("new york", normalized=True)]), tmp_path)
    read: list[str] = []
    original = StepNormalizer.rewrite

    def noted(front_end: StepNormalizer, text: Any, starts: Any, *others: Any, **flags: Any) -> Any:
        read.extend(text[begin:end].tobytes().decode() for begin, end in pairwise(starts))
        return original(front_end, text, starts, *others, **flags)

    monkeypatch.setattr(StepNormalizer, "rewrite", noted)
    texts = ["abc foo", "abcfo", "new", "newyork", "york new", "abcFOO", "a new york b", "a b"]
    check(of, tokenizer, texts)
    assert {*read} == {"a new york b"}


def test_equal_tokens_are_refused(tmp_path: Path) -> None:
    """Tokens that are equal after normalization are refused with their names, because `tokenizers` chooses one of them at random."""
    path = str(tmp_path / "tokenizer.json")
    reference([AddedToken("FOO", normalized=True), AddedToken("fOO", normalized=True)]).save(path)
    with pytest.raises(fst.UnsupportedError, match="'FOO' and 'fOO'"):
        wordpiece(path)


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        ("\u200d", {"normalized": True}, "nothing is left of it"),
    ],
)
def test_tokens_that_may_hide_are_refused(content: str, flags: dict[str, bool], message: str, tmp_path: Path) -> None:
    """A token is refused with its name if a text may contain the token although its symbols do not occur."""
    path = str(tmp_path / "tokenizer.json")
    reference([AddedToken(content, **flags)]).save(path)
    with pytest.raises(fst.UnsupportedError, match=message):
        wordpiece(path)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("tokens", "options", "pre_tokenizer"),
    [
        ([AddedToken("\u302ea", normalized=True)], {"strip_accents": False}, None),
        ([AddedToken("a ", normalized=True), AddedToken(" b", normalized=True, rstrip=True)], {}, None),
        ([AddedToken("new york", normalized=True)], {"clean_text": False}, None),
        ([AddedToken("new york", normalized=False)], {"clean_text": False}, None),
        ([AddedToken("foo", lstrip=True), AddedToken("new", rstrip=True, single_word=True)], {}, pre_tokenizers.Sequence([])),
        ([AddedToken("foo", normalized=True), AddedToken("[X]", lstrip=True)], {}, pre_tokenizers.Whitespace()),
    ],
)
def test_tokens_that_symbols_do_not_find(tokens: list[AddedToken], options: dict[str, bool], pre_tokenizer: Any, tmp_path: Path) -> None:
    """Added tokens that the symbols of a text do not determine are found in normalized text, as in `tokenizers`."""
    of = reference(tokens, **options)
    if pre_tokenizer:
        of.pre_tokenizer = pre_tokenizer
    of.save(str(tmp_path / "tokenizer.json"))
    draw = random.Random(0)
    pieces = ["new", "york", "foo", "FOO", "a", "b", " ", "  ", "\t", "\u3000", "\u302e", "\u0301", "[X]", ".", "é"]
    pieces += [token.content for token in tokens]
    texts = ["", *("".join(draw.choices(pieces, k=draw.randint(1, 9))) for _ in range(200))]
    check(of, fst.Tokenizer(wordpiece(tmp_path / "tokenizer.json")), texts)


def test_tokens_that_overlap_a_late_one_are_late() -> None:
    """A token is contextual (found depending on its neighbours) if, in raw text, it may overlap with another contextual token."""
    parts: list[dict[str, Any]] = [{"content": "<s>"}, {"content": "s>x", "single_word": True}, {"content": "[X]"}, {"content": "x["}]
    added = added_tokens(parts, {})
    assert [*added.contextual] == ["<s>", "s>x", "[X]", "x["]
    parts[1] = {"content": "s!x", "single_word": True}
    assert [*added_tokens(parts[:3], {}).specials] == ["<s>", "[X]"]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("lowercase", [True, False])
def test_tokens_are_spelled_as_they_are_found(lowercase: bool, tmp_path: Path) -> None:
    """An added token that is found in normalized text decodes to its normalized form, as in `tokenizers`."""
    contents = ("FÓO", "你好", "X Y", "Q\tZ", "[PAD]", "<mask>", "İ", "ﬁ", "한")
    added = [AddedToken(content, normalized=index != 5, special=index > 3) for index, content in enumerate(contents)]
    of, tokenizer = compiled(reference(added, lowercase=lowercase), tmp_path)
    assert tokenizer._table.header == fst.Tokenizer(pickle.loads(pickle.dumps(tokenizer._table))).header
    for content in contents:
        number = of.token_to_id(content)
        assert number is not None
        assert tokenizer.token_to_id(content) == number
        assert tokenizer.id_to_token(number) == of.id_to_token(number)
        for skipped in (True, False):
            assert tokenizer.decode([1, number, 2], skip_special_tokens=skipped) == of.decode([1, number, 2], skip_special_tokens=skipped)
