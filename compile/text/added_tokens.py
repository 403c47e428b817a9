"""Added tokens: strings that the reference cuts out of a text, before the model sees what is between them.

Most are found while the raw text is read, by a trie (`fst.machines.wordpiece.Tables.specials`). The others are *late*: found in normalised
text, or count only where no word goes on beside them, or swallow the white space around them, or they begin with a letter or a digit, so
that nearly every character would have to be looked at twice. A kernel finds those in normalised words, by their symbols, and notes the
texts in which one of the others may stand; `fst.runtime.fallback_added_tokens` reads these texts again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.alphabet import BREAK, ISOLATED, Alphabet
from fst.compile.text import characters
from fst.compile.text.components import FLAG, field_of, sequence
from fst.compile.text.maps import counts
from fst.compile.text.normalizers import Normalization
from fst.errors import UnsupportedError, quoted
from fst.machines.wordpiece import LATE_FLAGS, MAX_LATE
from fst.rows import CODE_POINTS, WHITE_SPACE, WORD_SYMBOLS


@dataclass(frozen=True)
class LateToken:
    """A late token.

    Attributes:
        id: its id.
        single_word: it counts only where no letter, digit, mark or underscore stands beside it.
        lstrip, rstrip: it takes the white space before it, or after it, as a part of itself.
        normalized: it is found in normalised text, else in raw text.
    """

    id: int
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


@dataclass(frozen=True)
class AddedTokens:
    """All added tokens of a vocabulary.

    Attributes:
        specials: those that are found while raw text is read, and their ids.
        late: the others.
        skipped: those that decoding leaves out.
    """

    specials: Mapping[str, int]
    late: Mapping[str, LateToken]
    skipped: frozenset[str]


def added_tokens(parts: Sequence[Mapping[str, Any]], tokens: Mapping[str, int]) -> AddedTokens:
    """Added tokens with the ids that the reference gives them.

    One that the vocabulary has keeps its id; another gets the number of tokens and of those added before, even if a token has it already.
    Of two with one id, the reference only finds the last in a text.

    Args:
        parts: ``added_tokens`` of a ``tokenizer.json``.
        tokens: the vocabulary.

    Raises:
        UnsupportedError: two tokens that are not in the vocabulary have one id.
        ValueError: one is not laid out as it should be.

    Example:
        >>> added = added_tokens([{"content": "[SEP]", "special": True}, {"content": "foo", "normalized": True}], {"[SEP]": 0})
        >>> added.specials, list(added.late), added.skipped
        ({'[SEP]': 0}, ['foo'], frozenset({'[SEP]'}))
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
    found = {part["content"]: LateToken(number, **{flag: part.get(flag, False) for flag in LATE_FLAGS}) for number, part in last.items()}
    late = _late(found)
    specials = {content: token.id for content, token in found.items() if content not in late}
    return AddedTokens(specials, late, frozenset(special.intersection(found)))


def _content(part: Mapping[str, Any]) -> str:
    """The content of an added token; one without is passed over."""
    content = field_of(part, "content", "an added token")
    if not isinstance(content, str):
        raise ValueError(f"added token {quoted(content)} is not text")
    for flag in (*LATE_FLAGS, "special"):
        if not isinstance(part.get(flag, False), FLAG[0]):
            raise ValueError(f"added token {quoted(content)}: {flag} is {quoted(part[flag])}; it is {FLAG[1]}")
    return content


def _late(found: Mapping[str, LateToken]) -> dict[str, LateToken]:
    """The tokens that are not found while raw text is read, or overlap in raw text with one that is not."""
    late = {content for content, token in found.items() if token != LateToken(token.id) or content[0].isalnum()}
    waiting = [content for content in late if not found[content].normalized]
    while waiting:
        content = waiting.pop()
        overlapping = [other for other in found if other not in late and _overlap(content, other)]
        late.update(overlapping)
        waiting += overlapping
    return {content: token for content, token in found.items() if content in late}


def _overlap(first: str, second: str) -> bool:
    """Whether two strings can share a character of a text, so that it matters which is found."""
    if first in second or second in first:
        return True
    shortest = min(len(first), len(second))
    return any(first[-size:] == second[:size] or second[-size:] == first[:size] for size in range(1, shortest))


def patterns(alphabet: Alphabet, late: Mapping[str, LateToken], normal: Normalization) -> list[tuple[int, ...]]:
    """The symbols of each late token.

    Raises:
        UnsupportedError: a text may hold the token, and other symbols at its place; or it may be one of two tokens.
    """
    if late and alphabet.fences:
        first = quoted(next(iter(late)))
        raise UnsupportedError(f"added token {first} with a pre_tokenizer that splits where characters of two kinds meet")
    if late and alphabet.composition:
        raise UnsupportedError(f"added token {quoted(next(iter(late)))} with a normalizer that composes letters")
    if sum(map(len, late)) > MAX_LATE:
        what = "that are found in normalised text, or depend on what stands around them"
        raise UnsupportedError(f"added tokens {what}, of more than {MAX_LATE} characters together")
    if any(token.lstrip or token.rstrip for token in late.values()):
        _need_white_space_between_words(alphabet)
    raw_strips = any(token.rstrip and not token.normalized for token in late.values())
    found = {content: _pattern(alphabet, content, token, raw_strips) for content, token in late.items()}
    _need_one_white_space({content: pattern for content, pattern in found.items() if late[content].normalized}, normal)
    _need_different({content: pattern for content, pattern in found.items() if late[content].normalized})
    return list(found.values())


