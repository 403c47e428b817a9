"""Pictures in the language DOT, and as SVG or PNG by graphviz where it is installed. All pictures of the toolkit are written here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fst.errors import UnsupportedError

MAX_DRAWN = 2_000  # states or edges
MAX_LABELS = 12  # labels shown on an edge; of further labels, only the number is shown
TIMEOUT = 60  # seconds
HEAD = ("digraph {", "rankdir=LR", 'node [shape=circle, fontname="Helvetica"]', 'edge [fontname="Helvetica"]')
PATH = ', color="#c0392b", fontcolor="#c0392b", penwidth=2'  # the look of states and edges on the path of a text


class Node(NamedTuple):
    """A state: its number, its label, whether it is the start, whether it is final, and whether it is on the path of a text."""

    number: int
    label: str
    is_start: bool = False
    is_final: bool = False
    is_taken: bool = False


class Edge(NamedTuple):
    """All arcs from one state to another: the two states, the labels of the arcs, and whether an arc is on the path of a text."""

    source: int
    target: int
    labels: Sequence[str]
    is_taken: bool = False


def dot(nodes: Sequence[Node], edges: Sequence[Edge]) -> str:
    """States and edges in the language DOT. A start is bold, a final state is a double circle, and the path of a text is red.

    Examples:
        >>> dot([Node(0, "a", is_start=True), Node(1, "b")], [Edge(0, 1, ["x", "y"], is_taken=True)]).splitlines()[4:-1]
        ['0 [label="a", style=bold]', '1 [label="b"]', '0 -> 1 [label="x, y", color="#c0392b", fontcolor="#c0392b", penwidth=2]']
    """
    need_few(len(nodes), len(edges))
    return "\n".join([*HEAD, *map(_node, nodes), *map(_edge, edges), "}", ""])


def need_few(states: int, edges: int) -> None:
    """Raise an UnsupportedError if there are more than `MAX_DRAWN` states or edges."""
    if max(states, edges) > MAX_DRAWN:
        found = f"the picture has {states:,} states and {edges:,} edges"
        raise UnsupportedError(f"{found}; expected at most {MAX_DRAWN:,}; draw the part around a short text")


def _node(node: Node) -> str:
    shape = ", shape=doublecircle" * node.is_final + ", style=bold" * node.is_start + PATH * node.is_taken
    return f'{node.number} [label="{_escaped(node.label)}"{shape}]'


def _edge(edge: Edge) -> str:
    more = len(edge.labels) - MAX_LABELS
    label = ", ".join([*edge.labels[:MAX_LABELS], *([f"… {more:,} more"] if more > 0 else [])])
    return f'{edge.source} -> {edge.target} [label="{_escaped(label)}"{PATH * edge.is_taken}]'


def visible(text: str) -> str:
    r"""A text as labels show it: spaces are ␣, and characters that cannot be printed are escapes.

    Examples:
        >>> visible("a b\xad")
        'a␣b\\xad'
    """
    return "".join("␣" if char == " " else char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def drawn(source: str, form: str = "svg") -> bytes | None:
    """The picture of a text in DOT; None if graphviz is not installed, fails, or takes longer than a minute."""
    import subprocess  # not at the top, because every table class imports this module
    from shutil import which

    program = which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run([program, f"-T{form}"], input=source.encode(), capture_output=True, check=True, timeout=TIMEOUT)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout
