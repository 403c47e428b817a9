"""Slow and obvious definitions of the trainers; they import nothing of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, fsum, log

# --- WordPiece by score: code from Hugging Face's course, chapter WordPiece, with a minimum count of pairs


def score_letters(words: Mapping[str, int], prefix: str = "##") -> dict[str, list[str]]:
    """The characters of each word; all except the first have the prefix."""
    return {word: [char if place == 0 else prefix + char for place, char in enumerate(word)] for word in words}


def wordpiece_by_score(words: Mapping[str, int], size: int, least: int = 1, prefix: str = "##") -> list[str]:
    """The tokens in order: sorted characters, then merges.

    Args:
        words: word → count, in the order of first occurrence.
        size: the number of tokens.
        least: the minimum count of a pair that is merged.
        prefix: the prefix of tokens that continue a word.
    """
    splits = score_letters(words, prefix)
    tokens = sorted({token for split in splits.values() for token in split})
    while len(tokens) < size and (pair := _best_pair(words, splits, least)):
        tokens.append(pair[0] + pair[1].removeprefix(prefix))
        splits = {word: _merged(split, pair, tokens[-1]) for word, split in splits.items()}
    return tokens


def _best_pair(words: Mapping[str, int], splits: Mapping[str, list[str]], least: int) -> tuple[str, str] | None:
    """The pair with the highest score; if scores are equal, the pair that occurs first."""
    tokens, pairs = Counter[str](), Counter[tuple[str, str]]()
    for word, count in words.items():
        for token in splits[word]:
            tokens[token] += count
        for pair in pairwise(splits[word]):
            pairs[pair] += count
    scores = {(a, b): count / (tokens[a] * tokens[b]) for (a, b), count in pairs.items() if count >= least}
    return max(scores, key=scores.__getitem__, default=None)


def _merged(split: list[str], pair: tuple[str, str], token: str) -> list[str]:
    """A word after the merge of a pair, from left to right."""
    found: list[str] = []
    place = 0
    while place < len(split):
        joins = (*split[place : place + 2],) == pair
        found.append(token if joins else split[place])
        place += 2 if joins else 1
    return found


# --- Byte-pair encoding: all pairs are counted again after every merge


def bpe_by_recount(
    words: Mapping[str, int], size: int, first: Sequence[str], least: int = 0, longest: int | None = None
) -> tuple[list[str], list[tuple[str, str]]]:
    """The tokens and merges of BPE as `tokenizers` trains them, without prefix and suffix.

    Args:
        words: word → count.
        size: the number of tokens.
        first: special tokens, followed by the characters.
        least: the minimum count of a pair that is merged.
        longest: pairs of at least this length are not merged, unless both parts are single characters.
    """
    tokens, merges = [*first], list[tuple[str, str]]()
    splits = {word: [*word] for word in words}
    while len(tokens) < size:
        counts = Counter[tuple[str, str]]()
        for word, count in words.items():
            for left, right in pairwise(splits[word]):
                if longest is None or len(left) == len(right) == 1 or len(left + right) < longest:
                    counts[left, right] += count
        best = min(counts, key=lambda pair: (-counts[pair], tokens.index(pair[0]), tokens.index(pair[1])), default=None)
        if best is None or counts[best] < least:
            break
        merges.append(best)
        tokens += [] if "".join(best) in tokens else ["".join(best)]
        splits = {word: _merged(split, best, "".join(best)) for word, split in splits.items()}
    return tokens, merges


def bpe_by_first_occurrence(words: Sequence[str], merges: int) -> list[tuple[str, str]]:
    """The merges of BPE if, of equally frequent pairs, the pair that occurs first is merged. `words`: the words of a text in their order.
    `merges`: the maximum number of merges.
    """
    splits, found = [[*word] for word in words], list[tuple[str, str]]()
    while len(found) < merges and (counts := Counter(pair for split in splits for pair in pairwise(split))):
        found.append(max(counts, key=counts.__getitem__))  # of equal elements, `max` returns the first, in the order of insertion
        splits = [_merged(split, found[-1], "".join(found[-1])) for split in splits]
    return found


def extended_by_recount(
    words: Mapping[str, int],
    splits: Mapping[str, list[str]],
    ids: Mapping[str, int],
    size: int,
    prefix: str = "",
    is_allowed: Callable[[str], bool] = lambda _: True,
) -> dict[str, int]:
    """The tokens after more merges, in words that are first segmented into old tokens.

    Args:
        words: word → count.
        splits: word → its old tokens.
        ids: the old tokens.
        size: the number of ids, including the old ones. The largest old id may exceed the number of old tokens.
        prefix: the prefix of tokens that continue a word.
        is_allowed: whether a merge may make a token.
    """
    tokens, splits = dict(ids), dict(splits)
    new = max(tokens.values()) + 1
    while new < size:
        counts = Counter[tuple[str, str]]()
        for word, count in words.items():
            for pair in pairwise(splits[word]):
                counts[pair] += count if is_allowed("".join(pair)) else 0
        counts += Counter[tuple[str, str]]()  # only pairs that are counted
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], tokens[pair[0]], tokens[pair[1]]))
        token = best[0] + best[1].removeprefix(prefix)
        if token not in tokens:
            tokens[token] = new
            new += 1
        splits = {word: _merged(split, best, token) for word, split in splits.items()}
    return tokens


# --- Words: documents are counted one after the other


def words_one_by_one(documents: Iterable[Iterable[bytes]], partition: int = 0) -> dict[bytes, tuple[int, tuple[int, int, int]]]:
    """Count each word and find its first occurrence; the result is sorted by the bytes of the words.

    Args:
        documents: the words of each document.
        partition: the first number of each occurrence.
    """
    found: dict[bytes, tuple[int, tuple[int, int, int]]] = {}
    for document, words in enumerate(documents):
        for place, word in enumerate(words):
            count, first = found.get(word, (0, (partition, document, place)))
            found[word] = (count + 1, first)
    return dict(sorted(found.items()))


# --- Unigram: all segmentations of a word are enumerated


def segmentations(word: str, pieces: Collection[str]) -> Iterator[list[str]]:
    """Yield every segmentation of a word into pieces."""
    if not word:
        yield []
    for end in range(1, len(word) + 1):
        if word[:end] in pieces:
            yield from ([word[:end], *rest] for rest in segmentations(word[end:], pieces))


def unigram_seeds(words: Mapping[str, int], longest: int) -> list[tuple[str, int]]:
    """The initial pieces of Unigram and their scores: all characters, and all substrings that are followed by at least two different
    letters, where the end of a word counts as a letter.
    """
    characters, counts, followers = Counter[str](), Counter[str](), dict[str, set[str]]()
    for word, count in words.items():
        for character in word:
            characters[character] += count
        for begin in range(len(word)):
            for end in range(begin + 2, min(begin + longest, len(word)) + 1):
                counts[word[begin:end]] += 1
                followers.setdefault(word[begin:end], set()).add(word[end : end + 1])
    substrings = {string: counts[string] * len(string) for string, next_ in followers.items() if len(next_) > 1}
    by_score = [sorted(found.items(), key=lambda pair: (pair[1], pair[0]), reverse=True) for found in (characters, substrings)]
    return by_score[0] + by_score[1]


def unigram_expectations(words: Mapping[str, int], scores: Mapping[str, float]) -> Counter[str]:
    """The expected count of each piece in the words, over all segmentations weighted by their probability."""
    expected = Counter[str]()
    for word, count in words.items():
        paths = [(path, exp(fsum(scores[piece] for piece in path))) for path in segmentations(word, scores)]
        whole = fsum(share for _, share in paths)
        for path, share in paths:
            for piece in path:
                expected[piece] += count * share / whole  # type: ignore[assignment]
    return expected


def unigram_pruned(words: Mapping[str, int], scores: Mapping[str, float], most: int, is_right: bool) -> list[str]:
    """The remaining pieces in the order of `tokenizers`: pieces that cannot be replaced or are themselves split, then the others by loss.

    Args:
        words: word → count.
        scores: piece → score.
        most: the number of remaining pieces, including the unknown piece.
        is_right: how the sum of counts changes if a piece is removed: by the number of its replacements (true) or of all pieces (false).
    """
    counts = Counter[str]()
    for word, count in words.items():
        for piece in _best(word, scores)[0]:
            counts[piece] += count
    kept, losses, total = list[str](), dict[str, float](), counts.total()
    for piece in scores:
        paths = _best(piece, scores)
        if len(paths) == 1 or (counts[piece] and len(paths[0]) > 1):
            kept.append(piece)
        elif counts[piece]:
            grown = total + counts[piece] * ((len(paths[1]) if is_right else len(scores) + 1) - 1)
            without = fsum(log((counts[part] + counts[piece]) / grown) for part in paths[1])
            losses[piece] = counts[piece] / sum(words.values()) * (log(counts[piece] / total) - without)
    return kept + sorted(losses, key=lambda piece: -losses[piece])[: most - 1 - len(kept)]


def _best(word: str, scores: Mapping[str, float]) -> list[list[str]]:
    """The segmentations of a word in descending order of the sums of their scores."""
    return sorted(segmentations(word, scores), key=lambda path: -fsum(scores[piece] for piece in path))
