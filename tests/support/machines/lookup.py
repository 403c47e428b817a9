"""Small random transducers for look-up."""

from __future__ import annotations

from hypothesis import strategies as some

from fst.compile.algebra.machine import Fst

LABELS = ("a", "b", "<n>", "", "", "@P.A.X@", "@N.A.X@", "@R.A.X@", "@R.A@", "@D.A.X@", "@D.A@", "@C.A@", "@U.A.X@", "@U.A.Y@", "@P.B.X@")


@some.composite
def machines(draw: some.DrawFn, labels: tuple[str, ...] = LABELS, *, weights: tuple[float, ...] = (0, 0, 1, -0.5)) -> Fst:
    """A small transducer; arcs that read nothing, or write nothing, lead to later states."""
    states = draw(some.integers(1, 5))
    state = some.integers(0, states - 1)
    arcs = []
    for _ in range(draw(some.integers(0, 9))):
        source, target, read = draw(state), draw(state), draw(some.sampled_from(labels))
        written, weight = draw(some.sampled_from(("", "x", "y", "xy", "<n>"))), draw(some.sampled_from(weights))
        if (read and not read.startswith("@") and written) or source < target:
            arcs.append((source, target, read, written, weight))
    final = some.sampled_from((0.0, 0.25) if any(weights) else (0.0,))
    return Fst.from_arcs([*arcs, (0, states - 1, "a", "b", 0.0)], final={draw(state): draw(final)})
