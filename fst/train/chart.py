"""Bar charts as SVG, in one or more panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

COLUMNS = 3
OURS, OTHERS = "#0b6e99", "#9aa5b1"
TEXT, FAINT = "#1f2933", "#7b8794"
# Sizes in the SVG, in pixels.
MARGIN, LINE, TITLE = 16, 20, 28
LETTER = 6.5  # approximate width of a letter at size 11
BARS, FIGURES = 150, 60  # length of a panel's longest bar, and width of the number next to a bar


class Bar(NamedTuple):
    """A bar."""

    value: float  # the number that determines the length of the bar
    caption: str  # the text at the end of the bar
    shade: str  # the colour of the bar


class Panel(NamedTuple):
    """A panel: its title, and its bars by name. A panel may have no bar for a name."""

    title: str
    bars: Mapping[str, Bar]


def svg(panels: Sequence[Panel], names: Sequence[str], title: str, caption: str) -> str:
    """Draw panels as an SVG; each panel has its own scale.

    Args:
        panels: the panels, drawn in rows of at most `COLUMNS`.
        names: the names of the bars, the first at the top.
        title: the text above the panels.
        caption: the text below the panels.

    Examples:
        >>> drawn = svg([Panel("speed", {"a & b": Bar(2.0, "2.0", OURS)})], ["a & b"], "Title", "")
        >>> drawn.startswith("<svg "), "a &amp; b" in drawn
        (True, True)
    """
    label = LETTER * max(map(len, names), default=0) + 8
    columns = max(1, min(COLUMNS, len(panels)))
    width = 2 * MARGIN + columns * (label + BARS + FIGURES)
    height = TITLE + LINE * (len(names) + 1)
    lines = -(-len(panels) // columns)
    parts = [_text(MARGIN, MARGIN + 8, title, size=15, weight="bold")]
    for number, panel in enumerate(panels):
        left = MARGIN + number % columns * (label + BARS + FIGURES)
        parts += _panel(panel, names, left, label, TITLE + MARGIN + number // columns * height)
    bottom = TITLE + MARGIN + lines * height + MARGIN
    parts.append(_text(MARGIN, bottom - 8, caption, shade=FAINT))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{bottom}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width:g}" height="{bottom}" fill="white"/>', *parts, "</svg>", ""])


def _panel(panel: Panel, names: Sequence[str], left: float, label: float, top: float) -> Iterator[str]:
    longest = max((bar.value for bar in panel.bars.values()), default=0) or 1
    yield _text(left + label, top, panel.title)
    for place, name in enumerate(names):
        if name in panel.bars:
            value, caption, shade = panel.bars[name]
            y, length = top + LINE * (place + 1), BARS * value / longest
            yield _text(left + label - 6, y, name, anchor="end")
            yield f'<rect x="{left + label:g}" y="{y - 12:g}" width="{length:.1f}" height="15" fill="{shade}"/>'
            yield _text(left + label + length + 4, y, caption)


def _text(x: float, y: float, content: str, *, size: int = 11, shade: str = TEXT, anchor: str = "start", weight: str = "normal") -> str:
    style = f'font-size="{size}" font-weight="{weight}" fill="{shade}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:g}" {style}>{escape(content)}</text>'
