"""Pictures of Unigram: all tokens of a text as arcs between positions, and the best path."""

from __future__ import annotations

from fst.automata.dot import visible
from fst.automata.picture import Picture, lattice, need_text
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import Node, tokens_at


def picture_of(table: UnigramTable, text: str | None) -> Picture:
    """The arcs are tokens with their scores, and single characters that are not tokens. Positions are bytes of the normalized text."""
    words, taken, at = list[tuple[int, int, str]](), list[tuple[int, int, str]](), 0
    for part, special, path in table.paths(need_text(text, "Unigram")):
        data = part.encode()
        if special is not None or table.is_word_type:
            label = visible(part if special is not None or table.token_of(data) is not None else f"{part} (unknown)")
            taken.append((at, at + len(data), label))
        else:
            taken += [_word(table, data, node, at) for node in path]
            words += [_word(table, data, node, at) for node in _nodes(table, data)]
        at += len(data)
    return lattice(words, taken)


def _nodes(table: UnigramTable, piece: bytes) -> list[Node]:
    """All tokens of a pre-token, and its characters that are not tokens."""
    found, start = list[Node](), 0
    for char in piece.decode():
        after = start + len(char.encode())
        here: list[Node] = [(start, end, number) for end, number in tokens_at(table.trie, piece, start)]
        found += [*here, *([] if any(end == after for _, end, _ in here) else [(start, after, None)])]
        start = after
    return found


def _word(table: UnigramTable, piece: bytes, node: Node, at: int) -> tuple[int, int, str]:
    """A node as a word of the lattice; `at` is the position of the pre-token."""
    start, end, number = node
    score = table.unknown if number is None else table.path_scores[number]
    text = piece[start:end].decode()
    name = f"{text} (unknown)" if number is None else table.tokens[number] if number < table.first_unnamed else f"{text} (no id)"
    return at + start, at + end, f"{visible(name)}/{float(score):.4g}"