def _need_different(normalized: Mapping[str, tuple[int, ...]]) -> None:
    """Show that no two tokens are equal once normalised: the reference then takes the one or the other, by chance."""
    first: dict[tuple[int, ...], str] = {}
    for content, pattern in normalized.items():
        if first.setdefault(pattern, content) != content:
            both = f"{quoted(first[pattern])} and {quoted(content)}"
            raise UnsupportedError(f"added tokens {both}, which are equal once normalised: leave one out")


def _need_one_white_space(normalized: Mapping[str, tuple[int, ...]], normal: Normalization) -> None:
    """Show that all white space inside tokens is the same once normalised, as it is for the words beside it."""
    kinds = set(_normalized(normal, WHITE_SPACE)).intersection(WHITE_SPACE)
    for content, pattern in normalized.items():
        if BREAK in pattern and len(kinds) > 1:
            kept = "a normalizer keeps white space as it is, and the token holds some"
            raise UnsupportedError(f"added token {quoted(content)} with normalized: {kept}")


def _need_white_space_between_words(alphabet: Alphabet) -> None:
    left = alphabet.symbols_of(np.array([ord(char) for char in WHITE_SPACE]))
    if np.any((left >= 0) & (left != BREAK)):
        raise UnsupportedError("added tokens with lstrip or rstrip without a pre_tokenizer that splits at all white space")


def _pattern(alphabet: Alphabet, content: str, token: LateToken, raw_strips: bool) -> tuple[int, ...]:
    codes = np.array(list(map(ord, content)))
    pattern = tuple(int(symbol) for row in alphabet.symbols_of(codes) for symbol in row if symbol >= 0)
    if not pattern:
        raise UnsupportedError(f"added token {quoted(content)}: nothing is left of it in normalised text")
    if alphabet.ranks[np.isin(alphabet.codes, codes)].any():
        raise UnsupportedError(f"added token {quoted(content)} has marks that canonical ordering may move")
    if token.normalized and (pattern[0] == BREAK or pattern[-1] == BREAK):
        raise UnsupportedError(f"added token {quoted(content)} with normalized: it begins or ends with white space")
    if raw_strips and token.lstrip and content[0] in WHITE_SPACE:
        raise UnsupportedError(f"added token {quoted(content)} with lstrip begins with white space, which another with rstrip may take")
    return pattern


def spelled(normal: Normalization, content: str, token: LateToken) -> str:
    """How the reference spells a late token where it makes text of ids: as it is found."""
    if not token.normalized:
        return content
    return _normalized(normal, content)


def _normalized(normal: Normalization, text: str) -> str:
    """What becomes of the characters of a text, one by one."""
    codes = np.array(list(map(ord, text)))
    for part in (normal.first, normal.second):
        images = part.apply(codes).ravel()
        codes = images[images >= 0]
    return "".join(map(chr, codes.tolist()))


def context(alphabet: Alphabet, late: Mapping[str, LateToken]) -> dict[str, list[int]]:
    """What must be known of the characters beside late tokens: first and last code points of runs, one after the other.

    Returns:
        ``word``: characters that are parts of words for `single_word`; ``begins_word``, ``ends_word``: those whose first, or last,
        character is so once they are normalised; ``spaced``: those that normalisation puts blanks around. ``mixed``: of characters that
        become several, only some of them parts of words, each with the number of one that is.
    """
    if not any(token.single_word or token.lstrip or token.rstrip for token in late.values()):
        return {}
    is_word, is_ideograph = np.zeros((2, CODE_POINTS + 1), bool)
    is_word[characters.those("word")] = is_ideograph[characters.those("cjk")] = True
    symbols = alphabet.symbols_of(np.arange(CODE_POINTS))
    normal = np.where(symbols >= ISOLATED, symbols - ISOLATED, np.where(symbols < CODE_POINTS, symbols, CODE_POINTS))
    sizes = counts(symbols >= 0)
    first, last = normal[:, 0], normal[np.arange(CODE_POINTS), np.maximum(sizes, 1) - 1]
    sets = {
        "word": is_word[:-1],
        "begins_word": (sizes > 0) & is_word[first],
        "ends_word": (sizes > 0) & is_word[last],
        "spaced": (symbols[:, 0] >= ISOLATED) & is_ideograph[first],
    }
    is_part = (symbols >= 0) & is_word[normal]
    parts = counts(is_part)
    mixed = np.argwhere(is_part & ((parts > 0) & (parts < sizes))[:, None])
    return {**{name: _runs(found) for name, found in sets.items()}, "mixed": mixed.ravel().tolist()}


def _runs(flags: NDArray[np.bool_]) -> list[int]:
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    edges[1::2] -= 1
    found: list[int] = edges.tolist()
    return found


def without(keys: NDArray[np.uint16], forbidden: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
    """Which words hold none of some strings of classes.

    Args:
        keys: uint16[words, WORD_SYMBOLS], the classes of each word, 0 after the last.
        forbidden: strings of classes.

    Returns:
        bool[words].

    Example:
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
