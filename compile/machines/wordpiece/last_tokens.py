"""The last-token automaton of a WordPiece table: an automaton over bytes for the longest match, and an automaton of cuts between words and
punctuation.

Example: the tokens u, un, ##n and ##it with the ids 1, 2, 3 and 4. Node 0, `WORD`, has the children "u" and "un"; node 1, `REST`, has "n",
"i" and "it". Their failure links lead to `REST`, where the next token begins::

    byte          " "   u    n     i                                   t
    node          0     u    un    i, by the link of un to `REST`      it
    last token    none  1    2     none, as no token ends here         4       so "unit" ends with ##it, after un
    cut           0 → 1 → 2  2     2                                   2       CUTS: before a word, then inside of it
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping

import numpy as np

from fst.automata.last_tokens import ENTRY, NO_TOKEN, NOWHERE, LastTokens, characters_of, classes_by, unchanged
from fst.automata.links import link
from fst.automata.rows import BYTE_ROW, ONE, Array, are_parts, field_kind
from fst.automata.trie import Strings, Trie, build
from fst.compile.layout.rows import filled, placed
from fst.errors import UnsupportedError, listed
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables.cleanup import cleaned
from fst.tables.header import Decoder

# Classes: a space; a character that is a token at the beginning and inside of words; a word by itself; a character that only longer tokens
# contain; a word by itself before which no space is decoded; all other characters.
SPACE, LETTER, ALONE, LONGER, CLOSE, OTHER = range(6)
# The states: the beginning of a text, the space before a word, inside a word, after a word of one character. The automaton accepts only
# texts that decoding writes, in which one space is before each word.
CUTS = [
    [[-1, -1, -1, -1, -1, -1], [1, -1, -1, -1, 3, -1]],
    [[-1, 2, 3, 2, -1, -1], [-1, -1, -1, -1, -1, -1]],
    [[-1, 2, -1, 2, -1, -1], [1, -1, -1, -1, 3, -1]],
    [[-1, -1, -1, -1, -1, -1], [1, -1, -1, -1, 3, -1]],
]
MAX_TEXTS = 12  # the number of texts that are tried to find out whether a character changes
WORD, REST = 0, 1  # the nodes where a word begins, and where the rest of a word begins after a token


def last_tokens(table: WordPieceTable) -> LastTokens:
    """The last-token automaton of a table."""
    metadata, model = table.metadata, table.metadata.model
    decoder = metadata.settings.decoder
    if metadata.normalizer.steps is not None or not isinstance(decoder, Decoder):
        found = "characters depend on their neighbours" if isinstance(decoder, Decoder) else "decoding does not join the tokens of a word"
        raise UnsupportedError(f"canonical masks do not cover this WordPiece: {found}; use canonical=False")
    added = {*metadata.added_tokens.ids.values(), model.unk_id}
    pairs = zip(table.tokens[: model.model_tokens], table.token_ids.tolist(), strict=False)
    tokens = {name: number for name, number in pairs if number not in added}
    prefix = model.continuing_subword_prefix
    words = {name.encode(): number for name, number in tokens.items() if not name.startswith(prefix)}
    rests = {name.removeprefix(prefix).encode(): number for name, number in tokens.items() if name.startswith(prefix)}
    entries, fails = _automaton(words, rests)
    sizes = np.zeros(int(table.token_ids.max()) + 1, np.int32)
    for names, space in ((words, 1), (rests, 0)):  # a space is before a word, or the text begins with it
        sizes[[*names.values()]] = [len(token) + space for token in names]
    characters = characters_of(_classes(table, tokens, prefix, decoder.cleanup))
    none = np.empty(0, np.uint64), np.empty(0, np.float64), 0.0
    ends, risky = np.array([1, 0, 1, 1], np.uint8), np.array([0, 0, 0, 1, 0, 0], np.uint8)
    arrays = characters, np.array(CUTS, np.int16), ends, risky, *unchanged(len(risky)), entries, fails
    return LastTokens(*arrays, model.max_input_chars_per_word, sizes, *none, begins_with_space=True)


def _classes(table: WordPieceTable, tokens: Mapping[str, int], prefix: str, has_cleanup: bool) -> Array:
    names = {number: name for name, number in tokens.items()}
    groups: list[list[str]] = [[" "], [], [], [], []]
    for char, texts in sorted(_texts_with(tokens, prefix).items()):
        symbols = table.listed(table.class_of(ord(char)))
        if len(symbols) != 1 or not any(_spelled(table, text, names, prefix) for text in texts):
            continue
        record = table.classes[[2 * symbols[0][0]]]
        if field_kind(record)[0] == ONE:
            groups[CLOSE if has_cleanup and cleaned(f" {char}") == char else ALONE].append(char)
        elif are_parts(record)[0]:
            groups[LETTER if char in tokens and f"{prefix}{char}" in tokens else LONGER].append(char)
    marks = [char for group in groups for char in group if unicodedata.combining(char)]
    if marks:
        raise UnsupportedError(f"the tokens contain marks, {listed(marks)}, whose order may change; use canonical=False")
    return classes_by(groups, OTHER)


def _texts_with(tokens: Collection[str], prefix: str) -> dict[str, list[str]]:
    """For each character of the tokens, texts that contain this character: the character itself, tokens with it, and the rests of words
    after some token.
    """
    found: dict[str, list[str]] = {}
    words = [token for token in tokens if not token.startswith(prefix)]
    lead = next((token for token in ("a", *words) if token in tokens), "")
    for token in tokens:
        text = token if not token.startswith(prefix) else lead + token.removeprefix(prefix)
        for char in {*text} - {" "}:
            texts = found.setdefault(char, [char, lead + char])
            if len(texts) < MAX_TEXTS:
                texts.append(text)
    return found


def _spelled(table: WordPieceTable, text: str, names: Mapping[int, str], prefix: str) -> bool:
    """Whether the tokens of a text, joined, spell the same text."""
    return "".join(names.get(number, "").removeprefix(prefix) for number in table.run(text)) == text


def _automaton(words: Mapping[bytes, int], rests: Mapping[bytes, int]) -> tuple[Array, Array]:
    """The automaton of the longest match, from the failure links of `fst.automata.links.link`; and the link of the state in each slot."""
    found = [(token, root, number) for root, own in ((WORD, words), (REST, rests)) for token, number in own.items()]
    found = [each for each in found if each[0] and b" " not in each[0]]
    roots, numbers, lengths = np.array([(root, number, len(token)) for token, root, number in found], np.int64).reshape(-1, 3).T
    symbols = np.frombuffer(b"".join(token for token, _, _ in found), np.uint8).astype(np.int64)
    failure = link(build(("", "##"), Strings(symbols, np.cumsum(lengths) - lengths, lengths), roots, numbers))
    lasts = np.append(failure.pops, NO_TOKEN)[failure.pops_start[1:] - 1]
    return _rows(failure.trie, failure.link, np.where(failure.whole, lasts, NO_TOKEN))


def _rows(trie: Trie, links: Array, lasts: Array) -> tuple[Array, Array]:
    """The arrays of an automaton, from the failure link and the last token of each node; a space leads from `WORD` to `WORD`."""
    sources, letters = np.divmod(trie.edge_keys, len(trie.letters))
    sources, labels = np.append(WORD, sources), np.append(ord(" "), trie.letters[letters])
    targets = np.append(WORD, trie.edge_children)
    starts = np.append(0, np.cumsum(np.bincount(sources, minlength=len(trie))))
    slots = placed(ENTRY, starts, labels, np.arange(len(trie)))
    entries = filled(ENTRY, slots, BYTE_ROW, ENTRY.pack(ENTRY.own, lasts), "the automaton of these tokens")
    entries[slots[sources] + ENTRY.first + labels] = ENTRY.pack(labels, slots[targets])
    fails = np.full(len(entries), NOWHERE, np.int32)
    fails[slots] = np.where(links == NOWHERE, NOWHERE, slots[links])
    return entries, fails
