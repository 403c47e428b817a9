"""Unigram training of SentencePiece, as lists and loops, for a few short sentences."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

SPACE = "▁"
Float: Any = np.float32
Pieces = dict[str, Any]  # piece → score, in order


class Node(NamedTuple):
    """An occurrence of a piece in a string."""

    begin: int
    end: int
    name: str  # the piece; for an unknown character, the first piece
    score: Any


def train(sentences: Sequence[str], size: int, *, shares: int = 16, longest: int = 16, factor: float = 0.75) -> dict[str, float]:
    """The pieces of sentences, which begin with ▁, with scores, in the order of ids. `size`: the maximum number of pieces; every character
    becomes a piece. `shares`: the number of threads. `longest`: the maximum number of characters of a piece. `factor`: the share of pieces
    that each pruning keeps.
    """
    pieces = seeds(sentences, longest)
    counts = Counter(SPACE + word for sentence in sentences for word in sentence.split(SPACE)[1:])
    words = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    most = int((size + 3) * 1.1)
    while True:
        for _ in range(2):
            pieces = maximized(expected(words, pieces, shares))
        pieces = pruned(words, pieces, shares, max(most, int(Float(factor) * Float(len(pieces)))))
        if len(pieces) <= most:
            return ended(pieces, Counter("".join(sentences)), size)


def seeds(sentences: Sequence[str], longest: int) -> Pieces:
    """The characters, and the strings with at least two different next bytes, with the logarithms of their shares."""
    data = "\0".join(sentences).encode() + b"\0"
    after, count = defaultdict[bytes, set[int]](set), Counter[bytes]()
    for begin in range(len(data)):
        for end in range(begin + 1, min(begin + 4 * longest + 2, len(data)) + 1):
            count[data[begin:end]] += 1
            after[data[begin:end]].add(data[end] if end < len(data) else -1)
    found = Counter[str]()
    for string, times in count.items():
        piece = string.removesuffix(b"\0").decode(errors="replace")
        good = len(after[string]) > 1 and 1 < len(piece) <= longest and "\ufffd" not in piece and "\0" not in piece
        if good and SPACE not in piece[1:]:
            found[piece] += times
    scores = {piece: Float(times) * Float(len(piece)) for piece, times in found.items()}
    ranked = sorted(scores, key=lambda piece: (-scores[piece], -len(piece.encode()), piece))
    letters = Counter("".join(sentences))
    weights = {letter: Float(letters[letter]) for letter in sorted(letters, key=lambda letter: (-letters[letter], letter))}
    weights |= {piece: scores[piece] for piece in ranked}
    total = math.log(sum(map(float, weights.values())))
    return {piece: Float(math.log(float(weight)) - total) for piece, weight in weights.items()}


def nodes_of(string: str, pieces: Pieces) -> list[Node]:
    """The occurrences of pieces in a string, and the unknown characters."""
    found = list[Node]()
    for begin in range(len(string)):
        for end in range(begin + 1, len(string) + 1):
            if string[begin:end] in pieces:
                found.append(Node(begin, end, string[begin:end], pieces[string[begin:end]]))
        if string[begin] not in pieces:
            found.append(Node(begin, begin + 1, next(iter(pieces)), min(pieces.values()) - Float(10)))
    return found


def added(left: Any, right: Any) -> Any:
    """log(exp(left) + exp(right)); None is log(0)."""
    if left is None:
        return right
    low, high = sorted((left, right))
    return high if high > low + Float(50) else Float(float(high) + math.log1p(math.exp(float(low - high))))


def expected(words: Sequence[tuple[str, int]], pieces: Pieces, shares: int) -> Pieces:
    """The expected count of each piece."""
    total = {piece: Float(0) for piece in pieces}
    for share in range(shares):
        own = {piece: Float(0) for piece in pieces}
        for word, count in words[share::shares]:
            nodes = nodes_of(word, pieces)
            forward: list[Any] = [Float(0)] + [None] * len(word)
            backward: list[Any] = [None] * len(word) + [Float(0)]
            for place in range(len(word) + 1):
                for node in (node for node in nodes if node.end == place):
                    forward[place] = added(forward[place], node.score + forward[node.begin])
            for place in reversed(range(len(word))):
                for node in (node for node in nodes if node.begin == place):
                    backward[place] = added(backward[place], node.score + backward[node.end])
            for node in nodes:
                path = forward[node.begin] + node.score + backward[node.end] - forward[-1]
                own[node.name] = Float(float(own[node.name]) + float(Float(count)) * math.exp(float(path)))
        total = {piece: total[piece] + own[piece] for piece in pieces}
    return total


def digamma(number: float) -> float:
    """The derivative of log Γ."""
    below = 0.0
    while number < 7:
        below, number = below - 1 / number, number + 1
    inverse = 1 / (number - 0.5)
    square = inverse * inverse
    fourth = square * square
    series = math.log(number - 0.5) + 1 / 24 * square - 7 / 960 * fourth + 31 / 8064 * fourth * square - 127 / 30720 * fourth * fourth
    return below + series


def maximized(counts: Pieces) -> Pieces:
    """The pieces with expected counts of 0.5 or more, with new scores."""
    kept = {piece: count for piece, count in counts.items() if count >= Float(0.5)}
    total = Float(0)
    for count in kept.values():
        total += count
    log_total = float(Float(digamma(float(total))))
    return {piece: Float(digamma(float(count)) - log_total) for piece, count in kept.items()}


def sums_of(string: str, nodes: Sequence[Node]) -> dict[Node, Any]:
    """The greatest sum of scores on a path from the beginning of a string to each node."""
    best, sums = [Float(0)] + [Float(-np.inf)] * len(string), dict[Node, Any]()
    for place in range(len(string)):
        for node in (node for node in nodes if node.begin == place):
            sums[node] = best[place] + node.score
            best[node.end] = max(best[node.end], sums[node])
    return sums


def best_path(string: str, pieces: Pieces) -> list[str]:
    """The pieces with the greatest sum of scores; of several, those whose last piece begins first."""
    nodes = nodes_of(string, pieces)
    sums, found, place, score = sums_of(string, nodes), list[str](), len(string), Float(0)
    while place:
        last = [node for node in nodes if node.end == place]
        node = max(last, key=lambda node: sums[node] + score)
        found, place, score = [node.name, *found], node.begin, node.score
    return found


def two_best(string: str, pieces: Pieces) -> list[list[str]]:
    """The best path and the second best path of a string, by extending paths from the end, in the order of a binary heap."""
    nodes = nodes_of(string, pieces)
    sums, found = sums_of(string, nodes), list[list[str]]()
    # greatest sum, sum so far, beginning, pieces, whether the path is complete
    heap: list[Any] = [(Float(0), Float(0), len(string), list[str](), False)]
    while heap and len(found) < 2:
        _, total, begin, path, done = popped(heap)
        if done:
            found.append(path)
            continue
        if begin == 0:
            pushed(heap, (total, total, 0, path, True))
        for node in (node for node in nodes if node.end == begin):
            pushed(heap, (sums[node] + total, node.score + total, node.begin, [node.name, *path], False))
    return found


def pushed(heap: list[Any], entry: tuple[Any, ...]) -> None:
    """``std::push_heap`` of C++."""
    heap.append(entry)
    raised(heap, len(heap) - 1)


def raised(heap: list[Any], at: int) -> None:
    """Move an entry up until its parent is not smaller."""
    while at and heap[(at - 1) // 2][0] < heap[at][0]:
        parent = (at - 1) // 2
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


def popped(heap: list[Any]) -> Any:
    """``std::pop_heap`` of C++: the gap moves to the bottom along the greater children, and the last entry moves up from there."""
    greatest, last, at = heap[0], heap.pop(), 0
    while heap and 2 * at + 1 < len(heap):
        children = [child for child in (2 * at + 2, 2 * at + 1) if child < len(heap)]
        child = max(children, key=lambda child: heap[child][0])
        heap[at], at = heap[child], child
    if heap:
        heap[at] = last
        raised(heap, at)
    return greatest


def pruned(words: Sequence[tuple[str, int]], pieces: Pieces, shares: int, size: int) -> Pieces:
    """The pieces without the least useful ones."""
    counts = {piece: Float(0) for piece in pieces}
    for share in range(shares):
        own = {piece: Float(0) for piece in pieces}
        for word, count in words[share::shares]:
            for piece in best_path(word, pieces):
                own[piece] += Float(count)
        counts = {piece: counts[piece] + own[piece] for piece in pieces}
    total = Float(sum(map(float, counts.values())))
    log_total, kept, losses = float(Float(math.log(total))), list[str](), dict[str, Any]()
    for piece, times in counts.items():
        paths = two_best(piece, pieces) if times else []
        if paths and len(paths[0]) == 1 and len(paths) == 1:
            kept.append(piece)
        elif paths and len(paths[0]) == 1:
            log_without, without = float(Float(math.log(total + times * Float(len(paths[1]) - 1)))), Float(0)
            for other in paths[1]:
                without = Float(float(without) + (math.log(counts[other] + times) - log_without))
            losses[piece] = times / total * (Float(math.log(times) - log_total) - without)
    ranked = sorted(losses, key=lambda piece: -losses[piece])
    return {piece: pieces[piece] for piece in [*kept, *(ranked[: size - len(kept)] if len(kept) <= size else ranked)]}


def ended(pieces: Pieces, letters: Mapping[str, int], size: int) -> dict[str, float]:
    """The final pieces: all characters, and the best other pieces that are on a best path of their own characters."""
    reachable = Pieces()
    for piece, score in pieces.items():
        sums = sums_of(piece, [node for node in nodes_of(piece, pieces) if node.end - node.begin < len(piece)])
        if not any(node.end == len(piece) and total > score for node, total in sums.items()):
            reachable[piece] = score
    found, penalty = Pieces(), Float(0)
    for letter in sorted(letters, key=lambda letter: (-letters[letter], letter)):
        found[letter] = reachable.get(letter, min(reachable.values()) + penalty)
        penalty += Float(0) if letter in reachable else Float(0.0001)
    for piece in sorted(reachable.keys() - found.keys(), key=lambda piece: (-reachable[piece], piece)):
        if len(found) < size:
            found[piece] = reachable[piece]
    return {piece: float(found[piece]) for piece in sorted(found, key=lambda piece: (-found[piece], piece))}
