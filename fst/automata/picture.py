"""Pictures of tables as data: states, arcs, and the path of a text. Each machine makes its pictures by its slow walk.

A machine has a module `picture`, whose function is called by `fst.tables.table.Table.picture`. Machines that read a text symbol by symbol
describe themselves as an `Automaton`; the picture of an automaton around a text has the states that the text passes, and all arcs between
these states on symbols of the text. Machines that choose between paths make the `Picture` themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fst.automata.dot import Edge, Node, dot, need_few, visible
from fst.errors import UnsupportedError

MAX_STEPS = 200_000  # maximum number of pairs of a state and a symbol that are tried
END = "(end)"  # instead of a symbol: the end of a text or of a word


class Arc(NamedTuple):
    """An arc between two states of a picture: its label, and whether it is on the path of the text."""

    source: Hashable
    target: Hashable
    label: str
    is_taken: bool = False


class Picture(NamedTuple):
    """States and arcs.

    Attributes:
        names: the label of each state.
        arcs: the arcs between these states.
        starts, finals: the states in which texts begin and may end.
    """

    names: Mapping[Any, str]
    arcs: Sequence[Arc]
    starts: Collection[Any]
    finals: Collection[Any] = ()

    def dot(self) -> str:
        """The picture in the language DOT; states are numbered in the order of `names`.

        Raises:
            UnsupportedError: the picture has too many states or edges.
        """
        numbers = {state: number for number, state in enumerate(self.names)}
        labels = dict[tuple[int, int, bool], dict[str, None]]()
        for arc in self.arcs:
            labels.setdefault((numbers[arc.source], numbers[arc.target], arc.is_taken), {})[arc.label] = None
        for source, target, is_taken in labels:
            if not is_taken:
                for label in labels.get((source, target, True), ()):
                    labels[source, target, False].pop(label, None)
        taken = {state for arc in self.arcs if arc.is_taken for state in (arc.source, arc.target)}
        nodes = [
            Node(number, name, state in self.starts, state in self.finals, state in taken)
            for number, (state, name) in enumerate(self.names.items())
        ]
        edges = [Edge(source, target, [*found], is_taken) for (source, target, is_taken), found in sorted(labels.items()) if found]
        return dot(nodes, edges)


class Step(NamedTuple):
    """The state after a symbol, and the strings that are written on the way to it."""

    state: Any
    written: Sequence[str] = ()


@dataclass(frozen=True)
class Automaton:
    """A deterministic machine that reads a text symbol by symbol.

    Attributes:
        start: the first state.
        step: a function of a state and a symbol; None if the state does not read the symbol.
        name: a function that returns the label of a state, from the state, the symbols read on a path to the state, and the strings written
            on this path.
        shown: a function of a symbol that returns its label.
        finals: a function of a state that returns whether texts may end in it.
    """

    start: Any
    step: Callable[[Any, Any], Step | None]
    name: Callable[[Any, Sequence[Any], Sequence[str]], str]
    shown: Callable[[Any], str]
    finals: Callable[[Any], bool] = lambda state: False  # noqa: ARG005 - by default, machines have no final states

    def around(self, texts: Iterable[Sequence[Any]]) -> Picture:
        """The states that some texts pass, each from the start, and the arcs between them on the symbols of the texts.

        Raises:
            UnsupportedError: there are too many states, or pairs of a state and a symbol.
        """
        names, taken, alphabet = {self.start: self.name(self.start, [], [])}, set[tuple[Any, Any]](), dict[Any, None]()
        for text in texts:
            state, written = self.start, list[str]()
            for at, symbol in enumerate(text):
                alphabet[symbol] = None
                step = self.step(state, symbol)
                if step is None:
                    break
                taken.add((state, symbol))
                state = step.state
                written += step.written
                if state not in names:
                    names[state] = self.name(state, text[: at + 1], written)
                    need_few(len(names), 0)
        need_steps(len(names) * len(alphabet))
        return self._picture(names, alphabet, taken)

    def whole(self, alphabet: Iterable[Any]) -> Picture:
        """All states that texts over an alphabet reach.

        Raises:
            UnsupportedError: there are too many states, or pairs of a state and a symbol.
        """
        symbols = [*alphabet]
        names, waiting = {self.start: self.name(self.start, [], [])}, [(self.start, list[Any](), list[str]())]
        for state, read, written in waiting:
            need_few(len(names), 0)
            need_steps(len(names) * len(symbols))
            for symbol in symbols:
                step = self.step(state, symbol)
                if step is not None and step.state not in names:
                    path = [*read, symbol], [*written, *step.written]
                    names[step.state] = self.name(step.state, *path)
                    waiting.append((step.state, *path))
        return self._picture(names, symbols, set())

    def _picture(self, names: Mapping[Any, str], alphabet: Iterable[Any], taken: Collection[tuple[Any, Any]]) -> Picture:
        arcs = []
        for symbol in alphabet:
            for state in names:
                step = self.step(state, symbol)
                if step is not None and step.state in names:
                    arcs.append(Arc(state, step.state, labelled(self.shown(symbol), step.written), (state, symbol) in taken))
        return Picture(names, arcs, [self.start], [state for state in names if self.finals(state)])


def labelled(read: str, written: Sequence[str], weight: float = 0) -> str:
    """The label of an arc: the string that it reads, the string that it writes, and its weight.

    Examples:
        >>> labelled("a", []), labelled("a", ["b c", "d"], 0.5)
        ('a', 'a:b␣c d/0.5')
    """
    return read + (":" + " ".join(map(visible, written)) if written else "") + (f"/{weight:.4g}" if weight else "")


def byte_label(byte: int) -> str:
    """The label of a byte: ASCII as a character, other bytes as two hexadecimal digits."""
    return visible(chr(byte)) if byte < 0x80 else f"{byte:02X}"


def units_label(units: Iterable[int]) -> str:
    """The label of UTF-16 units."""
    return visible(b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "surrogatepass"))


def lattice(words: Iterable[tuple[int, int, str]], taken: Collection[tuple[int, int, str]]) -> Picture:
    """The picture of all words of a text as arcs between positions; the chosen words are the path.

    Args:
        words: start, end and label of each word.
        taken: the chosen words, in the same form.
    """
    every = [*dict.fromkeys([*taken, *words])]
    places = sorted({0, *(place for start, end, _ in every for place in (start, end))})
    arcs = [Arc(start, end, label, (start, end, label) in taken) for start, end, label in sorted(every)]
    return Picture({place: str(place) for place in places}, arcs, [0], [places[-1]])


def need_steps(steps: int) -> None:
    """Raise an UnsupportedError if there are more than `MAX_STEPS` pairs of a state and a symbol."""
    if steps > MAX_STEPS:
        found = f"the picture needs {steps:,} or more pairs of a state and a symbol"
        raise UnsupportedError(f"{found}; expected at most {MAX_STEPS:,}; draw the part around a short text")


def need_text(text: str | None, kind: str) -> str:
    """The text around which a table is drawn; an error if there is none."""
    if text is None:
        raise UnsupportedError(f"a table of {kind} is drawn around a text only; name a text")
    return text
