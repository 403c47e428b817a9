"""The covers of a text by their definition: continuations of the text are encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Cover = tuple[tuple[int, ...], int, bytes]  # the ids before the last one, the last one, and its bytes after the end of the text


def cover(text: bytes, ids: Sequence[int], written: Callable[[Sequence[int]], bytes]) -> Cover | None:
    """The first ids of a longer text that cover a text; None if its ids are not decoded to the text. `written` decodes ids."""
    for number in range(1, len(ids) + 1):
        begun = written(ids[:number])
        if begun.startswith(text):
            return tuple(ids[: number - 1]), ids[number - 1], begun[len(text) :]
    return None


def covers(text: bytes, longer: Iterable[Sequence[int]], written: Callable[[Sequence[int]], bytes]) -> set[Cover]:
    """The covers that are the first ids of some longer texts."""
    return {found for ids in longer if (found := cover(text, ids, written))}
