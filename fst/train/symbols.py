"""The ids of a trainer before the first merge (special tokens and alphabet), and the words spelled in these ids.

The order of ids is: special tokens in the given order, byte tokens, characters by code point, characters with a prefix or a suffix by code
point. A special token of one character also represents this character in words. Characters outside the alphabet are deleted, so the
characters before and after them become adjacent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fst.compile.sources.sentencepiece.model_file import BYTES
from fst.compile.train.merges.merging import WORD_END
from fst.core.jit import Deferred
from fst.core.json_fields import is_text
from fst.counting.words import MAX_COUNT, Words
from fst.errors import VocabularyError, quoted
from fst.pretokens.byte_letters import LETTERS

MAX_CELLS = (1 << 31) - 2
NEVER = "\0 \u2585"  # characters that SentencePiece never puts into pieces
FIRST, CONTINUING, LAST = 0, 1, 2  # bits of a form: the character has the prefix (CONTINUING) or the suffix (LAST)

count_letters, spell = (Deferred("fst.compile.train.merges.start", name) for name in ("count_letters", "spell"))


@dataclass(frozen=True)
class Alphabet:
    """The options that determine the first ids."""

    special_tokens: Sequence[str] = ()  # the special tokens in the order of their ids; repetitions are dropped
    # characters that are always in the alphabet, even if no word contains them; of longer strings, only the first character is used. None:
    # the letters of all bytes if words are bytes, otherwise no characters.
    initial: Collection[str] | None = None
    # the maximum number of characters. Initial characters are kept first, then other characters by descending frequency; equally frequent
    # characters are ordered by code point. None: no limit.
    limit: int | None = None
    prefix: str = ""  # the prefix of each character of a word except the first one
    suffix: str = ""  # the suffix of the last character of a word
    byte_tokens: bool = False  # whether the 256 tokens ``<0x00>`` to ``<0xFF>`` follow the special tokens
    order: Sequence[str] = ()  # characters with a prefix or a suffix that get ids before others of this kind, in this order
    # whether the rules of SentencePiece apply, that is, words are split at characters outside the alphabet, and the characters of `NEVER`
    # are outside the alphabet
    breaks: bool = False

    def __post_init__(self) -> None:
        for name, affix in (("continuing_subword_prefix", self.prefix), ("end_of_word_suffix", self.suffix)):
            if not is_text(affix):
                raise VocabularyError(f"{name} is {quoted(affix)}; expected text, or '' for none")
        if self.limit is not None:
            check_numbers(limit_alphabet=self.limit)

    @property
    def options(self) -> list[object]:
        """All options, as JSON."""
        initial = None if self.initial is None else sorted(initial_characters(self, are_bytes=False))
        return [
            [*checked(self.special_tokens)],
            initial,
            self.limit,
            self.prefix,
            self.suffix,
            self.byte_tokens,
            [*self.order],
            self.breaks,
        ]


@dataclass(frozen=True)
class Symbols:
    """Words spelled in symbols."""

    names: list[str]  # the token of each id
    counts: NDArray[np.int64]  # int64[ids], the number of occurrences of each id in the words
    cells: NDArray[np.int32]  # int32[n], the ids of all words, with `WORD_END` before, between and after words
    words: NDArray[np.int32]  # int32[n], the word of each cell
    counts_of_words: NDArray[np.int64]  # int64[words]
    is_careful: bool  # whether different merges may make the same string, because the prefix or the suffix occurs in the words
    # the strings of at least two symbols that have an id, as pairs: the id of the first symbol, and the number of symbols
    known: list[tuple[int, int]]


def symbols_of(words: Words, alphabet: Alphabet, *, are_bytes: bool) -> Symbols:
    """Spell words in symbols. `alphabet`: the options. `are_bytes`: whether words are bytes; otherwise they are text."""
    letters, ends = code_points_of(words, are_bytes=are_bytes)
    _check_sizes(words, ends)
    names = list(dict.fromkeys(checked(alphabet.special_tokens)))
    names += [token for token in BYTES if alphabet.byte_tokens and token not in names]
    ids = {name: number for number, name in enumerate(names)}
    forms = Forms(alphabet, int(letters.max(initial=0)) + 1)
    sums = np.zeros(forms.size, np.int64)
    count_letters.call(letters, ends, words.counts, *forms.numbers, sums)
    for character in _kept(sums.reshape(-1, forms.width).sum(0), alphabet, are_bytes):
        ids.setdefault(character, len(ids))
    strings = forms.strings(np.flatnonzero(sums).tolist(), ids)
    new = {*strings.values()} - ids.keys()
    for string in [*(string for string in dict.fromkeys(alphabet.order) if string in new), *sorted(new)]:
        ids.setdefault(string, len(ids))
    codes = np.full(forms.size, -1, np.int32)
    codes[[*strings]] = [ids[string] for string in strings.values()]
    counts = np.zeros(len(ids), np.int64)
    np.add.at(counts, codes[[*strings]], sums[[*strings]])
    cells = np.empty(len(letters) + len(words) + 1, np.int32)
    numbers = np.empty(len(cells), np.int32)
    used = spell.call(letters, ends, *forms.numbers, codes, alphabet.breaks, cells, numbers)
    return Symbols(
        names=[*ids],
        counts=counts,
        cells=cells[:used],
        words=numbers[:used],
        counts_of_words=words.counts,
        is_careful=_is_careful(cells[:used], codes, forms, alphabet),
        known=_known(names, ids, alphabet),
    )


def by_occurrence(symbols: Symbols, first: NDArray[np.int64]) -> Symbols:
    """The symbols, with the words sorted by their first occurrence. `first`: int64[words, 3], see `Words.first`."""
    order = np.lexsort(first.T[::-1])
    sizes = np.bincount(symbols.words[symbols.cells != WORD_END], minlength=len(order))
    begins = np.cumsum(sizes + 1) - sizes
    moved = sizes[order]
    targets = np.cumsum(moved + 1) - moved
    numbers = np.repeat(np.arange(len(order), dtype=np.int32), moved)
    to = np.arange(1, len(numbers) + 1) + numbers
    cells, words = np.full_like(symbols.cells, WORD_END), np.zeros_like(symbols.words)
    cells[to], words[to] = symbols.cells[to + (begins[order] - targets)[numbers]], numbers
    return replace(symbols, cells=cells, words=words, counts_of_words=symbols.counts_of_words[order])


class Forms:
    """The form of each character in the words: with or without prefix, and with or without suffix. A code is ``form * width + code point``.
    `alphabet`: the options. `width`: greater than all code points in the words.
    """

    def __init__(self, alphabet: Alphabet, width: int) -> None:
        self._alphabet = alphabet
        self.width = width
        self.numbers = width, CONTINUING if alphabet.prefix else FIRST, LAST if alphabet.suffix else FIRST
        self.size = (sum(self.numbers[1:]) + 1) * width

    def strings(self, codes: list[int], ids: Mapping[str, int]) -> dict[int, str]:
        """Code → symbol, for the codes whose character has an id."""
        prefix, suffix, found = self._alphabet.prefix, self._alphabet.suffix, dict[int, str]()
        for code in codes:
            form, character = code // self.width, chr(code % self.width)
            if character in ids:
                found[code] = (prefix if form & CONTINUING else "") + character + (suffix if form & LAST else "")
        return found


def code_points_of(words: Words, *, are_bytes: bool) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The code points of all words, with bytes spelled as letters of ByteLevel: int32[n]; and the end of each word: int64[words]."""
    if are_bytes:
        letters = np.array([ord(LETTERS[byte]) for byte in range(256)], np.int32)
        return letters[words.text], words.ends
    begins = np.zeros(len(words.text) + 1, np.int64)
    np.cumsum((words.text & 0xC0) != 0x80, out=begins[1:])
    inside = words.ends[words.ends < len(words.text)]
    try:
        text = words.text.tobytes().decode()
        whole = not np.any((words.text[inside] & 0xC0) == 0x80)
    except UnicodeDecodeError:
        whole = False
    if not whole:
        number, word = _first_not_text(words)
        remedies = "replace its bytes, or choose a splitter of bytes, such as 'gpt2'"
        raise VocabularyError(f"word {number}, {quoted(word)}, is not UTF-8; expected text; {remedies}")
    return np.frombuffer(text.encode("utf-32-le"), np.int32), begins[words.ends]


