"""Measure `fst` and other tokenizers, and write a table, a JSON file and a chart.

    pip install -e ".[bench]"
    python tests/bench/peers.py wordpiece|bpe|sentencepiece [FOLDER] [-o DIR] [--rounds N] [--rows WORD]

FOLDER contains the vocabularies in `rows.py`, and ``corpora/`` (default: ``../shared/data`` next to this repository). The table, in
Markdown, goes to standard output; a JSON file, such as ``wordpiece.json``, and its picture go to DIR. Peers that are not installed are
skipped. TF Text is measured if it is installed; the extra does not include it, because TensorFlow has two gigabytes.

Each peer, a tokenizer of some library, runs in a separate process with one thread. For each row, every peer first encodes all texts, and
the ids are compared with those of the reference. Then the peers take turns, and a figure is the median of the rounds. The kernels of
"fst, AVX2" use no features of newer processors (``levels.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chart import draw
from rows import FOLDER, ROWS, Row
from worker import DIGEST, PEERS

from fst.cli.process import Process, WorkerError

ROUNDS = 5


def ask(process: Process, *question: Any) -> dict[str, Any]:
    """Call a method in a peer's process, and return the result; if the process fails, the result contains an "error"."""
    try:
        answer: dict[str, Any] = process.ask(*question)
    except WorkerError as error:
        return {"error": str(error)}
    return answer


@dataclass(frozen=True)
class Figure:
    """The speed of a peer on a row.

    Attributes:
        seconds: the seconds of one pass over all texts, for each round.
        value: the median of the rounds, in the unit of the row.
        differing: the number of texts whose ids differ from the reference.
        error: the reason for a missing figure.
    """

    seconds: list[float]
    value: float = 0
    differing: int = 0
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return "failed"
        return f"{self.value:.{int(self.value < 10)}f}" + (f" †{self.differing:,}" if self.differing else "")


@dataclass(frozen=True)
class Measured:
    """The result of a row: the row, the size of its texts, and the figure of each peer."""

    row: Row
    texts: int
    bytes: int
    figures: dict[str, Figure]


def main() -> None:
    """Read the command line, measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=ROWS)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="where the JSON file and the chart go")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"runs of each peer on each row, {ROUNDS} or more")
    parser.add_argument("--rows", default="", metavar="WORD", help="only rows with this word in their name")
    arguments = parser.parse_args()
    rows = [row for row in ROWS[arguments.model] if arguments.rows in row.name]
    if arguments.rounds < ROUNDS or not rows:
        parser.error(f"--rounds: {ROUNDS} or more" if rows else f"--rows: none has {arguments.rows!r} in its name")
    folder = arguments.folder.resolve()
    processes = {name: Process(name, "worker:Worker", name, folder, settings=PEERS[name].settings) for name in installed(rows)}
    measured = [measure(row, (arguments.model, ROWS[arguments.model].index(row)), processes, arguments.rounds) for row in rows]
    print("\n".join(tables(measured)))
    arguments.output.mkdir(parents=True, exist_ok=True)
    result = arguments.output / f"{arguments.model}.json"
    result.write_text(as_json(measured, list(processes)), encoding="utf-8")
    if find_spec("matplotlib"):
        draw(result)
    else:
        say("matplotlib: not installed, no chart")


def installed(rows: list[Row]) -> list[str]:
    """The installed peers of some rows; the program ends if the reference is not installed."""
    wanted = [name for name in PEERS if any(name in row.peers for row in rows)]
    found = [name for name in wanted if find_spec(PEERS[name].module)]
    for name in wanted:
        if name not in found:
            say(f"{name}: not installed, skipped")
    for name in {row.reference for row in rows}.difference(found):
        sys.exit(f"{name} is not installed, and its ids are what all others are compared with: pip install {name}")
    return found


def measure(row: Row, place: tuple[str, int], processes: dict[str, Process], rounds: int) -> Measured:
    """Compare the ids of all peers, then time the peers in turns."""
    say(f"{row.name}: comparing ids")
    reference = ask(processes[row.reference], "load", *place)
    if "error" in reference:
        sys.exit(f"{row.name}: {row.reference} has no ids to compare with: {reference['error']}")
    peers = {name: processes[name] for name in row.peers if name in processes}
    loaded = {name: reference if name == row.reference else ask(process, "load", *place) for name, process in peers.items()}
    timed: dict[str, list[dict[str, Any]]] = {name: [] for name in peers if "error" not in loaded[name]}
    for turn in range(rounds):
        say(f"{row.name}: round {turn + 1} of {rounds}")
        for name, answers in timed.items():
            answers.append(ask(peers[name], "time"))
    figures = {name: figure(row, reference, loaded[name], timed.get(name, [])) for name in peers}
    for name, found in figures.items():
        if found.error:
            say(f"{row.name}: {name} failed: {found.error}")
    return Measured(row, reference["texts"], reference["bytes"], figures)


def figure(row: Row, reference: dict[str, Any], loaded: dict[str, Any], timed: list[dict[str, Any]]) -> Figure:
    """The figure of a peer, from the digests and the times that its process has returned."""
    errors = [answer["error"] for answer in (loaded, *timed) if "error" in answer]
    if errors:
        return Figure([], error=errors[0])
    seconds = [answer["seconds"] for answer in timed]
    median = statistics.median(seconds)
    value = median / loaded["calls"] * 1e6 if row.call else reference["bytes"] / median / 1e6
    return Figure(seconds, value, differences(loaded["digests"], reference["digests"]))


def differences(left: str, right: str) -> int:
    """The number of texts whose digests differ, or are missing on one side."""
    return sum(a != b for a, b in zip_longest(*map(texts_of, (left, right))))


def texts_of(digests: str) -> Iterator[str]:
    """The digest of each text."""
    return (digests[start : start + 2 * DIGEST] for start in range(0, len(digests), 2 * DIGEST))


def tables(measured: list[Measured]) -> Iterator[str]:
    """Yield the lines of a table for each group of peers, with a note if ids differ."""
    for unit, names in dict.fromkeys((one.row.unit, tuple(one.figures)) for one in measured):
        yield f"| {unit} | vocabulary | {' | '.join(names)} |"
        yield "| --- | --- |" + " ---: |" * len(names)
        for one in measured:
            if (one.row.unit, tuple(one.figures)) == (unit, names):
                yield f"| {one.row.name} | {Path(one.row.vocabulary).name} | {' | '.join(map(str, one.figures.values()))} |"
        yield ""
    if any(figure.differing for one in measured for figure in one.figures.values()):
        yield "† so many texts have other ids than those of the reference"


def as_json(measured: list[Measured], names: list[str]) -> str:
    """All figures, with the versions and the machine."""
    machine = {"date": f"{date.today()}", "processor": processor(), "cores": os.cpu_count(), "python": platform.python_version()}
    versions = {name: version(packages_distributions()[PEERS[name].module][0]) for name in names}
    rows = [
        {
            "name": one.row.name,
            "vocabulary": Path(one.row.vocabulary).name,
            "reference": one.row.reference,
            "unit": one.row.unit,
            "texts": one.texts,
            "bytes": one.bytes,
            "peers": {name: asdict(figure) for name, figure in one.figures.items()},
        }
        for one in measured
    ]
    return json.dumps({"on": machine, "versions": versions, "rows": rows}, ensure_ascii=False, indent=1) + "\n"


def processor() -> str:
    """The name of the processor for LLVM, such as znver5."""
    from llvmlite import binding

    name: str = binding.get_host_cpu_name()
    return name


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
