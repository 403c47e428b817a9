"""The proof of added tokens: special tokens, which are in the trie of `fst.text.reading`, and contextual tokens.

A contextual token depends on normalized text or on the characters next to it. A kernel searches for contextual tokens among the symbols of
a text. Texts for which the search among symbols is not exact are normalized and searched a second time. The search in the text and the
search among symbols must find the same tokens, so the proof refuses the same tokens as the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fst.automata.matcher import overlapping
from fst.automata.rows import ONE, WHITE_SPACE, WHITESPACE, are_fences, field_kind, field_output
from fst.errors import quoted
from fst.tables.header import AddedTokens, ContextualToken
from fst.tables.proof import Tokens, need, need_ids, prove_around
from fst.text.reading import ReadingTable

# maximum total number of characters of contextual tokens; loading a table takes about 500 bytes of memory for each character
MAX_CONTEXTUAL = 1 << 19
# maximum product of two numbers: the characters of all special tokens, and the characters of all contextual tokens of raw text
MAX_OVERLAPS = 1 << 28

Patterns = Mapping[str, Sequence[int]]


def prove_ids(table: ReadingTable, tokens: Tokens, metadata: Any) -> None:
    """Prove that all ids in the metadata are ids of tokens with the stated names, and that added tokens are words by themselves."""
    added, model = metadata.added_tokens, metadata.model
    prove_around(added, metadata.templates, tokens.named)
    need_ids([model.unk_id], tokens.named, "unk_id")
    need_ids(added.specials.values(), tokens.named, "specials")
    need_ids((token.id for token in added.contextual.values()), tokens.named, "late")
    both = sorted(added.specials.keys() & added.contextual.keys())
    need(not both, f"added token {quoted(both[:1])} is listed under specials and under late")
    a = table.classes[0::2]
    words = frozenset(field_output(a[field_kind(a) == ONE]).tolist())
    for content, number in added.ids.items():
        need(number in words, f"added token {quoted(content)} has the id {number}, which no class has")
        tokens.of_id(number, content)
    token = tokens.of_id(model.unk_id, model.unk_token)
    need(token < model.model_tokens, f"unk_token {quoted(model.unk_token)} is an added token, not one of the model")


def prove_contextual(table: ReadingTable, added: AddedTokens) -> Patterns:
    """Prove that the search among symbols and the search in text find the same contextual tokens; return the symbols of each token."""
    tokens, a = added.contextual, table.classes[0::2]
    size = sum(map(len, tokens))
    need(size <= MAX_CONTEXTUAL, f"the contextual tokens have {size} characters; at most {MAX_CONTEXTUAL} are possible")
    need(np.any(a[1:] == WHITESPACE), "there are contextual tokens, but no class that is a blank between them")
    need(not np.any(are_fences(a)), "there are contextual tokens and fences; expected no fences, which could be next to a token")
    patterns = {content: pattern_of(table, content) for content in tokens}
    _prove_patterns(table, {content: pattern for content, pattern in patterns.items() if tokens[content].normalized})
    _prove_white_space(table, tokens)
    _prove_apart(added.specials, [content for content, token in tokens.items() if not token.normalized])
    return patterns


def pattern_of(table: ReadingTable, content: str) -> Sequence[int]:
    """The symbols of a contextual token, as classes."""
    listed = (symbol for char in content for symbol in table.listed(table.class_of(ord(char))))
    symbols = [(number, rank) for number, rank in listed if number]  # class 0 represents a mark without a symbol
    need(symbols, f"contextual token {quoted(content)} has no symbol once it is normalised")
    need(not any(rank for _, rank in symbols), f"contextual token {quoted(content)} contains a mark that canonical ordering may move")
    return [number for number, _ in symbols]


def _prove_patterns(table: ReadingTable, normalized: Patterns) -> None:
    """Prove that tokens of normalized text have different normalized forms, and neither begin nor end with a space."""
    seen: dict[tuple[int, ...], str] = {}
    for content, pattern in normalized.items():
        other = seen.setdefault(tuple(pattern), content)
        need(other == content, f"contextual tokens {quoted(other)} and {quoted(content)} are equal once they are normalised")
        is_whitespace = any(table.classes[2 * side] == WHITESPACE for side in (pattern[0], pattern[-1]))
        need(not is_whitespace, f"contextual token {quoted(content)} begins or ends with a blank")


def _prove_white_space(table: ReadingTable, tokens: Mapping[str, ContextualToken]) -> None:
    """Prove that a token with lstrip or rstrip includes only whitespace characters whose symbols are spaces."""
    takes = next((content for content, token in tokens.items() if token.lstrip or token.rstrip), None)
    if takes is not None:
        numbers = [(char, number) for char in WHITE_SPACE for number, _ in table.listed(table.class_of(ord(char)))]
        other = next((char for char, number in numbers if table.classes[2 * number] != WHITESPACE), None)
        need(other is None, f"contextual token {quoted(takes)} includes whitespace, but the class of {other!a} is not a space")
    if any(token.rstrip and not token.normalized for token in tokens.values()):
        begins = next((content for content, token in tokens.items() if token.lstrip and content[0] in WHITE_SPACE), None)
        need(begins is None, f"contextual token {quoted(begins)} with lstrip begins with white space that another token takes along")


def _prove_apart(specials: Iterable[str], contextual: Sequence[str]) -> None:
    """Prove that a special token and a contextual token never share a character of a raw text."""
    known = frozenset(specials)
    product = sum(map(len, known)) * sum(map(len, contextual))
    need(product <= MAX_OVERLAPS, f"the special and contextual tokens in raw text are too long together: {product} > {MAX_OVERLAPS}")
    content = next(overlapping(contextual, known), None)
    need(content is None, f"contextual token {quoted(content)} can overlap with a special token")
