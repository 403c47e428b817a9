"""Draw the figures of `peers.py`, with a panel for each text and a bar for each tokenizer.

    python tests/bench/chart.py wordpiece.json

The picture is written next to the JSON file. It omits calls with a few texts, and rows that compare only variants of `fst`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import panels

from fst.train.chart import Panel


def draw(source: Path) -> None:
    """Write a picture next to a JSON file."""
    found = json.loads(source.read_text(encoding="utf-8"))
    rows = [row for row in found["rows"] if row["unit"] == "MB/s" and row["reference"] in row["peers"]]
    if rows:
        with source.with_suffix(".png").open("wb") as file:
            title = f"Text into ids, MB/s of UTF-8, one thread of {found['on']['processor']}, {found['on']['date']}"
            panels.draw(file, [*map(panel, rows)], [*rows[0]["peers"]], title, caption(rows))


def panel(row: dict[str, Any]) -> Panel:
    """The panel of one text, with a bar for each tokenizer."""
    bars = {
        name: panels.bar(name, peer["value"], is_differing=bool(peer["differing"]), has_failed=bool(peer["error"]))
        for name, peer in row["peers"].items()
    }
    return Panel(f"{row['name']}, {row['vocabulary'].removeprefix('bert-base-')}", bars)


def caption(rows: list[dict[str, Any]]) -> str:
    """The caption of the picture: how the figures were measured, and what pale bars mean."""
    rounds = min(len(peer["seconds"]) for row in rows for peer in row["peers"].values() if not peer["error"])
    title = f"Medians of {rounds} runs, in turns, each tokenizer in a process of its own; list[str] in."
    title += " Replay: the same text again, words cached."
    title += " AVX2: kernels without instructions of newer processors."
    if any(peer["differing"] for row in rows for peer in row["peers"].values()):
        title += f"\n{panels.PALE}reference."
    return title


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
