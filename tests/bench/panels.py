"""Draw speeds as bars with matplotlib, one panel for each text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from fst.train.chart import COLUMNS, FAINT, OTHERS, OURS, TEXT, Bar, Panel

DIFFERING = "#dfe3e8"
PALE = "Pale, with †: some ids differ from those of the "  # the title continues with the name of the reference


def bar(name: str, value: float, *, is_differing: bool, has_failed: bool = False) -> Bar:
    """The bar of a tokenizer. Bars of `fst` have their own color. If ids differ from the reference, the bar is pale and has a dagger."""
    dagger = " †" if is_differing else ""
    label = "failed" if has_failed else f"{value:.{int(value < 10)}f}{dagger}"
    return Bar(value, label, OURS if name.startswith("fst") else DIFFERING if is_differing else OTHERS)


def draw(file: IO[bytes], panels: Sequence[Panel], names: Sequence[str], title: str, caption: str) -> None:
    """Write a picture.

    Args:
        file: the file of the PNG.
        panels: the panels, one for each text.
        names: the tokenizers, the first at the top of each panel.
        title: the text above the panels.
        caption: the text below the panels.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    size = (11, lines * (0.24 * len(names) + 0.6) + 0.9)
    figure, grid = pyplot.subplots(lines, columns, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _panel(axes, panel, names)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    figure.suptitle(title, x=0.01, ha="left", color=TEXT, fontsize=13, fontweight="bold")
    figure.supxlabel(caption, x=0.01, ha="left", color=FAINT, fontsize=8.5)
    figure.savefig(file, format="png", dpi=150, facecolor="white")
    pyplot.close(figure)


def _panel(axes: Any, panel: Panel, names: Sequence[str]) -> None:
    """Draw the bars of one text, with the value next to each bar."""
    for place, name in enumerate(names):
        if name in panel.bars:
            value, label, shade = panel.bars[name]
            axes.barh(place, value, height=0.78, color=shade)
            axes.annotate(label, (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8, color=TEXT)
    axes.set_title(panel.title, loc="left", fontsize=9.5, color=TEXT)
    axes.set_yticks(range(len(names)), names, fontsize=8.5, color=TEXT)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.16)
    axes.tick_params(left=False, bottom=False, labelbottom=False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(OTHERS)
