"""Compile words and rules for MaxMatch into a table of `fst.machines.segmentation.maxmatch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fst.automata.links import Rules, longest
from fst.automata.trie import Ints
from fst.compile.dictionary_words import MAX_MATCHES, Words, read_words, spelled_words
from fst.compile.machines.segmentation.unit_tries import UnitTrie, unit_trie
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted
from fst.machines.segmentation.maxmatch import BACKWARD, DIRECTIONS, FORWARD, JUMP, TOKEN, MaxMatchTable, header
from fst.machines.segmentation.unit_trie import ENTRY, LEAF, MAX_VALUE, UNITS, units_of
from fst.tables.strings import stored

SEPARATOR = "|"  # the separator of tokens in a rule
EXCESS = "the words contain more than {:,} tokens of each other; expected fewer; leave out words that many others contain"


def maxmatch(
    dictionary: str | Path | Iterable[str] | Any,
    direction: str = FORWARD,
    rules: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    column: str | None = None,
) -> MaxMatchTable:
    """Compile a dictionary for segmentation by MaxMatch.

    The next token is always the longest word that begins at the current position, or a single character if no word begins there. So every
    text has a segmentation, and the concatenated tokens are the text. The time does not depend on the number of words: each UTF-16 unit of
    text takes at most two look-ups.

    Args:
        dictionary: the words: a list of str, a pyarrow column (or an object that Arrow can import), or the path of a file. The id of a word
            is its position; of equal words, the first is used.
        direction: "forward", from the start of a text to its end, or "backward".
        rules: corrections of segmentations, for example ``{"研究生|命": "研究|生命"}``.
            Both sides of a rule are the same string, with "|" between tokens. The left side is the segmentation of this string without
            rules; the right side is the new segmentation. The string is added to the dictionary. Words that only rules contain get ids
            after the ids of the dictionary, and are found only as parts of rules.
        format, column: as in `fst.compile.keywords`.

    Raises:
        VocabularyError: there are no words; a word is empty or not text; the file does not follow its format; the sides of a rule differ;
            or the left side of a rule is not the segmentation of its string. The message gives the position.
        UnsupportedError: a word has more than 65,536 bytes; there are more than 4 million words; words contain too many other words; or
            `format` or `column` does not match the source.
        ValueError: `direction` has an invalid value.
        OSError: the file cannot be read.

    Examples:
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
        raise ValueError(not_one_of("direction", direction, DIRECTIONS))
    given = read_words(dictionary, form=format, column=column)
    words = [word.decode() for word in spelled_words(given, "word")]
    if not words:
        raise VocabularyError("there are no words" + (f" in {dictionary}" if isinstance(dictionary, str | Path) else ""))
    table = _table(words, direction)
    return _corrected(table, words, rules) if rules else table


def _table(
    words: Sequence[str], direction: str, added: Sequence[str] = (), rules: Mapping[str, Sequence[tuple[int, int]]] | None = None
) -> MaxMatchTable:
    """Compile the table of a dictionary. `words`: the words of the dictionary. `added`: words that only rules contain; their numbers follow
    the numbers of `words`. `rules`: for each string with a rule, the value and the size of each of its tokens, in reading order.
    """
    all_words = [*words, *added]
    if len(all_words) + len(rules or ()) > MAX_VALUE:
        raise UnsupportedError(f"there are {len(all_words) + len(rules or ()):,} words and rules; a table has room for {MAX_VALUE:,}")
    values = {word: number for number, word in reversed([*enumerate(words, 1)])}
    values.update((string, value) for value, string in enumerate(rules or (), len(all_words) + 1))
    trie = unit_trie([_as_read(word, direction) for word in values], np.fromiter(values.values(), np.int64, len(values)))
    word_bytes, word_ends = stored(all_words)
    lasts, lists = _listed([*(rules or {}).values()])
    table = MaxMatchTable(
        header(direction, len(all_words), trie.longest),
        units=trie.units(np.zeros(UNITS, np.uint32)),
        entries=trie.entries,
        word_bytes=word_bytes,
        word_ends=word_ends,
        rules=lasts.astype(np.uint32),
        jumps=np.zeros((1, len(JUMP)), np.uint32),
        lists=lists.astype(np.uint32),
    )
    return _linked(table, trie, Rules(len(all_words) + 1, lasts, lists))


