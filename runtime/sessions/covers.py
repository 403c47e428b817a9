"""Token healing: the sequences of tokens that cover a text whose end may lie inside a token.

Byte-level BPE: the ids before the last words of a text are certain, so a search begins at the last position where a pre-token begins with
any later text. It finds the sequences without added tokens after this position, see `fst.runtime.machines.guide.covers`. In all other
sequences, the last token is an added token that begins with the end of the text; each added token is tried.

WordPiece and Unigram: the search begins at the beginning of the text, and finds no added tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from fst.errors import UnsupportedError, quoted
from fst.runtime.rows.texts import Ints
from fst.runtime.sessions.edits import Version, joined
from fst.runtime.sessions.reading import Reader
from fst.runtime.workspace import Ids
from fst.tables.header import AddedTokens

# The ids before the last one, the possible last ids, and the number of bytes of the text that a last id covers.
Found = tuple[list[int], Ids, int]
REMEDY = "use the certain ids of fst.Session.certain"


class Ending:
    """The ends of several covers, which are equal except for their last ids.

    Args:
        ids, last: see the attributes.
        sizes: int64[m], for each last token, the number of its bytes before the end of the text.
        content: returns the bytes of a token.

    Attributes:
        ids: int32[n], the ids after the certain ones, without the last one.
        last: int32[m], the ids that may be the last one, in ascending order.
    """

    def __init__(self, ids: Ids, last: Ids, sizes: Ints, content: Callable[[int], bytes]) -> None:
        self.ids, self.last, self._sizes, self._content = ids, last, sizes, content

    def __repr__(self) -> str:
        return f"<fst.Ending {self.ids.tolist()} and {len(self.last)} last ids>"

    @property
    def remaining(self) -> list[bytes]:
        """For each last id, the bytes of its token after the end of the text; made at the call."""
        return [self._content(number)[size:] for number, size in zip(self.last.tolist(), self._sizes.tolist(), strict=True)]


class Covers(NamedTuple):
    """The sequences of ids that cover a text, see `fst.Tokenizer.covers`.

    Attributes:
        certain: int32[n], the ids with which all sequences begin; no sequence consists of them alone.
        endings: the ends of the sequences, the shortest first.
    """

    certain: Ids
    endings: list[Ending]


class Search(Protocol):
    """See `fst.runtime.machines.guide.covers.CoverSearch`."""

    begins_with_space: bool

    def content(self, number: int) -> bytes:
        """The bytes of a token."""

    def covering(self, data: bytes) -> Iterator[tuple[list[int], Ids]]:
        """Yield the ids before the last one, and the possible last ids, of the sequences that cover a text."""


class CoverFinder:
    """A finder of the sequences of ids that cover a text.

    Args:
        search: finds the sequences without added tokens.
        added: the added tokens.
        reader: the reader of texts.
        last_begin: returns the last position in a text where a pre-token begins with any later text.
    """

    def __init__(self, search: Search, added: AddedTokens, reader: Reader, last_begin: Callable[[str], int]) -> None:
        self._search, self._added, self._reader, self._last_begin = search, added.ids, reader, last_begin
        self._added_contents = {number: content.encode() for content, number in added.ids.items()}

    def find(self, version: Version) -> Covers:
        """Find the sequences of ids that cover a text."""
        ids = version.ids
        is_whole = self._search.begins_with_space
        begin = 0 if is_whole else version.before_rest if len(version.rest_ids) else max(version.before_rest - 1, 0)
        found = self._of_whole(version) if is_whole else self._of_end(version, ids[begin:].tolist())
        ends: dict[tuple[int, ...], list[tuple[Ids, int]]] = {}
        for path, last, size in found:
            ends.setdefault(tuple(path), []).append((last, size))
        paths = sorted(ends, key=lambda path: (len(path), path))
        same = _common(paths)
        endings = [self._ending(path[same:], ends[path]) for path in paths]
        return Covers(np.concatenate([ids[:begin], _ids(paths[0][:same])]), endings)

    def _ending(self, ids: Sequence[int], parts: Sequence[tuple[Ids, int]]) -> Ending:
        """The ending with some ids. `parts`: possible last ids, and the number of bytes of the text that each of these covers."""
        last = np.concatenate([last for last, _ in parts])
        sizes = np.repeat([size for _, size in parts], [len(last) for last, _ in parts])
        order = np.argsort(last, kind="stable") if len(parts) > 1 else slice(None)
        return Ending(_ids(ids), last[order], sizes[order], self._content)

    def _of_whole(self, version: Version) -> list[Found]:
        """The sequences that cover a text whose first token is decoded without its space."""
        if any(chunk.is_fixed for chunk in version.all_chunks):
            raise UnsupportedError(f"covers of a text with appended ids, for this kind of vocabulary; {REMEDY}")
        text = version.text
        found = [*self._of_data([], f" {text}".encode())]
        for path, last, size in self._of_data([], text.encode()) if text[:1] != " " else ():
            if not text:  # the tokens that begin with a space are found already
                last = np.setdiff1d(last, joined([spaced for _, spaced, _ in found]))
            found += [(path, last, size)] if len(last) else []
        if not found:
            raise UnsupportedError(f"covers of a text that its ids do not decode to, {quoted(text)}; {REMEDY}")
        return found

    def _of_end(self, version: Version, ids: list[int]) -> Iterator[Found]:
        """The sequences that cover the end of a text. `ids`: the ids after the chunks of the text; if there are none, its last id."""
        added = max((place for place, number in enumerate(ids, 1) if number in self._added_contents), default=0)
        data = b"".join(map(self._search.content, ids[added:])) if len(version.rest_ids) else b""
        first, size, begin = added, 0, self._begin_of_end(data)
        while size < begin:
            size, first = size + len(self._search.content(ids[first])), first + 1
        if begin < len(data) or not ids:
            yield from self._of_data(ids[:first], data[begin:])
        else:
            yield ids[:-1], _ids(ids[-1:]), len(self._content(ids[-1]))
        for found in self._with_added(version, ids):
            if data and found[0][:added] != ids[:added]:
                names = (quoted(self._content(number).decode()) for number in (ids[added - 1], int(found[1][0])))
                raise UnsupportedError(f"covers of a text with the added token {', a part of '.join(names)}; {REMEDY}")
            yield found

    def _of_data(self, before: list[int], data: bytes) -> Iterator[Found]:
        """The sequences without added tokens that cover a text. `before`: the ids before the text."""
        for path, last in self._search.covering(data):
            yield before + path, last, len(data) - sum(len(self._search.content(number)) for number in path)

    def _with_added(self, version: Version, ids: list[int]) -> Iterator[Found]:
        """The sequences whose last token is an added token that begins with the end of the text; `ids` as in `_of_end`."""
        rest, before = version.rest, [] if len(version.rest_ids) else ids
        for content, number in self._added.items():
            for size in range(len(ids) > 0, len(content)):
                if rest.endswith(content[:size]):
                    step = self._reader.read(version.after[0], rest[: len(rest) - size] + content, ends=True)
                    *path, last = before + joined([step.ids, step.rest]).tolist()
                    if last == number:
                        yield path, _ids([last]), len(content[:size].encode())

    def _begin_of_end(self, data: bytes) -> int:
        """The last position, in bytes, where a pre-token begins with any later text. `data`: the bytes of the text."""
        text = data.decode()
        return len(text[: self._last_begin(text)].encode())

    def _content(self, number: int) -> bytes:
        """The bytes of a token, which may be an added token."""
        return self._added_contents.get(number) or self._search.content(number)


def _ids(numbers: Sequence[int]) -> Ids:
    return np.array(numbers, np.int32)


def _common(paths: Sequence[tuple[int, ...]]) -> int:
    """The number of ids with which all paths begin."""
    first, last = min(paths), max(paths)
    return next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), min(len(first), len(last)))