def strings_of(words: Words, *, are_bytes: bool) -> list[str]:
    """Each word as a string; bytes are spelled with the letters of ByteLevel."""
    letters, ends = code_points_of(words, are_bytes=are_bytes)
    text, places = letters.tobytes().decode("utf-32-le"), ends.tolist()
    return [text[begin:end] for begin, end in zip([0, *places], places, strict=False)]


def _first_not_text(words: Words) -> tuple[int, bytes]:
    """The first word that is not UTF-8, and its index, for the error message."""

    def is_utf_8(word: bytes) -> bool:
        try:
            word.decode()
        except UnicodeDecodeError:
            return False
        return True

    return next((number, word) for number, word in enumerate(words) if not is_utf_8(word))


def _check_sizes(words: Words, ends: NDArray[np.int64]) -> None:
    """Raise an error if positions may not fit in 32 bits, or counts in 64 bits."""
    size = (int(ends[-1]) if len(ends) else 0) + len(words) + 1
    if size > MAX_CELLS:
        raise VocabularyError(f"the words have {size:,} symbols; expected at most {MAX_CELLS:,}; train with min_count=2, or on a part")
    words.need_sums(np.diff(ends, prepend=0), "symbols")


def check_numbers(**numbers: int) -> None:
    """Raise an error if an option is not a whole number from 0 to 2^63 - 1."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= MAX_COUNT:
            raise VocabularyError(f"{name} is {quoted(value)}; expected a whole number from 0 to {MAX_COUNT:,}")


def checked(tokens: Iterable[str]) -> Iterator[str]:
    """Check that special tokens are non-empty text, and return them."""
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise VocabularyError(f"special_tokens is {quoted(tokens)}; expected a list of str; put the token into a list")
    for token in tokens:
        if not is_text(token) or not token:
            raise VocabularyError(f"a special token is {quoted(token)}; expected text that is not empty, as a str")
        yield token


def _kept(sums: NDArray[np.int64], alphabet: Alphabet, are_bytes: bool) -> list[str]:
    """The characters of the alphabet by code point, limited by `Alphabet.limit`. `sums`: int64[n], the count of each code point."""
    first = initial_characters(alphabet, are_bytes)
    counts = {chr(point): int(sums[point]) for point in np.flatnonzero(sums)} | dict.fromkeys(first, MAX_COUNT + 1)
    if alphabet.breaks:
        counts = {character: count for character, count in counts.items() if character not in NEVER}
    return sorted(sorted(counts, key=lambda character: (-counts[character], character))[: alphabet.limit])


def initial_characters(alphabet: Alphabet, are_bytes: bool) -> set[str]:
    """The characters that are in the alphabet even if no word contains them."""
    initial = alphabet.initial
    if initial is None:
        initial = [*LETTERS.values()] if are_bytes else ()
    return {text[0] for text in checked_initial(initial) if text}


def checked_initial(initial: Collection[str]) -> Collection[str]:
    """Check that the strings of an initial alphabet are text, and return them."""
    for text in initial:
        if not is_text(text):
            raise VocabularyError(f"initial_alphabet contains {quoted(text)}; expected characters, as str")
    return initial


def _is_careful(cells: NDArray[np.int32], codes: NDArray[np.int32], forms: Forms, alphabet: Alphabet) -> bool:
    """Whether different merges may make the same string: words begin with the prefix or contain the suffix, or both are used."""
    prefix, suffix = alphabet.prefix, alphabet.suffix
    if not prefix and not suffix:
        return False
    if prefix and suffix:
        return True
    used = np.flatnonzero(codes >= 0)
    code_of = np.full(int(codes.max(initial=-1)) + 2, -1)  # the last element is at index -1, which is `WORD_END`
    code_of[codes[used]] = used
    text = prefix or suffix
    begins = np.flatnonzero(cells == WORD_END)[:-1] + 1
    places = begins[code_of[cells[begins]] // forms.width == FIRST] if prefix else np.arange(len(cells))
    for offset, character in enumerate(text):
        places = places[places + offset < len(cells)]
        places = places[code_of[cells[places + offset]] % forms.width == ord(character)]
    return bool(len(places))


def _known(tokens: Sequence[str], ids: dict[str, int], alphabet: Alphabet) -> list[tuple[int, int]]:
    """For each token that merges may make, and each position of it in a word, the first symbol and the number of symbols."""
    found = set[tuple[int, int]]()
    for token in tokens:
        for prefix in {"", alphabet.prefix}:
            for suffix in {"", alphabet.suffix}:
                size = len(token) - len(prefix) - len(suffix)
                if size >= 2 and token.startswith(prefix) and token.endswith(suffix):
                    first = ids.get(prefix + token[len(prefix)])
                    found |= {(first, size)} if first is not None else set()
    return sorted(found)
