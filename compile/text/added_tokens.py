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
from fst.text.normalizer import NormalizerSteps


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


def numbered(ids: Mapping[str, int], *, normalized: bool = False) -> AddedTokens:
    """Make added tokens from special tokens and their ids. Such tokens have no other flags, so they are found anywhere in raw text or, with
    `normalized`, in normalized text.

    Examples:
        >>> numbered({"<|endoftext|>": 100257}).specials
        {'<|endoftext|>': 100257}
    """
    return _told_apart({content: _token(number, {"content": content, "normalized": normalized}) for content, number in ids.items()}, ids)


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


def patterns(alphabet: Alphabet, contextual: Mapping[str, ContextualToken], normal: Normalization) -> list[tuple[int, ...]] | None:
    """The symbols of each contextual token in normalized words. None if a text may contain such a token although the symbols do not occur,
    or the other way round; then all texts that may contain a token (`may_hold`) are normalized step by step.
    """
    found = [_pattern(alphabet, content) for content in contextual]
    return found if not contextual or _decide(found, alphabet, contextual, normal) else None


def _decide(
    found: Sequence[tuple[int, ...]], alphabet: Alphabet, contextual: Mapping[str, ContextualToken], normal: Normalization
) -> bool:
    """Whether the symbols of contextual tokens decide where the tokens are."""
    codes = np.array([*{ord(char) for content in contextual for char in content}])
    if alphabet.fences or alphabet.composition or sum(map(len, contextual)) > MAX_CONTEXTUAL:
        return False
    if alphabet.ranks[np.isin(alphabet.codes, codes)].any():  # canonical ordering may move a mark of a token
        return False
    if any(token.lstrip or token.rstrip for token in contextual.values()) and not _splits_at_white_space(alphabet):
        return False
    normalized = [pattern for pattern, token in zip(found, contextual.values(), strict=True) if token.normalized]
    kinds = set(_normalized(normal, WHITE_SPACE)).intersection(WHITE_SPACE)
    if any(BREAK in pattern for pattern in normalized) and len(kinds) > 1:  # symbols do not tell apart the kinds of whitespace in a token
        return False
    return len({*normalized}) == len(normalized) and not any(BREAK in (pattern[0], pattern[-1]) for pattern in normalized)


def _splits_at_white_space(alphabet: Alphabet) -> bool:
    left = alphabet.symbols_of(np.array([ord(char) for char in WHITE_SPACE]))
    return not np.any((left >= 0) & (left != BREAK))


def _pattern(alphabet: Alphabet, content: str) -> tuple[int, ...]:
    codes = np.array(list(map(ord, content)))
    pattern = tuple(int(symbol) for row in alphabet.symbols_of(codes) for symbol in row if symbol >= 0)
    if not pattern:
        raise UnsupportedError(f"added token {quoted(content)}: nothing is left of it in normalised text")
    return pattern


def may_hold(added: AddedTokens, alphabet: Alphabet) -> NDArray[np.bool_]:
    """bool[0x110000], a set of characters. Every text that contains a contextual token contains one of them, or a suspect of the alphabet's
    composition. `added`: the tokens, after `completed`.
    """
    found = np.zeros(CODE_POINTS, bool)
    for content, token in added.contextual.items():
        # A character of normalized text is the image of a single character; letters are frequent, so others are preferred.
        key = min(token.decoded if token.normalized else content, key=lambda char: (char.isalnum() or char in WHITE_SPACE, char))
        code = ord(key)
        found[code] = True
        if token.normalized:
            images = alphabet.symbols % ISOLATED
            found[alphabet.codes[counts((images == code) & (alphabet.symbols >= 0)) > 0]] = True
            found |= key in WHITE_SPACE  # several characters become a space
    return found


def completed(added: AddedTokens, alphabet: Alphabet, normal: Normalization, steps: NormalizerSteps | None) -> AddedTokens:
    """Add the fields of added tokens that depend on the text pipeline: the context, and the decoded spelling of normalized tokens.

    The decoded spelling is the string for which `tokenizers` searches. `steps`: the normalizers one by one, if these find the tokens; None
    if symbols find them, which each character of a token determines separately.
    """

    def spelling(content: str) -> str:
        return steps.normalized(content)[0] if steps else _normalized(normal, content)

    contextual = {
        content: replace(token, decoded=spelling(content) if token.normalized else content) for content, token in added.contextual.items()
    }
    need_sound(contextual)
    return replace(added, contextual=contextual, context=_context(alphabet, contextual.values()))


def need_sound(contextual: Mapping[str, ContextualToken]) -> None:
    """Refuse added tokens between which `tokenizers` chooses at random, that match nothing, or that may share whitespace."""
    first: dict[str, str] = {}
    takes = {token.normalized for token in contextual.values() if token.rstrip}
    for content, token in contextual.items():
        if not token.decoded:
            raise UnsupportedError(f"added token {quoted(content)}: nothing is left of it in normalised text")
        if token.normalized and first.setdefault(token.decoded, content) != content:
            both = f"{quoted(first[token.decoded])} and {quoted(content)}"
            raise UnsupportedError(f"added tokens {both}, which are equal once normalised: leave one out")
        if token.lstrip and token.normalized in takes and token.decoded[0] in WHITE_SPACE:
            what = f"added token {quoted(content)} has lstrip and begins with whitespace"
            raise UnsupportedError(f"{what}, which a token with rstrip may include")


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
