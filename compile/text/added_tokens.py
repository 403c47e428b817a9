"""Added tokens, which are strings that are cut out of a text before the model reads the text between them.

A trie finds most added tokens while the raw text is read (`fst.text.reading.ReadingTable.specials`). All other added tokens are
*contextual*: they are found in normalized text, depend on the characters next to them, include the whitespace around them, or begin with a
letter or a digit. (The trie would have to look for tokens of the last kind at nearly every character.) In WordPiece, the kernel finds
contextual tokens by their symbols in normalized words, and flags texts that may contain further tokens;
`fst.text.normalizer.NormalizerSteps` finds the tokens in these texts. In byte-level BPE, `fst.text.normalizer` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import overlapping
from fst.automata.rows import CODE_POINTS, WHITE_SPACE, WORD_SYMBOLS
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import counts
from fst.compile.text.components import FLAG, field_of, sequence
from fst.compile.text.folding import Normalization
from fst.errors import UnsupportedError, quoted
from fst.tables.header import CONTEXTUAL_FLAGS, AddedTokens, Context, ContextualToken
from fst.text.added_tokens import MAX_CONTEXTUAL
from fst.text.alphabet import BREAK, ISOLATED, Alphabet


def added_tokens(parts: Sequence[Mapping[str, Any]], tokens: Mapping[str, int]) -> AddedTokens:
    """Assign ids to added tokens as `tokenizers` does.

    A token of the vocabulary keeps its id. Tokens outside the vocabulary get consecutive ids from the size of the vocabulary, even if
    another token already has this id. If two added tokens share an id, `tokenizers` finds only the last. `completed` adds the fields that
    depend on the text pipeline.

    Args:
        parts: ``added_tokens`` of a ``tokenizer.json``.
        tokens: the vocabulary.

    Examples:
        >>> added = added_tokens([{"content": "[SEP]", "special": True}, {"content": "foo", "normalized": True}], {"[SEP]": 0})
        >>> added.specials, list(added.contextual), added.skipped
        ({'[SEP]': 0}, ['foo'], (0,))
    """
    parts = list(filter(_content, sequence(parts, "added_tokens")))
    ids: dict[str, int] = {}
    last: dict[int, Mapping[str, Any]] = {}
    following = len(tokens)
    for part in parts:
        content = part["content"]
        if content not in ids:
            ids[content] = tokens.get(content, following)
            if type(ids[content]) is not int:
                raise ValueError(f"token {quoted(content)} has the id {quoted(ids[content])}; ids are whole numbers")
            following += content not in tokens
        last[ids[content]] = part
    for content, number in ids.items():
        other = last[number]["content"]
        if other != content and content not in tokens:
            both = f"{quoted(content)} and {quoted(other)}"
            raise UnsupportedError(f"added tokens {both} with one id, {number}: number the vocabulary's tokens without gaps")
    special = {part["content"] for part in parts if part.get("special")}
    found = {part["content"]: _token(number, part) for number, part in last.items()}
    return _told_apart(found, special)


def numbered(ids: Mapping[str, int]) -> AddedTokens:
    """Make added tokens from special tokens and their ids. Such tokens have no flags, so they are found anywhere in raw text.

    Examples:
        >>> numbered({"<|endoftext|>": 100257}).specials
        {'<|endoftext|>': 100257}
    """
    return _told_apart({content: _token(number, {"content": content}) for content, number in ids.items()}, ids)


def _told_apart(found: Mapping[str, ContextualToken], special: Iterable[str]) -> AddedTokens:
    """Divide added tokens into tokens of the trie and contextual tokens; special tokens are also listed, for decoding."""
    contextual = _contextual(found)
    return AddedTokens(
        specials={content: token.id for content, token in found.items() if content not in contextual},
        contextual=contextual,
        context=None,
        skipped=tuple(sorted(found[content].id for content in found.keys() & set(special))),
        normalized=(),
    )


def _token(number: int, part: Mapping[str, Any]) -> ContextualToken:
    return ContextualToken(number, **{flag: part.get(flag, False) for flag in CONTEXTUAL_FLAGS}, decoded=part["content"])


def _content(part: Mapping[str, Any]) -> str:
    content = field_of(part, "content", "an added token")
    if not isinstance(content, str):
        raise ValueError(f"added token {quoted(content)} is not text")
    for flag in (*CONTEXTUAL_FLAGS, "special"):
        if not isinstance(part.get(flag, False), FLAG[0]):
            raise ValueError(f"added token {quoted(content)}: {flag} is {quoted(part[flag])}; it is {FLAG[1]}")
    return content


def _contextual(found: Mapping[str, ContextualToken]) -> dict[str, ContextualToken]:
    """The contextual tokens.

    A token is contextual if the trie over raw text cannot find it, or if it may overlap with a contextual token in raw text.
    """
    contextual = {content for content, token in found.items() if _has_flags(token) or content[0].isalnum()}
    fresh = {content for content in contextual if not found[content].normalized}
    while fresh:
        fresh = {*overlapping(found.keys() - contextual, fresh)}
        contextual |= fresh
    return {content: token for content, token in found.items() if content in contextual}


def _has_flags(token: ContextualToken) -> bool:
    return any(getattr(token, flag) for flag in CONTEXTUAL_FLAGS)


def patterns(alphabet: Alphabet, contextual: Mapping[str, ContextualToken], normal: Normalization) -> list[tuple[int, ...]]:
    """The symbols of each contextual token in normalized words."""
    if not contextual:
        return []
    _need_fixed_symbols(alphabet, contextual)
    raw_strips = any(token.rstrip and not token.normalized for token in contextual.values())
    found = {content: _pattern(alphabet, content, token, raw_strips) for content, token in contextual.items()}
    normalized = {content: pattern for content, pattern in found.items() if contextual[content].normalized}
    _need_one_white_space(normalized, normal)
    _need_different(normalized)
    return list(found.values())


def _need_fixed_symbols(alphabet: Alphabet, contextual: Mapping[str, ContextualToken]) -> None:
    """Refuse pipelines in which the symbols of a token depend on the characters next to it, and tokens that are too long in total."""
    first = f"added token {quoted(next(iter(contextual)))}"
    if alphabet.fences:
        raise UnsupportedError(f"{first} with a pre_tokenizer that splits where characters of two kinds meet")
    if alphabet.composition:
        raise UnsupportedError(f"{first} with a normalizer that composes letters")
    if sum(map(len, contextual)) > MAX_CONTEXTUAL:
        what = "that are found in normalised text, or depend on what stands around them"
        raise UnsupportedError(f"added tokens {what}, of more than {MAX_CONTEXTUAL} characters together")
    if any(token.lstrip or token.rstrip for token in contextual.values()):
        _need_white_space_between_words(alphabet)


def _need_different(normalized: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse two tokens that are equal after normalization, because `tokenizers` finds one of the two at random."""
    first: dict[tuple[int, ...], str] = {}
    for content, pattern in normalized.items():
        if first.setdefault(pattern, content) != content:
            both = f"{quoted(first[pattern])} and {quoted(content)}"
            raise UnsupportedError(f"added tokens {both}, which are equal once normalised: leave one out")


