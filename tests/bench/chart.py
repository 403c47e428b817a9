"""Draw what `peers.py` measured: a panel for each text, a bar for each tokenizer.

    python tests/bench/chart.py wordpiece.json

The picture goes beside the file. Calls of a few texts, and the ways to use `fst`, are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = 3
OURS, OTHERS, DIFFERING = "#0b6e99", "#9aa5b1", "#dfe3e8"
TEXT, FAINT = "#1f2933", "#7b8794"


def draw(source: Path) -> None:
    """Write a picture beside a JSON file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = json.loads(source.read_text(encoding="utf-8"))
    rows = [row for row in found["rows"] if row["unit"] == "MB/s" and row["reference"] in row["peers"]]
    if not rows:
        return
    names = list(rows[0]["peers"])
    lines = -(-len(rows) // COLUMNS)
    size = (11, lines * (0.24 * len(names) + 0.6) + 0.9)
    figure, grid = pyplot.subplots(lines, COLUMNS, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.08)
    for axes, row in zip(grid.flat, rows, strict=False):
        panel(axes, row, names)
    for axes in grid.flat[len(rows) :]:
        axes.axis("off")
    figure.suptitle("Text into ids, MB/s of UTF-8, one thread", x=0.01, ha="left", color=TEXT, fontsize=13, fontweight="bold")
    figure.supxlabel(caption(rows), x=0.01, ha="left", color=FAINT, fontsize=8.5)
    figure.savefig(source.with_suffix(".png"), dpi=150, facecolor="white")
    pyplot.close(figure)


def panel(axes: Any, row: dict[str, Any], names: list[str]) -> None:
    """The bars of one text, the first peer at the top, each with its figure behind it."""
    for place, name in enumerate(names):
        if name not in row["peers"]:
            continue
        peer = row["peers"][name]
        dagger = " †" if peer["differing"] else ""
        shade = OURS if name == "fst" else DIFFERING if dagger else OTHERS
        axes.barh(place, peer["value"], height=0.78, color=shade)
        figure = "failed" if peer["error"] else f"{peer['value']:.{int(peer['value'] < 10)}f}{dagger}"
        axes.annotate(figure, (peer["value"], place), (3, 0), textcoords="offset points", va="center", fontsize=8, color=TEXT)
    axes.set_title(f"{row['name']}, {row['vocabulary'].removeprefix('bert-base-')}", loc="left", fontsize=9.5, color=TEXT)
    axes.set_yticks(range(len(names)), names, fontsize=8.5, color=TEXT)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.16)
    axes.tick_params(left=False, bottom=False, labelbottom=False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(OTHERS)


def caption(rows: list[dict[str, Any]]) -> str:
    """What one has to know to read the figures."""
    rounds = min(len(peer["seconds"]) for row in rows for peer in row["peers"].values() if not peer["error"])
    told = f"Medians of {rounds} runs, in turns, each tokenizer in a process of its own; list[str] in."
    told += " Replay: the same text again, words cached."
    if any(peer["differing"] for row in rows for peer in row["peers"].values()):
        told += "\nPale, with †: some ids differ from those of the reference."
    return told


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
