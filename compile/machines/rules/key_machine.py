"""The transducer of a stage that replaces keys, from the trie of the keys and its failure links.

A state is a node of the trie and a set of excluded characters. The transducer reads the character of a child, or gives up: it writes the
replacement of the longest key at the beginning of the node's string, or copies its first character; repeats this as long as the output is
certain; and continues at the node of the rest. The next character must then not be that of a child of the node, since a longer key might
match; so these characters are excluded until a character is read. Each text has one path.

Source: Song et al. 2021, *Fast WordPiece Tokenization*, Section 3.6 (failure links for longest matches).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fst.automata.trie import ROOT
from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.build.chains import Chains
from fst.compile.machines.rules.composition import Part
from fst.errors import UnsupportedError

MAX_ARCS = 1 << 21
State = tuple[int, frozenset[str]]  # a node, and the characters that are excluded


class Links:
    """The trie of the keys.

    Attributes:
        children: for each node, the child for each character.
        written: for each node, the output if the walk gives up at this node.
        rest: for each node, the node at which the walk then continues.
    """

    def __init__(self, strings: Mapping[str, str]) -> None:
        self.children: list[dict[str, int]] = [{}]
        replaced = dict[int, str]()
        for key, string in strings.items():
            node = ROOT
            for char in key:
                node = self._child(node, char)
            replaced.setdefault(node, string)
        self.written, self.rest = [""] * len(self.children), [ROOT] * len(self.children)
        waiting = [ROOT]
        for node in waiting:  # level by level
            for char, child in self.children[node].items():
                self.written[child], self.rest[child] = (replaced[child], ROOT) if child in replaced else self._given_up(node, char)
                waiting.append(child)

    def _child(self, node: int, char: str) -> int:
        child = self.children[node].setdefault(char, len(self.children))
        if child == len(self.children):
            self.children.append({})
        return child

    def _given_up(self, node: int, char: str) -> tuple[str, int]:
        """The `written` and the `rest` of a child, which is the node's child for a character, and not the end of a key."""
        if node == ROOT:
            return char, ROOT
        text, rest = self.written[node], self.rest[node]
        while char not in self.children[rest]:
            if rest == ROOT:
                return text + char, ROOT
            text, rest = text + self.written[rest], self.rest[rest]
        return text, self.children[rest][char]


def machine_of_keys(part: Part, labels: Sequence[int], symbols: tuple[str, ...]) -> Arcs:
    """The transducer of a stage with keys. `labels`: the labels that it reads: characters, and any other symbol, which no key contains."""
    links = Links({key: part.strings[number] for key, number in zip(part.keys, part.key_strings, strict=True)})
    chains, known = Chains(), {*labels}
    copied = [(label, chr(label) if label < FIRST_SYMBOL else "") for label in labels]
    copied = [(label, char) for label, char in copied if char not in links.children[ROOT]]
    states: dict[State, int] = {(ROOT, frozenset()): chains.state(0.0)}
    waiting, count = [*states], 0

    def number(node: int, excluded: frozenset[str] = frozenset()) -> int:
        """The number of a state; a new state is added."""
        if (node, excluded) not in states:
            states[node, excluded] = chains.state(0.0 if node == ROOT else float("inf"))
            waiting.append((node, excluded))
        return states[node, excluded]

    for node, excluded in waiting:
        source, children = states[node, excluded], links.children[node]
        for char, child in children.items():
            if char not in excluded and ord(char) in known:
                chains.add(source, ord(char), [], number(child))
        if node == ROOT:
            for label, char in copied:
                if char not in excluded:
                    chains.add(source, label, [label], states[ROOT, frozenset()])
        else:
            after = number(links.rest[node], excluded.union(children))
            chains.add(source, EPSILON, [*map(ord, links.written[node])], after)
        count += len(children) + (len(copied) if node == ROOT else 1)
        if count > MAX_ARCS:
            raise UnsupportedError(f"the strings need more than {MAX_ARCS:,} arcs; expected fewer; divide the mapping")
    return chains.machine(symbols)
