"""Edits of a text that is divided into chunks: which chunks are read again, and how far.

A chunk depends on the text before it only through the checkpoint before it, and on the text after it only through the next `ahead`
characters. So a chunk stays valid if these characters end before the edit. After the valid chunks, the new text is read chunk by chunk, up
to the end of each old chunk and its `ahead` characters. If a kernel stops at the end of an old chunk, with the checkpoint that
the old chunk has there, the chunks after it remain valid::

    old chunks    |    a    |    b    |    c    |    d    |          an edit in b, and `ahead` of a ends before the edit
    new chunks    |    a    |   b'    |    c    |    d    |          after b', the checkpoint is that of b

If no checkpoint is equal, for example in the middle of a word of a million letters, the text is read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fst.runtime.run import NOTHING
from fst.runtime.sessions.chunks import CLOSED, Chunk, Chunks
from fst.runtime.sessions.reading import START, Checkpoint, Reader, Step
from fst.runtime.workspace import Ids

BLOCK = 1 << 12  # characters to read at a time: small blocks need more calls, large ones take longer to read again; see LOG, "Sessions"
TURN = 1 << 15  # characters; an appended text of at most this length is one block, because chats append texts, and rarely edit them
MOST_FIXED = 1 << 10  # ids; a chunk of appended ids with fewer is merged with the next appended ids
UNFINISHED = "\ufffd"  # the end of the text of ids that end inside a character
FEW = 16  # for fewer ids, a loop of Python is faster than NumPy


class Version(NamedTuple):
    """A text with its ids, immutable.

    Attributes:
        chunks: the chunks that are complete.
        last: the chunk after them, with which the next chunk is merged if both are small; None if there is none.
        rest: the characters after the chunks.
        rest_ids: int32[n], the ids of the rest if the text ends here.
        rest_certain: the number of leading `rest_ids` that no later text can change.
    """

    chunks: Chunks
    last: Chunk | None
    rest: str
    rest_ids: Ids
    rest_certain: int = 0

    @property
    def all_chunks(self) -> Chunks:
        """All chunks."""
        return self.chunks.replaced(self.chunks.chunks, [], [self.last]) if self.last else self.chunks

    @property
    def characters(self) -> int:
        """The number of characters."""
        return self.chunks.characters + (self.last.characters if self.last else 0) + len(self.rest)

    @property
    def before_rest(self) -> int:
        """The number of ids of the chunks."""
        return self.chunks.count + (self.last.count if self.last else 0)

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.before_rest + len(self.rest_ids)

    @property
    def after(self) -> tuple[Checkpoint, int]:
        """The checkpoint after the chunks, and the number of characters after them on which the last chunk depends."""
        before = self.last or (self.chunks[self.chunks.chunks - 1] if self.chunks.chunks else None)
        return (before.after, before.ahead) if before else (START, 0)

    @property
    def fixed_end(self) -> Ids | None:
        """The last appended ids, if no text follows them."""
        last = None if self.last or self.rest or not self.chunks.chunks else self.chunks[self.chunks.chunks - 1]
        return last.ids if last and last.is_fixed else None

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join([*(chunk.text for chunk in self.all_chunks), self.rest])

    @property
    def ids(self) -> Ids:
        """All ids, int32[n], in a new array."""
        return np.concatenate([*(chunk.ids for chunk in self.all_chunks), self.rest_ids])


EMPTY = Version(Chunks(), None, "", NOTHING)


class Change(NamedTuple):
    """The difference between the ids before and after a change of a session.

    Attributes:
        start: the number of ids before the first id that changes.
        removed: the number of old ids from there on that are replaced.
        ids: int32[n], the new ids in place of them.
    """

    start: int
    removed: int
    ids: Ids


def appended(version: Version, new: str, reader: Reader) -> tuple[Version, Change]:
    """Append a text; return the new version, and the change of the ids."""
    chunks, last = version.chunks, version.last
    (at, ahead), text = version.after, version.rest + new
    made, step, rest = _read(at, max(ahead, len(text) if len(text) <= TURN else BLOCK), text, reader, ends=True)
    ids = joined([*[chunk.ids for chunk in made], step.rest])
    same = _common(version.rest_ids, ids)
    change = Change(version.before_rest + same, len(version.rest_ids) - same, ids[same:])
    if made:
        if last:
            made = [_merged(last, made[0]), *made[1:]] if _may_merge(last, made[0]) else [last, *made]
        if len(made) > 1:
            chunks = chunks.replaced(chunks.chunks, [], made[:-1])
        last = made[-1]
    return Version(chunks, last, rest, step.rest, step.certain), change


def with_ids(version: Version, ids: Ids, text_of: Callable[[Ids, Ids], str], after: Checkpoint, reader: Reader) -> tuple[Version, Change]:
    """Append ids, whose text is fixed.

    Args:
        version, reader: as in `edited`.
        ids: int32[n], the ids.
        text_of: returns the text of ids; its first argument is an array of the id before them, or empty.
        after: the checkpoint after the ids.
    """
    chunks = version.all_chunks
    last = chunks[chunks.chunks - 1] if chunks.chunks else None
    change = Change(version.size, 0, ids.copy())
    if version.rest or len(version.rest_ids):
        chunks = chunks.replaced(chunks.chunks, [], [Chunk(version.rest, version.rest_ids, 0, CLOSED)])
    elif last and last.is_fixed and (last.count < MOST_FIXED or last.text.endswith(UNFINISHED)):
        chunks, ids = chunks.replaced(chunks.chunks - 1, [last], []), joined([last.ids, ids])
    fixed = Chunk(text_of(_last_id(chunks), ids), ids, 0, after, True)
    return Version(chunks.replaced(chunks.chunks, [], [fixed]), None, "", reader.read(after, "", ends=True).rest), change


def _last_id(chunks: Chunks) -> Ids:
    """The last id, int32[1]; empty if there is none."""
    return next((chunks[index].ids[-1:] for index in range(chunks.chunks - 1, -1, -1) if chunks[index].count), NOTHING)


def edited(version: Version, begin: int, end: int, new: str, reader: Reader) -> tuple[Version, Change]:
    """Replace the characters from `begin` to `end - 1` by a new text.

    Raises:
        ValueError: some of the characters are fixed, or those on both sides of `begin` are.
    """
    walk = _Walk(version, begin, end, new, reader)
    while walk.is_inside():
        if walk.meets():
            return walk.replaced()
        walk.pass_chunk()
    return walk.finished()


class _Walk:
    """The reading of an edited text; see `edited`.

    Attributes:
        first, count: the first old chunk that is read again, and the number of ids before it.
        before: the chunk before the first one; None at the beginning of the text.
        old: the old chunks from the first one up to the border, which is the end of a chunk.
        following, next: the index of the chunk after the border, and this chunk; None at the end.
        border: the number of old characters before the border.
        made: the new chunks.
        at: the checkpoint after the new chunks.
        unread: the text after the new chunks that is not in a chunk yet.
        ahead: the number of characters of `unread` on which the chunks before it depend.
        reached: the number of old characters before the end of `unread`.
        least: the least length at which `unread` is read again: doubled if nothing in a long text is certain, so the time stays linear.
    """

    def __init__(self, version: Version, begin: int, end: int, new: str, reader: Reader) -> None:
        self._version, self._chunks, self._reader = version, version.all_chunks, reader
        self.first, start, self.count, self.before = _first(self._chunks, begin)
        self.old: list[Chunk] = []
        self.made: list[Chunk] = []
        self.following, self.border = self.first, start
        self.next, self.least = self._chunk_at(self.first), 0
        self.at, self.ahead = self._state_at_border()
        if self.before and self.before.is_fixed and self.next and self.next.is_fixed:
            raise _fixed(begin, end)
        while self.border < end and self.next:
            if self.next.is_fixed:
                raise _fixed(begin, end)
            self.pass_chunk()
        text = "".join([chunk.text for chunk in self.old])
        if self.border < end:
            text, self.border = text + version.rest[: end - self.border], end
        self.unread, self.reached = text[: begin - start] + new + text[end - start :], self.border

    def is_inside(self) -> bool:
        """Whether a chunk follows the border, and the text continues after this chunk."""
        return self.next is not None and not self.next.ends_text

    def meets(self) -> bool:
        """Read up to the border and as far ahead as the old chunk before the border; return whether the rest of the old chunks is valid."""
        after, ahead = self._state_at_border()
        self._add_up_to(self.border + ahead)
        if len(self.unread) < self.least:
            return False
        self._read()
        return len(self.unread) == self.reached - self.border and self.at == after

    def pass_chunk(self) -> None:
        """Move the border to the end of the next chunk."""
        assert self.next
        self.old.append(self.next)
        self.border, self.following = self.border + self.next.characters, self.following + 1
        self.next = self._chunk_at(self.following)

    def finished(self) -> tuple[Version, Change]:
        """Read to the end of the text, which is the end of all text, or is followed by appended ids."""
        is_last = self.next is None
        if self.next and not self.next.is_fixed:
            self.pass_chunk()
        self._add_up_to(self._version.characters if is_last else self.border)
        step = self._read(ends=True)
        if is_last:
            return self.replaced((self.unread, step.rest, step.certain))
        if self.unread or len(step.rest):
            self.made.append(Chunk(self.unread, step.rest, 0, CLOSED))
        return self.replaced()

    def replaced(self, rest: tuple[str, Ids, int] | None = None) -> tuple[Version, Change]:
        """Put the new chunks in place of the old ones. `rest`: the text after all chunks, as in `Version`; None if it stays."""
        old, new = ([chunk.ids for chunk in chunks] for chunks in (self.old, self.made))
        if rest:
            old, new = [*old, self._version.rest_ids], [*new, rest[1]]
        change = _change(self.count, joined(old), joined(new))
        before, first, made = self.before, self.first, self.made
        if before and made and _may_merge(before, made[0]):
            first, self.old, made = first - 1, [before, *self.old], [_merged(before, made[0]), *made[1:]]
        return Version(self._chunks.replaced(first, self.old, made), None, *(rest or self._version[2:])), change

    def _old_text(self, begin: int, end: int) -> str:
        """The old characters from `begin` to `end - 1`."""
        known = self._chunks.characters
        return self._chunks.text(begin, min(end, known)) + self._version.rest[max(begin - known, 0) : max(end - known, 0)]

    def _chunk_at(self, index: int) -> Chunk | None:
        return self._chunks[index] if index < self._chunks.chunks else None

    def _state_at_border(self) -> tuple[Checkpoint, int]:
        """The checkpoint after the old chunk before the border, and the number of characters ahead on which it depends."""
        last = self.old[-1] if self.old else self.before
        return (last.after, last.ahead) if last else (START, 0)

    def _add_up_to(self, place: int) -> None:
        """Add the old text up to a position to the unread text."""
        next_, ahead = self.next, place - self.reached
        if next_ and self.reached == self.border and ahead <= next_.characters:  # nearly always
            self.unread += next_.text[:ahead]
        else:
            self.unread += self._old_text(self.reached, place)
        self.reached = max(self.reached, place)

    def _read(self, *, ends: bool = False) -> Step:
        """Read the unread text, after which the text may end; append chunks, and return the last step."""
        made, step, self.unread = _read(self.at, max(self.ahead, BLOCK), self.unread, self._reader, ends=ends)
        self.at, self.made, self.ahead = made[-1].after if made else self.at, self.made + made, len(self.unread)
        self.least = 0 if made or len(self.unread) < 4 * BLOCK else 2 * len(self.unread)
        return step


def _fixed(begin: int, end: int) -> ValueError:
    return ValueError(f"the range is {begin} to {end}; expected text that is not from append_ids; edit the text before or after it")


def _read(at: Checkpoint, first: int, text: str, reader: Reader, *, ends: bool) -> tuple[list[Chunk], Step, str]:
    """Read a text that continues or ends.

    Args:
        at: the checkpoint before the text.
        first: the number of characters to read first, at least those on which the chunk before the text depends.
        text, reader: the text, and its reader.
        ends: whether the text ends.

    Returns:
        New chunks; the last step, with the ids after the chunks if the text ends; and the text after the chunks.
    """
    made: list[Chunk] = []
    read, end = 0, first
    while True:
        is_last = end >= len(text)
        step = reader.read(at, piece := text[read:end], ends=ends and is_last)
        if len(step.ids) or (step.read and not step.after.kept):
            made.append(Chunk(piece[: step.read], step.ids, len(piece) - step.read, step.after))
            at, read = step.after, read + step.read
            following = max(end, read + BLOCK)
        else:
            following = read + 2 * (end - read)  # the time for a long text without a certain id stays linear
        if is_last:
            return made, step, text[read:]
        end = following


def _may_merge(chunk: Chunk, next_: Chunk) -> bool:
    """Whether two adjacent chunks are small, and parts of the same text."""
    return chunk.characters + next_.characters <= BLOCK and not chunk.ends_text and not next_.ends_text


def _merged(chunk: Chunk, next_: Chunk) -> Chunk:
    """Two adjacent chunks as one."""
    return Chunk(chunk.text + next_.text, joined([chunk.ids, next_.ids]), next_.ahead, next_.after)


def _first(chunks: Chunks, place: int) -> tuple[int, int, int, Chunk | None]:
    """Find the first chunk that an edit at a position changes; return its index, the numbers of characters and of ids before it, and the
    chunk before it.
    """
    index, start, count = chunks.find(place)
    while index:
        last = chunks[index - 1]
        if last.is_fixed or (last.after is not CLOSED and start + last.ahead <= place):
            return index, start, count, last
        index, start, count = index - 1, start - last.characters, count - last.count
    return 0, 0, 0, None


def _change(count: int, old: Ids, new: Ids) -> Change:
    """The smallest change that replaces old ids, of which the first has the index `count`, by new ids."""
    same = _common(old, new)
    end = _common(old[same:][::-1], new[same:][::-1])
    return Change(count + same, len(old) - same - end, new[same : len(new) - end])


def _common(first: Ids, second: Ids) -> int:
    """The number of equal ids at the beginning of two rows."""
    size = min(len(first), len(second))
    if size < FEW:
        same = 0
        while same < size and first[same] == second[same]:
            same += 1
        return same
    differs = first[:size] != second[:size]
    at = int(differs.argmax())
    return at if differs[at] else size


def joined(parts: Sequence[Ids]) -> Ids:
    """Concatenate ids."""
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else NOTHING