def _need_one_white_space(normalized: Mapping[str, tuple[int, ...]], normal: Normalization) -> None:
    """Refuse tokens with whitespace inside, unless normalization makes all whitespace equal: every space becomes one symbol."""
    kinds = set(_normalized(normal, WHITE_SPACE)).intersection(WHITE_SPACE)
    for content, pattern in normalized.items():
        if BREAK in pattern and len(kinds) > 1:
            kept = "a normalizer keeps white space as it is, and the token holds some"
            raise UnsupportedError(f"added token {quoted(content)} with normalized: {kept}")


def _need_white_space_between_words(alphabet: Alphabet) -> None:
    left = alphabet.symbols_of(np.array([ord(char) for char in WHITE_SPACE]))
    if np.any((left >= 0) & (left != BREAK)):
        raise UnsupportedError("added tokens with lstrip or rstrip without a pre_tokenizer that splits at all white space")


def _pattern(alphabet: Alphabet, content: str, token: ContextualToken, raw_strips: bool) -> tuple[int, ...]:
    codes = np.array(list(map(ord, content)))
    pattern = tuple(int(symbol) for row in alphabet.symbols_of(codes) for symbol in row if symbol >= 0)
    if not pattern:
        raise UnsupportedError(f"added token {quoted(content)}: nothing is left of it in normalised text")
    if alphabet.ranks[np.isin(alphabet.codes, codes)].any():
        raise UnsupportedError(f"added token {quoted(content)} has marks that canonical ordering may move")
    if token.normalized and (pattern[0] == BREAK or pattern[-1] == BREAK):
        raise UnsupportedError(f"added token {quoted(content)} with normalized: it begins or ends with white space")
    if raw_strips and token.lstrip and content[0] in WHITE_SPACE:
        what = f"added token {quoted(content)} has lstrip and begins with whitespace"
        raise UnsupportedError(f"{what}, which a token with rstrip may include")
    return pattern


