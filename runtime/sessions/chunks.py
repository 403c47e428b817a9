"""The chunks of a session in an immutable tree. Versions of a text share all chunks that are equal.

A leaf of the tree is a `Chunk`. A node has up to `MOST` children of equal height, and the totals of its chunks. To replace a few chunks,
only the nodes above them are copied, so the time grows with the logarithm of the length of the text::

    [[a b] [c d]].replaced(2, [c], [x, y])        →  [[a b] [x y d]], which shares [a b]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from fst.runtime.sessions.reading import Checkpoint
from fst.runtime.workspace import Ids

MOST = 16  # children of a node
CLOSED = Checkpoint(b"")  # in place of a checkpoint: the text ends here
Totals = tuple[int, int, int]  # numbers of chunks, characters and ids


class Chunk:
    """A part of a text with its ids.

    Attributes:
        text: the characters.
        ids: int32[n], the ids that are certain at the end of this part, without those that are certain at its beginning.
        ahead: the number of characters after the chunk on which the chunk depends.
        after: the checkpoint after the chunk; `CLOSED` if the text ends here, because appended ids follow.
        is_fixed: whether the text is decoded from appended ids.
        chunks, characters, count: the totals: 1, the number of characters, and the number of ids.
    """

    __slots__ = ("after", "ahead", "characters", "count", "ids", "is_fixed", "text")
    chunks = 1

    def __init__(self, text: str, ids: Ids, ahead: int, after: Checkpoint, is_fixed: bool = False) -> None:
        self.text, self.ids, self.ahead, self.after, self.is_fixed = text, ids, ahead, after, is_fixed
        self.characters, self.count = len(text), len(ids)

    @property
    def ends_text(self) -> bool:
        """Whether a text ends with this chunk: its text is fixed, or appended ids follow it."""
        return self.is_fixed or self.after is CLOSED


class Chunks:
    """A sequence of chunks: a node of the tree. All methods that change it return a new sequence.

    Args:
        children: chunks, or nodes of the height below; at most `MOST`.
        height: the number of levels of nodes below this node.
        totals: the totals of the children; None: they are counted.

    Attributes:
        chunks, characters, count: the number of chunks, and the total numbers of their characters and ids.
    """

    __slots__ = ("_children", "_height", "characters", "chunks", "count")

    def __init__(self, children: Sequence[Any] = (), height: int = 0, totals: Totals | None = None) -> None:
        self._children, self._height = children, height
        self.chunks, self.characters, self.count = totals or measured(children)

    def __iter__(self) -> Iterator[Chunk]:
        return self.between(0, self.chunks)

    def __getitem__(self, index: int) -> Chunk:
        node = self
        while node._height:
            child, index = node._child(index)
            node = node._children[child]
        found: Chunk = node._children[index]
        return found

    def between(self, begin: int, end: int) -> Iterator[Chunk]:
        """Yield the chunks with the indices `begin` to `end - 1`."""
        if begin >= end:
            return
        if not self._height:
            yield from self._children[begin:end]
            return
        first, at = self._child(begin)
        for child in self._children[first:]:
            yield from child.between(at, min(at + end - begin, child.chunks))
            begin, at = begin + child.chunks - at, 0
            if begin >= end:
                break

    def find(self, place: int) -> tuple[int, int, int]:
        """Find the chunk with the character at a position.

        Returns:
            The index of the first chunk that ends after the position; and the numbers of characters and of ids before this chunk. The
            three totals if the text has no character at the position.
        """
        node: Any = self
        if place >= self.characters:
            return self.chunks, self.characters, self.count
        index = start = count = 0
        while type(node) is Chunks:
            for child in node._children:
                if place < start + child.characters:
                    break
                index, start, count = index + child.chunks, start + child.characters, count + child.count
            node = child
        return index, start, count

    def text(self, begin: int, end: int) -> str:
        """The characters from `begin` to `end - 1`."""
        index, start, _ = self.find(begin)
        parts = []
        for chunk in self.between(index, self.chunks):
            if start >= end:
                break
            parts.append(chunk.text[max(begin - start, 0) : end - start])
            start += chunk.characters
        return "".join(parts)

    def replaced(self, begin: int, old: Sequence[Chunk], new: Sequence[Chunk]) -> Chunks:
        """Replace the chunks `old`, of which the first has the index `begin`, by new chunks."""
        removed, added, end = measured(old), measured(new), begin + len(old)
        change = added[0] - removed[0], added[1] - removed[1], added[2] - removed[2]
        nodes = self._replaced(begin, end, new, change)
        while len(nodes) > 1:
            nodes = _nodes(nodes, nodes[0]._height + 1)
        node = nodes[0] if nodes else Chunks()
        while node._height and len(node._children) == 1:
            node = node._children[0]
        return node

    def _child(self, index: int) -> tuple[int, int]:
        """The number of the child with the chunk at an index, or of the last child; and the chunk's index in it."""
        children, number = self._children, 0
        if 2 * index > self.chunks:  # search from the nearer end
            number, start = len(children) - 1, self.chunks - children[-1].chunks
            while index < start:
                number -= 1
                start -= children[number].chunks
            return number, index - start
        while index >= children[number].chunks:
            index -= children[number].chunks
            number += 1
        return number, index

    def _replaced(self, begin: int, end: int, new: Sequence[Chunk], change: Totals | None) -> Sequence[Chunks]:
        """The nodes that replace this node. `change`: the change of the totals; None if it is not known."""
        if not self._height:
            return self._with((*self._children[:begin], *new, *self._children[end:]), change)
        first, begin_in = self._child(begin)
        last, end_in = (first, begin_in) if begin == end else self._child(end - 1)
        end_in += begin < end
        if first == last:
            parts = self._children[first]._replaced(begin_in, end_in, new, change)
        else:
            head, tail = self._children[first], self._children[last]
            parts = (*head._replaced(begin_in, head.chunks, new, None), *tail._replaced(0, end_in, (), None))
        return self._with((*self._children[:first], *parts, *self._children[last + 1 :]), change)

    def _with(self, children: Sequence[Any], change: Totals | None) -> Sequence[Chunks]:
        """Nodes of the same height as this node, with other children."""
        if change is None or not 0 < len(children) <= MOST:
            return _nodes(children, self._height)
        totals = self.chunks + change[0], self.characters + change[1], self.count + change[2]
        return (Chunks(children, self._height, totals),)


def _nodes(children: Sequence[Any], height: int) -> Sequence[Chunks]:
    """Group children into as few nodes as possible, of similar size."""
    groups = -(-len(children) // MOST)
    bounds = [len(children) * number // groups for number in range(groups + 1)] if groups else [0]
    return [Chunks(tuple(children[begin:end]), height) for begin, end in pairwise(bounds)]


def measured(children: Sequence[Any]) -> Totals:
    """The total numbers of chunks, characters and ids."""
    chunks = characters = count = 0
    for child in children:
        chunks, characters, count = chunks + child.chunks, characters + child.characters, count + child.count
    return chunks, characters, count
