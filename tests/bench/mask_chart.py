"""Draw the times of token masks of several engines with matplotlib, as the shares of schemas and of masks that are ready after a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from fst.train.chart import FAINT, OURS, TEXT

SHADES = (OURS, "#c2703d", "#6b8e23", "#7d5ba6")


def draw(file: IO[bytes], title: str, firsts: Mapping[str, Sequence[float]], masks: Mapping[str, Sequence[float]], schemas: int) -> None:
    """Write a picture.

    Args:
        file: the file of the PNG.
        title: the text above the panels.
        firsts: for each engine, the seconds of the first mask of each schema that it takes.
        masks: for each engine, the seconds of each further mask.
        schemas: the number of all schemas.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    _shares(left, firsts, 1e3, dict.fromkeys(firsts, schemas))
    _shares(right, masks, 1e6, {name: len(each) for name, each in masks.items()})
    left.set(xlabel="first mask with its guide, ms", title="% of all schemas whose first mask is ready")
    right.set(xlabel="a mask with the step before it, µs", title="% of masks that are ready")
    right.legend(frameon=False, loc="lower right", fontsize=9)
    figure.suptitle(title, x=0.01, ha="left", color=TEXT, fontsize=12, fontweight="bold")
    figure.savefig(file, format="png", dpi=150, facecolor="white")
    pyplot.close(figure)


def _shares(axes: Any, seconds: Mapping[str, Sequence[float]], unit: float, counts: Mapping[str, int]) -> None:
    """Draw one curve for each engine: over a time on a logarithmic axis, the share of a count that is ready."""
    for (name, each), shade in zip(seconds.items(), SHADES, strict=False):
        times = np.sort(np.array(each)) * unit
        axes.step(times, 100 * np.arange(1, len(times) + 1) / max(counts[name], 1), where="post", label=name, color=shade, linewidth=1.8)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.25)
    axes.tick_params(colors=FAINT, labelsize=8.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
