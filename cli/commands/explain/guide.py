"""Explain token masks: the state after a text, and the tokens that may follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fst.cli.terminal import table, visible

if TYPE_CHECKING:
    from fst.machines.guide.table import GuideTable

MAX_SHOWN = 100


def explained_masks(tables: GuideTable, text: str) -> Iterator[str]:
    """Yield the lines that explain the mask after a text."""
    data = text.encode()
    states = tables.run(text)
    if len(states) < len(data):
        yield f"no text continues {visible(data[: len(states) + 1].decode(errors='backslashreplace'))!r}"
        return
    is_first = not data
    state = tables.start if is_first else states[-1]
    end_id = tables.metadata.settings.end_id
    ids = [number for number in tables.allowed(state).tolist() if number != end_id]
    is_final = bool(tables.finals[states[-1] if data else 0])
    end = "" if end_id is None or not is_final else f", as token {end_id}"
    yield f"state {state}: {len(ids):,} tokens may follow; the text may {f'end{end}' if is_final else 'not end'}"
    shown = ids[:MAX_SHOWN]
    if shown:
        contents = (tables.content(number, is_first=is_first) for number in shown)
        texts = (visible(content.decode(errors="backslashreplace")) for content in contents)
        rows: list[tuple[str, ...]] = [*zip(map(str, shown), texts, strict=True)]
        yield from table(("id", "text"), rows)
    if len(ids) > MAX_SHOWN:
        yield f"  and {len(ids) - MAX_SHOWN:,} more"
