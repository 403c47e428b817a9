"""Explain token masks: the state after a text, and the tokens that may follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fst.cli.terminal import table, visible
from fst.errors import counted

if TYPE_CHECKING:
    from fst.machines.guide.table import GuideTable

MAX_SHOWN = 100


def explained_masks(tables: GuideTable, text: str) -> Iterator[str]:
    """Yield the lines that explain the mask after a text."""
    data = text.encode()
    inside, between = tables.paths(data)
    if not inside:
        size = next(size for size in range(len(data)) if not tables.paths(data[: size + 1])[0])
        yield f"no text continues {visible(data[: size + 1].decode(errors='backslashreplace'))!r}"
    elif not between:
        yield f"no token ends after {visible(text)!r}"
    for state in sorted(between):
        yield from _of_state(tables, tables.start if not data else state, bool(tables.finals[state]), is_first=not data)


def _of_state(tables: GuideTable, state: int, is_final: bool, *, is_first: bool) -> Iterator[str]:
    end_id = tables.metadata.settings.end_id
    ids = [number for number in tables.allowed(state).tolist() if number != end_id]
    end = "" if end_id is None or not is_final else f", as token {end_id}"
    yield f"state {state}: {counted(len(ids), 'token')} may follow; the text may {f'end{end}' if is_final else 'not end'}"
    shown = ids[:MAX_SHOWN]
    if shown:
        contents = (tables.content(number, is_first=is_first) for number in shown)
        texts = (visible(content.decode(errors="backslashreplace")) for content in contents)
        rows: list[tuple[str, ...]] = [*zip(map(str, shown), texts, strict=True)]
        yield from table(("id", "text"), rows)
    if len(ids) > MAX_SHOWN:
        yield f"  and {len(ids) - MAX_SHOWN:,} more"