def _as_read(word: str, direction: str) -> str:
    """The word with its UTF-16 units in the order in which the direction reads them."""
    return word.encode("utf-16-be")[::-1].decode("utf-16-le", "surrogatepass") if direction == BACKWARD else word


def _listed(rules: Sequence[Sequence[tuple[int, int]]]) -> tuple[Ints, Ints]:
    """The last token of each rule, and the lists of tokens of all rules."""
    counts = np.array([len(tokens) for tokens in rules], np.int64)
    if counts.sum() > MAX_MATCHES:
        raise UnsupportedError(f"the rules give more than {MAX_MATCHES:,} tokens in all: leave out some")
    rows = [(0,) * len(TOKEN)]
    for tokens in rules:
        end = before = 0
        for number, (value, size) in enumerate(tokens, 1):
            end += size
            rows.append((value, end, number, before))
            before = len(rows) - 1
    return np.cumsum(counts), np.array(rows)


def _linked(table: MaxMatchTable, trie: UnitTrie, rules: Rules) -> MaxMatchTable:
    links, last, pops = longest(trie.nodes, 1 + table.are_surrogates, MAX_MATCHES, EXCESS, rules)
    edges = table.edges()
    lasts, inner = table.lasts(edges), np.flatnonzero(trie.states != LEAF)[1:]
    jumping = inner[lasts.jumps[edges.edge_to[trie.states[inner]]]]
    targets = trie.states[links[jumping]]
    reached = edges.edge_to[targets]
    made = np.append(lasts.values, 0)[reached], np.append(lasts.sizes, 0)[reached]
    jumps = np.zeros((1 + len(jumping), len(JUMP)), np.uint32)
    jumps[1:].T[:] = last[jumping], targets, *made
    entries = table.entries.copy()
    entries[trie.states[jumping]] = ENTRY.free + np.arange(1, 1 + len(jumping), dtype=np.uint64)
    return replace(table, entries=entries, jumps=jumps, lists=pops.astype(np.uint32))


def _corrected(table: MaxMatchTable, words: Sequence[str], rules: Mapping[str, str]) -> MaxMatchTable:
    """Compile the table of a dictionary with rules; `table` is the table without rules, which checks the rules' left sides."""
    numbers, added = {word: number for number, word in reversed([*enumerate(words)])}, list[str]()
    lists = dict[str, Sequence[tuple[int, int]]]()
    for string, rule in zip(_spelled_rules(rules), rules, strict=True):
        _need_segmentation(table, string, rule)
        tokens = rules[rule].split(SEPARATOR)
        if "".join(tokens) != string or not all(tokens):
            raise VocabularyError(f"rule {quoted(rule)}: {quoted(rules[rule])} does not segment the same string")
        for token in tokens:
            if token not in numbers and len(token) > 1:  # a single character is always a token
                numbers[token] = len(words) + len(added)
                added.append(token)
        in_order = tokens[::-1] if table.direction == BACKWARD else tokens
        lists[string] = [(numbers.get(token, -1) + 1, len(units_of(token))) for token in in_order]
    return _table(words, table.direction, added, lists)


def _spelled_rules(rules: Mapping[str, str]) -> list[str]:
    """The string of each rule, which is the rule's left side without separators."""
    for rule, right in rules.items():
        if not isinstance(rule, str) or not isinstance(right, str):
            raise VocabularyError(f"rule {quoted(rule)}: {quoted(right)}: both sides are str, with {SEPARATOR!r} between tokens")
    spelled = spelled_words(Words([rule.replace(SEPARATOR, "") for rule in rules], origin="rule"), "rule")
    return [string.decode() for string in spelled]


def _need_segmentation(table: MaxMatchTable, string: str, rule: str) -> None:
    """Check that the left side of a rule is the segmentation of its string."""
    data = string.encode()
    found = SEPARATOR.join(data[token.start : token.end].decode() for token in table.tokens(data))
    if found != rule:
        raise VocabularyError(f"rule {quoted(rule)}: the dictionary segments this as {quoted(found)}; make that the left side")
