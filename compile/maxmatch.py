"""Compile dictionaries for MaxMatch: from words and rules to a table of `fst.machines.maxmatch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fst.compile.keywords import MAX_MATCHES, Automaton, lay_out, lengths_of, numbered, spelled_words, trie_of
from fst.compile.sources.words import Words, read_words
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.keywords import BEFORE, END, KEYWORD, LONGEST, MAX_OUTPUT, OUTPUT_SHIFT, START
from fst.machines.maxmatch import BACKWARD, DIRECTIONS, FORWARD, MaxMatchTables, about
from fst.trie import Ints

SEPARATOR = "|"  # of the tokens of a rule


class Entry(NamedTuple):
    """An entry of several tokens, made by a rule.

    Attributes:
        spelled: its bytes, in the order of reading.
        words: the word of each of its tokens, in this order, without characters outside of all words.
        starts: the first byte of each.
    """

    spelled: bytes
    words: Sequence[int]
    starts: Sequence[int]


def maxmatch(
    dictionary: str | Path | Iterable[str] | Any,
    direction: str = FORWARD,
    rules: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    column: str | None = None,
) -> MaxMatchTables:
    """Compile a dictionary for segmentation by MaxMatch.

    At each place MaxMatch takes the longest word of the dictionary, or a single character if there is none. So every text has a
    segmentation, and its tokens spell it out. The time does not depend on the words: it takes at most two look-ups for each byte of text.

    Args:
        dictionary: the words, a list of str; a word's id is its place, and of equal ones the first counts. Or a column of them, of pyarrow
            or of what Arrow can import; or the path of a file.
        direction: "forward", from the begin of a text to its end, or "backward".
        rules: corrections of segmentations, such as ``{"研究生|命": "研究|生命"}``. The two sides of a rule spell the same string, and "|"
            stands between tokens. The left side is the segmentation of this string without rules. The string becomes an entry of the
            dictionary, and its tokens are those of the right side. Words that stand only there have ids after those of the dictionary,
            and only rules give them.
        format, column: as in `fst.compile.keywords`.

    Raises:
        VocabularyError: there are no words, or one is empty or no text; or the file is not of its format; or the sides of a rule differ, or
            its left side is not the segmentation of its string. The message says where.
        UnsupportedError: a word has more than 65,536 bytes, or the words have too many matches in each other; or `format` or `column` does
            not go with the source.
        ValueError: `direction` has another value.
        OSError: the file cannot be read.

    Example:
        >>> words = ["研究", "研究生", "生命", "命", "科学"]
        >>> table = maxmatch(words)
        >>> [table.words[number] for number in table.run("研究生命科学")]
        ['研究生', '命', '科学']
        >>> corrected = maxmatch(words, rules={"研究生|命": "研究|生命"})
        >>> [corrected.words[number] for number in corrected.run("研究生命科学")]
        ['研究', '生命', '科学']

    Source: Song et al. 2021, *Fast WordPiece Tokenization*, Section 3.6; for rules, Sassano 2014, *Deterministic Word Segmentation Using
    Maximum Matching with Fully Lexicalized Rules*.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction={direction!r}: there are {', '.join(map(repr, DIRECTIONS))}")
    given = read_words(dictionary, form=format, column=column)
    words = spelled_words(given, "word")
    if not words:
        raise VocabularyError("there are no words" + (f" in {dictionary}" if isinstance(dictionary, str | Path) else ""))
    table = _table(words, direction)
    return _corrected(table, words, rules) if rules else table


def _table(words: Sequence[bytes], direction: str, added: Sequence[bytes] = (), entries: Sequence[Entry] = ()) -> MaxMatchTables:
    """The table of a dictionary.

    Args:
        words: its words.
        added: words that only entries give; their numbers follow.
        entries: entries of several tokens, which come before words that spell the same.
    """
    numbers = {_as_read(word, direction): number for word, number in numbered(words).items()}
    all_words = [*words, *added]
    numbers.update((entry.spelled, number) for number, entry in enumerate(entries, len(all_words)))
    lengths = lengths_of(all_words)
    automaton = lay_out(trie_of(numbers), [*all_words, *(entry.spelled for entry in entries)], LONGEST)
    if entries:
        automaton = _expanded(automaton, lengths, entries)
    return MaxMatchTables(
        about(direction, automaton.states),
        entries=automaton.entries,
        depths=automaton.depths,
        matches=automaton.matches,
        keyword_bytes=np.frombuffer(b"".join(all_words), np.uint8),
        keyword_ends=np.cumsum(lengths),
        keyword_lengths=lengths.astype(np.uint32),
    )