def completed(added: AddedTokens, alphabet: Alphabet, normal: Normalization) -> AddedTokens:
    """Add the fields of added tokens that depend on the text pipeline: the context, and the decoded spelling of normalized tokens.

    The decoded spelling is the string for which `tokenizers` searches.
    """
    contextual = {
        content: replace(token, decoded=_normalized(normal, content) if token.normalized else content)
        for content, token in added.contextual.items()
    }
    return replace(added, contextual=contextual, context=_context(alphabet, contextual.values()))


def _normalized(normal: Normalization, text: str) -> str:
    """Normalize each character of a text separately."""
    codes = np.array(list(map(ord, text)))
    for part in (normal.first, normal.second):
        images = part.apply(codes).ravel()
        codes = images[images >= 0]
    return "".join(map(chr, codes.tolist()))


def _context(alphabet: Alphabet, contextual: Iterable[ContextualToken]) -> Context | None:
    """The sets of characters that decide whether a contextual token next to one of these characters is found; None if no token needs such
    sets.
    """
    if not any(token.single_word or token.lstrip or token.rstrip for token in contextual):
        return None
    is_word, is_ideograph = np.zeros((2, CODE_POINTS + 1), bool)
    is_word[reference.those("word")] = is_ideograph[reference.those("cjk")] = True
    codes, symbols = alphabet.codes, alphabet.symbols  # all other characters represent themselves
    normal = np.where(symbols >= ISOLATED, symbols - ISOLATED, np.where(symbols < CODE_POINTS, symbols, CODE_POINTS))
    sizes = counts(symbols >= 0)
    first, last = normal[:, 0], normal[np.arange(len(codes)), np.maximum(sizes, 1) - 1]
    begins_word, ends_word, spaced = is_word[:-1].copy(), is_word[:-1].copy(), np.zeros(CODE_POINTS, bool)
    begins_word[codes] = (sizes > 0) & is_word[first]
    ends_word[codes] = (sizes > 0) & is_word[last]
    spaced[codes] = (symbols[:, 0] >= ISOLATED) & is_ideograph[first]
    is_part = (symbols >= 0) & is_word[normal]
    parts = counts(is_part)
    rows, places = np.nonzero(is_part & ((parts > 0) & (parts < sizes))[:, None])
    sets = {"word": is_word[:-1], "begins_word": begins_word, "ends_word": ends_word, "spaced": spaced}
    return Context(**{name: runs(found) for name, found in sets.items()}, mixed=np.column_stack([codes[rows], places]).ravel().tolist())


def runs(flags: NDArray[np.bool_]) -> list[int]:
    """The first and the last index of each run of true values.

    >>> runs(np.array([False, True, True, False, True]))
    [1, 2, 4, 4]
    """
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    edges[1::2] -= 1
    found: list[int] = edges.tolist()
    return found


def without(keys: NDArray[np.uint16], forbidden: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Find the words without forbidden strings of classes.

    Args:
        keys: uint16[words, WORD_SYMBOLS], the classes of each word, padded with 0.
        forbidden: strings of classes.

    Returns:
        bool[words].

    Examples:
        >>> words = np.zeros((2, 12), np.uint16)
        >>> words[0, :3], words[1, :3] = (5, 6, 7), (5, 7, 6)
        >>> without(words, [(6, 7)])
        array([False,  True])
    """
    kept = np.ones(len(keys), bool)
    by_size: dict[int, set[bytes]] = {}
    for string in forbidden:
        if len(string) <= WORD_SYMBOLS:
            by_size.setdefault(len(string), set()).add(np.array(string, np.uint16).tobytes())
    for size, strings in by_size.items():
        known = np.array(sorted(strings), f"S{2 * size}")
        for first in range(WORD_SYMBOLS - size + 1):
            windows = np.ascontiguousarray(keys[:, first : first + size]).view(f"S{2 * size}").ravel()
            kept &= ~np.isin(windows, known)
    return kept
