"""Compare best paths with OpenFst's on the test cases of text normalizers, and count the ties in which the two choose different paths.

    pip install pynini nemo_text_processing WeTextProcessing
    PYTHONPATH=tests/bench nice python tests/bench/analyses/ties.py [FOLDER] [--only WORDS] [--grammars GRAMMARS] [--limit N] [--seconds N]

FOLDER [../shared/data] contains the cases of NeMo text processing and of WeTextProcessing in ``oracles/words``. Each package builds its own
grammars, in a process with at most 6 GB of memory and N seconds [1800], and stores them in GRAMMARS for the next run. `--only` selects rows
by their names. The package normalizes each text by pynini; `Rewriter` reads the same text as pynini in each step (tagger, verbalizer,
post-processor), so a difference in one step does not change later steps. A case is counted in the last of these columns to which one of its
steps belongs:

equal: `apply` returns the text of OpenFst, or neither has a path
ties: OpenFst's text is one of `ties(text, limit=N)` [2000]
tied: OpenFst's text is not one of them, but has the least weight; there are more ties than the limit
rounded: the weight of OpenFst's text is larger, by a difference that OpenFst's sums in single precision do not show
other: anything else

Cases of the last three kinds are listed after the table. "order" counts the cases of all columns but the first in which `openfst_order.py`
finds OpenFst's text. "unexpected" counts the cases of any column in which OpenFst's text is not the text that the package expects.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path
from subprocess import TimeoutExpired, run
from time import monotonic
from typing import Any, NamedTuple

from normalizers import Grammar, Step, cases, grammars, nemo, wetext
from openfst_order import best as best_of_openfst
from rows import FOLDER

KINDS = ("equal", "ties", "tied", "rounded", "other")
MEMORY = 6 << 30
SINGLE = 2.0**-20  # maximum relative difference by which sums in single precision are wrong
LONGEST = 300  # number of characters of a listed text


class Compared(NamedTuple):
    """The column of a step, whether `openfst_order.py` finds OpenFst's text, and a line that describes the step, or an empty line."""

    kind: str
    in_order: bool
    line: str


EQUAL = Compared("equal", True, "")


class Comparison:
    """A transducer, read by pynini and by this package."""

    def __init__(self, machine: Any, limit: int) -> None:
        import fst
        from fst.compile import best_path
        from fst.compile.algebra.machine import read_openfst

        self._machine, self._limit = machine, limit
        with tempfile.TemporaryDirectory() as folder:
            machine.write(f"{folder}/machine.fst")
            self._rewriter = fst.Rewriter(best_path(f"{folder}/machine.fst", unit="utf-8"))
            self._arcs = read_openfst(f"{folder}/machine.fst", unit="utf-8")

    def compared(self, text: str, found: str | None) -> Compared:
        """Compare the new text of OpenFst with the new texts of this package."""
        from fst.errors import TextError

        try:
            new = self._rewriter.apply(text)
        except TextError:
            new = None
        if new == found:
            return EQUAL
        if new is None or found is None:
            return Compared("other", False, f"{text!r}: OpenFst {found!r}, fst {new!r}")
        in_order = best_of_openfst(self._arcs, text) == found
        if found in self._rewriter.ties(text, limit=self._limit):
            return Compared("ties", in_order, "")
        theirs, ours = self._weight(text, found), self._weight(text, new)
        kind = "tied" if theirs == ours else "rounded" if abs(theirs - ours) <= SINGLE * abs(ours) else "other"
        return Compared(kind, in_order, f"weight {theirs} of OpenFst's text, {ours} of this package's: {text!r}, {found!r}, {new!r}")

    def _weight(self, text: str, new: str) -> float:
        """The least weight of a path with a text and a new text, in double precision."""
        import pynini

        from fst.compile.algebra.machine import read_openfst

        with tempfile.TemporaryDirectory() as folder:
            (pynini.escape(text) @ self._machine @ pynini.escape(new)).write(f"{folder}/lattice.fst")
            lattice = read_openfst(f"{folder}/lattice.fst", unit="utf-8")
        return float(lattice.shortest_distance(reverse=True)[lattice.start])


def measured(grammar: Grammar, folder: Path, stored: Path, limit: int, end: float) -> dict[str, Any]:
    """The counts of a grammar, and lines for the cases that are listed."""
    import pywrapfst

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    normalizer = {"NeMo": nemo, "WeText": wetext}[grammar.package](grammar, stored)
    comparisons = {name: Comparison(machine, limit) for name, machine in normalizer.machines.items()}
    known: dict[Step, Compared] = {}
    counts, lines = Counter[str](), list[str]()
    for text, expected in cases(grammar, folder):
        if monotonic() > end:
            counts["late"] += 1
            continue
        steps: list[Step] = []
        try:
            new = normalizer.normalize(text, steps)
        except pywrapfst.FstOpError:  # the tagger has no path
            new = None
        for step in steps:
            known[step] = known.get(step) or comparisons[step[0]].compared(*step[1:])
        worst = max((known[step] for step in steps), key=lambda found: KINDS.index(found.kind), default=EQUAL)
        in_order = worst != EQUAL and all(known[step].in_order for step in steps)
        counts.update({"cases": 1, worst.kind: 1, "order": in_order, "unexpected": new != expected, "steps": len(steps)})
        lines += [f"{worst.kind}: {worst.line[:LONGEST]}"] if worst.line else []
    return {"counts": counts, "lines": lines}


def main() -> None:
    """Print the table, or measure one grammar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="WORDS", help="measure the rows whose names contain this text")
    parser.add_argument("--grammars", type=Path, default=Path("build") / "grammars", help="folder of built grammars")
    parser.add_argument("--limit", type=int, default=2000, metavar="N", help="number of ties")
    parser.add_argument("--seconds", type=int, default=1800, metavar="N", help="maximum time of a grammar")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    every = [*grammars()]
    if given.one is not None:
        grammar = every[given.one]
        stored = given.grammars / re.sub(r"\W+", "_", grammar.name)
        print(json.dumps(measured(grammar, given.folder, stored, given.limit, monotonic() + given.seconds)))
        return
    columns = ("cases", *KINDS, "order", "unexpected", "steps", "late")
    print(f"{'grammar':80}" + "".join(f"{column:>11}" for column in columns), flush=True)
    listed: list[str] = []
    for number, grammar in enumerate(every):
        if given.only in grammar.name:
            found = asked(number, given.seconds)
            listed += [f"{grammar.name}: {line}" for line in found.get("lines", ())]
            counts = found.get("counts", {})
            figures = "".join(f"{counts.get(column, 0):11}" for column in columns)
            print(f"{grammar.name:80}{found.get('fault', figures)}", flush=True)
    print("\n".join(listed))


def asked(number: int, seconds: int) -> dict[str, Any]:
    """The result of `measured` in a process of its own."""
    try:
        done = run([sys.executable, __file__, *sys.argv[1:], "--one", str(number)], capture_output=True, text=True, timeout=seconds + 60)
    except TimeoutExpired:
        return {"fault": f"  left out: more than {seconds} s"}
    if done.returncode:
        return {"fault": f"  left out: {(done.stderr.strip() or 'killed').splitlines()[-1][:LONGEST]}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
