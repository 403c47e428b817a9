"""Time operations on a morphology against OpenFst, through pynini, in turns.

pynini runs in a process of its own, which reads the machine from an OpenFst file that this package writes. Times are processor time, the
best of several rounds; the states and arcs of both results are printed.

    python tests/bench/algebra.py [FILE]

FILE is AT&T text (default: the Spanish morphology in the shared data).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from turns import in_turns, processor_time

SPANISH = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "oracles" / "morphology" / "spa.att.gz"
OPERATIONS = ("remove_epsilon", "determinize", "minimize", "compose", "optimize", "reverse", "is_equivalent")


def ours(path: str) -> Mapping[str, Callable[[], Any]]:
    """The operations of this package."""
    import fst

    machine = fst.read_openfst(path)
    inverted, acceptor = machine.invert(), machine.project("input")
    plain = acceptor.remove_epsilon()
    determinized = plain.determinize()
    minimized = determinized.minimize()
    return {
        "remove_epsilon": acceptor.remove_epsilon,
        "determinize": plain.determinize,
        "minimize": determinized.minimize,
        "compose": lambda: machine @ inverted,
        "optimize": machine.optimize,
        "reverse": machine.reverse,
        "is_equivalent": lambda: determinized.is_equivalent(minimized),
    }


def theirs(path: str) -> Mapping[str, Callable[[], Any]]:
    """The operations of OpenFst. Operations that change a machine get a copy, for which OpenFst copies the data at the first change."""
    import pynini

    machine = pynini.Fst.read(path)
    inverted = machine.copy().invert().arcsort("ilabel")
    acceptor = pynini.project(machine, "input").arcsort("ilabel")
    plain = acceptor.copy().rmepsilon().arcsort("ilabel")
    determinized = pynini.determinize(plain)
    minimized = determinized.copy().minimize()
    return {
        "remove_epsilon": lambda: acceptor.copy().rmepsilon(),
        "determinize": lambda: pynini.determinize(plain),
        "minimize": lambda: determinized.copy().minimize(),
        "compose": lambda: pynini.compose(machine, inverted),
        "optimize": lambda: machine.copy().optimize(),
        "reverse": lambda: pynini.reverse(machine),
        "is_equivalent": lambda: pynini.equivalent(determinized, minimized),
    }


def size(result: Any) -> list[int]:
    """The numbers of states and arcs of a result, or the truth value of a result that is not a machine."""
    if isinstance(result, bool):
        return [int(result)]
    if hasattr(result, "num_states"):
        return [result.num_states(), sum(map(result.num_arcs, result.states()))]
    return [result.states, result.arcs]


def timed(operation: Callable[[], Any]) -> tuple[float, list[int]]:
    """The processor time of an operation, in seconds, and the size of its result."""
    spent, result = processor_time(operation)
    return spent, size(result)


def answer(path: str) -> None:
    """Run the operations of OpenFst that standard input names, one a line."""
    operations = theirs(path)
    for line in sys.stdin:
        print(json.dumps(timed(operations[line.strip()])), flush=True)


def asked(name: str, given: IO[str], answers: IO[str]) -> tuple[float, list[int]]:
    """The processor time of an operation of the peer, and the size of its result."""
    print(name, file=given, flush=True)
    spent, result = json.loads(answers.readline())
    return spent, result


def compare(source: Path, folder: Path) -> None:
    """Print a line for each operation."""
    import fst

    fst.read_att(source).write_openfst(folder / "machine.fst")
    operations = ours(str(folder / "machine.fst"))
    command = [sys.executable, __file__, "--peer", str(folder / "machine.fst")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        for name in OPERATIONS:
            runs = {"fst": partial(timed, operations[name]), "OpenFst": partial(asked, name, peer.stdin, peer.stdout)}
            (best, result), (time, expected) = map(min, in_turns(runs).values())
            print(f"{name:16} {best:8.3f} s   OpenFst {time:8.3f} s   {time / best:5.1f} ×   {result} {expected}")
        peer.stdin.close()


def main() -> None:
    """Run the comparison, or run as the process of the peer."""
    match sys.argv[1:]:
        case ["--peer", path]:
            answer(path)
        case [*paths]:
            with TemporaryDirectory() as folder:
                compare(Path(paths[0]) if paths else SPANISH, Path(folder))


if __name__ == "__main__":
    main()