def _as_read(word: bytes, direction: str) -> bytes:
    return word[::-1] if direction == BACKWARD else word


def _corrected(table: MaxMatchTables, words: Sequence[bytes], rules: Mapping[str, str]) -> MaxMatchTables:
    """The table of a dictionary with rules; `table` is that without."""
    numbers, added, entries = numbered(words), list[bytes](), list[Entry]()
    for spelled, rule in zip(_spelled_rules(rules), rules, strict=True):
        _need_segmentation(table, spelled, rule)
        tokens = [token.encode() for token in rules[rule].split(SEPARATOR)]
        if b"".join(tokens) != spelled or not all(tokens):
            raise VocabularyError(f"rule {quoted(rule)}: {quoted(rules[rule])} does not segment the same string")
        for token in tokens:
            if token not in numbers and len(token.decode()) > 1:  # a single character is a token in any case
                numbers[token] = len(words) + len(added)
                added.append(token)
        entries.append(_entry(tokens, numbers, table.metadata.automaton.direction))
    return _table(words, table.metadata.automaton.direction, added, entries)


def _spelled_rules(rules: Mapping[str, str]) -> list[bytes]:
    """The string of each rule's left side, in UTF-8."""
    for rule, right in rules.items():
        if not isinstance(rule, str) or not isinstance(right, str):
            raise VocabularyError(f"rule {quoted(rule)}: {quoted(right)}: both sides are str, with {SEPARATOR!r} between tokens")
    return spelled_words(Words([rule.replace(SEPARATOR, "") for rule in rules], origin="rule"), "rule")


def _need_segmentation(table: MaxMatchTables, spelled: bytes, rule: str) -> None:
    """Check that the left side of a rule is the segmentation of its string."""
    found = SEPARATOR.join(spelled[token.start : token.end].decode() for token in table.tokens(spelled))
    if found != rule:
        raise VocabularyError(f"rule {quoted(rule)}: the dictionary segments this as {quoted(found)}; make that the left side")


def _entry(tokens: Sequence[bytes], numbers: Mapping[bytes, int], direction: str) -> Entry:
    """The entry of a rule with these tokens on its right side."""
    in_order = tokens[::-1] if direction == BACKWARD else tokens
    starts = accumulate(map(len, in_order), initial=0)
    known = [(numbers[token], start) for token, start in zip(in_order, starts, strict=False) if token in numbers]
    return Entry(_as_read(b"".join(tokens), direction), [word for word, _ in known], [start for _, start in known])


def _expanded(automaton: Automaton, lengths: Ints, entries: Sequence[Entry]) -> Automaton:
    """Replace each match of an entry, numbered after the words, by matches of its words. `lengths` are those of the words."""
    old = automaton.matches.astype(np.int64)
    entry = old[:, KEYWORD] - len(lengths)
    sizes = np.where(entry < 0, 1, np.array([len(one.words) for one in entries])[np.maximum(entry, 0)])
    if sizes.sum() > MAX_MATCHES:
        raise UnsupportedError(f"the rules give more than {MAX_MATCHES:,} tokens in all: leave out some")
    last = np.cumsum(sizes) - 1  # the row of `new` that ends what a row of `old` ends
    for row in np.flatnonzero(sizes == 0).tolist():
        last[row] = last[old[row, BEFORE]]
    rows = np.repeat(np.arange(len(old)), sizes)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    new = old[rows]
    new[:, BEFORE] = np.where(within > 0, np.arange(len(rows)) - 1, last[new[:, BEFORE]])
    is_part = entry[rows] >= 0
    part = np.cumsum([0, *(len(one.words) for one in entries)])[entry[rows[is_part]]] + within[is_part]
    new[is_part, KEYWORD] = np.array([word for one in entries for word in one.words], np.int64)[part]
    new[is_part, START] += np.array([start for one in entries for start in one.starts], np.int64)[part]
    new[is_part, END] = new[is_part, START] + lengths[new[is_part, KEYWORD]]
    outputs = (automaton.entries >> np.uint64(OUTPUT_SHIFT) & np.uint64(MAX_OUTPUT)).astype(np.int64)
    moved = (last[outputs] ^ outputs).astype(np.uint64) << np.uint64(OUTPUT_SHIFT)
    return automaton._replace(entries=automaton.entries ^ moved, matches=new.astype(np.uint32))
