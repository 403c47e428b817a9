"""Trim a vocabulary: keep the tokens that are most frequent in texts, and the tokens from which BPE merges them.

If all tokens of a text are kept, encoding the text gives the same tokens as before. With WordPiece and Unigram, this is true for any set of
kept tokens, because the longest match and the best path consist of kept tokens; only alternatives are removed. BPE also needs all merges
that lead to a kept token, so the two parts of each such merge are kept, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.bridge.from_live import compiled
from fst.errors import VocabularyError
from fst.pretokens.token_letters import byte_of
from fst.train.base_tokenizers import base_vocabulary, config_of, used
from fst.train.base_vocabulary import BaseVocabulary
from fst.train.counting import counted
from fst.train.result import SIZE, Trained
from fst.train.settings import renumbered
from fst.train.symbols import check_numbers

ASKER = "fst.train.trim"
ABSENT = -1


class Trimmed(NamedTuple):
    """A trimmed vocabulary.

    Attributes:
        trained: the vocabulary.
        ids: int64[1 + largest old id], old id → new id; -1: the token was removed.
    """

    trained: Trained
    ids: NDArray[np.int64]


def trim(
    old: Any,
    words: Any,
    keep: int,
    *,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
) -> Trimmed:
    """Keep the most frequent tokens of a tokenizer in a corpus, and remove the other tokens.

    Added tokens, the unknown token and the alphabet are always kept, so every text still has an encoding. With BPE, the parts of a kept
    token are kept, too. If all tokens of a text are kept, the text has the same tokens as before. New ids have the order of the old ids.

    Args:
        old: the base tokenizer, see `extend`.
        words: texts, files or counted words, see `words`; they are split as in the base tokenizer.
        keep: the number of kept tokens. Among equally frequent tokens, tokens with smaller ids are kept.
        column, field, threads, min_count, errors: see `words`.

    Returns:
        The vocabulary, and the mapping of old ids to new ids. ``embeddings[ids >= 0]`` are the rows of the new embeddings.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the vocabulary, for example a ``.model`` of SentencePiece.
        VocabularyError: the base vocabulary cannot be compiled; counted words were split by a different pipeline; or `keep` is larger than
            the vocabulary, or smaller than the number of tokens that must be kept (the message contains both numbers).
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "p", "##u", "##g", "hug", "pug", "hugu"])
        >>> new = trim(old, {"hug": 3, "pug": 1}, keep=6)
        >>> [*new.trained.vocabulary], new.ids.tolist()
        (['[UNK]', 'h', 'p', '##u', '##g', 'hug'], [0, 1, 2, 3, 4, 5, -1, -1])
    """
    vocabulary = base_vocabulary(compiled(old, ASKER), ASKER)
    counted_words = counted(words, vocabulary.pipeline, locals()).words
    trimmed = _trimmed(vocabulary, used(vocabulary, counted_words), keep, counted_words.min_count)
    return trimmed._replace(trained=replace(trimmed.trained, config=config_of(old)))


def _trimmed(base: BaseVocabulary, used: NDArray[np.int64], keep: int, min_count: int) -> Trimmed:
    """Keep the most used tokens of a vocabulary.

    Args:
        base: the vocabulary.
        used: int64[1 + largest id], the number of occurrences of each token in the encoded words.
        keep: the number of tokens of the new vocabulary.
        min_count: the minimum count of a word; `used` does not include the tokens of rarer words.
    """
    kept = _kept(base, used, keep)
    ids = np.full(base.size, ABSENT, np.int64)
    ids[kept] = np.arange(len(kept))
    vocabulary = {token: int(ids[number]) for token, number in base.tokens.items() if ids[number] != ABSENT}
    stays = {*vocabulary} & {*base.of_model}
    merges = [(left, right) for left, right in base.merges if {left, right, base.joined(left, right)} <= stays]
    trained = replace(base, settings=renumbered(base.settings)).trained(
        vocabulary,
        used[kept],
        SIZE,
        merges=merges,
        scores=[base.scores[number] for number in kept if number < len(base.scores)],
        options={"unk_id": int(ids[base.unknown])} if base.kind == "Unigram" and base.unknown is not None else {},
        min_count=min_count,
    )
    return Trimmed(trained, ids)


def _kept(base: BaseVocabulary, used: NDArray[np.int64], keep: int) -> list[int]:
    """The ids to keep, in ascending order. Required ids are chosen first, then the most frequent ids.

    A token is skipped if keeping it and its parts would exceed `keep` tokens.
    """
    tokens = {number: token for token, number in base.tokens.items()}
    check_numbers(keep=keep)
    if keep > len(tokens):
        raise VocabularyError(f"keep is {keep:,}; expected at most {len(tokens):,}, the tokens of the base vocabulary")
    kept = {*_needed(base)}
    if keep < len(kept):
        raise VocabularyError(f"keep is {keep:,}; expected at least {len(kept):,}, the added tokens and the alphabet, which must stay")
    parts = _Parts.of(base)
    for number in sorted(tokens, key=lambda number: (-used[number], number)):
        if number not in kept:
            whole = parts.closure(tokens[number], kept)
            if len(kept) + len(whole) <= keep:
                kept |= whole
        if len(kept) == keep:
            break
    return sorted(kept)


def _needed(base: BaseVocabulary) -> Iterator[int]:
    """The ids that are necessary to encode every text: added tokens, the unknown token, and the alphabet. An id may be listed twice."""
    yield from base.added.values()
    if base.unknown is not None:
        yield base.unknown
    yield from (base.of_model[token] for token in base.settings.get("named_tokens", {}).values() if token in base.of_model)
    if base.kind != "WordLevel":
        yield from (number for token, number in base.of_model.items() if _is_atom(token, base))
    if base.kind == "WordPiece":
        yield from (number for token, number in base.of_model.items() if not _is_spelled(token, base))
    if base.kind == "Unigram":
        yield from (number for token, number in base.of_model.items() if not all(char in base.of_model for char in token))
        yield base.scores.index(min(base.scores))  # Unigram computes the score of unknown characters from the minimum score


def _is_atom(token: str, base: BaseVocabulary) -> bool:
    """Whether a token is a single character or byte, with or without prefix and suffix; such tokens form the alphabet."""
    bodies = (token, token.removeprefix(base.prefix), token.removesuffix(base.suffix))
    return 1 in map(len, bodies) or byte_of(token) is not None


def _is_spelled(token: str, base: BaseVocabulary) -> bool:
    """Whether all characters of a WordPiece token are also tokens."""
    continues = token.startswith(base.prefix)
    body = token.removeprefix(base.prefix)
    letters = [char if place == 0 and not continues else base.prefix + char for place, char in enumerate(body)]
    return all(letter in base.of_model for letter in letters)


@dataclass(frozen=True)
class _Parts:
    """The two parts of each token: the pair of the last merge when BPE encodes the token's string."""

    base: BaseVocabulary  # the vocabulary
    # token → the merges that make it. Only one of a token's merges is ever used: the last merge when BPE encodes the token's string; see
    # `fst.compile.machines.bpe.canonical_tokens`.
    made: Mapping[str, Sequence[tuple[str, str]]]
    ranks: Mapping[tuple[str, str], int]  # merge → its rank. If a merge is listed twice, its last rank counts.

    @classmethod
    def of(cls, base: BaseVocabulary) -> _Parts:
        made: dict[str, list[tuple[str, str]]] = {}
        for pair in dict.fromkeys(base.merges):
            made.setdefault(base.joined(*pair), []).append(pair)
        return cls(base, made, {pair: rank for rank, pair in enumerate(base.merges)})

    def closure(self, token: str, kept: set[int]) -> set[int]:
        """The ids to add in order to keep a token: the token and, recursively, its parts, except ids that are already kept."""
        found, waiting = set[int](), [token]
        while waiting:
            part = waiting.pop()
            number = self.base.of_model.get(part, ABSENT)
            if number not in kept and number not in found and number != ABSENT:
                found.add(number)
                waiting += self._last(part)
        return found

    def _last(self, token: str) -> Iterable[str]:
        """The two parts of a token; empty if no merge makes the token."""
        pairs = self.made.get(token, ())
        return pairs[0] if len(pairs) == 1 else self._merged(token) if pairs else ()

    def _merged(self, token: str) -> Iterable[str]:
        """Run BPE on a token's string, and return the two parts of the last merge."""
        base, parts = self.base, self._letters(token)
        while len(parts) > 2:
            found = [(self.ranks[pair], place) for place, pair in enumerate(pairwise(parts)) if pair in self.ranks]
            if not found:
                return ()
            _, place = min(found)
            parts[place : place + 2] = [base.joined(*parts[place : place + 2])]
        return parts if (*parts,) in self.ranks else ()

    def _letters(self, token: str) -> list[str]:
        """The characters of a token, each with its prefix or suffix, as in the vocabulary."""
        base = self.base
        ends = bool(base.suffix) and token.endswith(base.suffix)
        body = token.removeprefix(base.prefix).removesuffix(base.suffix if ends else "")
        letters = [base.prefix + char for char in body]
        if letters and not token.startswith(base.prefix):
            letters[0] = body[0]
        if letters and ends:
            letters[-1] += base.suffix
        return letters
