"""Time to build the grammars of NeMo text processing and WeTextProcessing from their sources, with pynini and with `fst.pynini`.

    python tests/bench/grammar_builds.py PYTHON SHARED [WORD…]

PYTHON is an interpreter with pynini; in its environment and in this one, nemo_text_processing and WeTextProcessing can be imported.
SHARED contains ``oracles/words``. Grammars whose name contains all WORDs are built by both in turns, each in a process of its own, and
answer the cases of their tests. A row contains the processor time of each build, and the number of answers that differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from normalizers import Normalizer, cases, grammars, nemo, wetext

STAND_IN = "--stand-in"


def build(name: str, shared: Path) -> dict[str, Any]:
    """Build a grammar, and answer its cases."""
    grammar = next(grammar for grammar in grammars() if grammar.name == name)
    with TemporaryDirectory() as folder:
        begun = time.process_time()
        normalizer = (nemo if grammar.package == "NeMo" else wetext)(grammar, Path(folder))
        seconds = time.process_time() - begun
    return {"seconds": seconds, "answers": [answer(normalizer, text) for text, _ in cases(grammar, shared)]}


def answer(normalizer: Normalizer, text: str) -> str | None:
    """The new text, or the name of an error."""
    try:
        return normalizer.normalize(text, [])
    except Exception as error:
        return type(error).__name__


def run(python: str, *arguments: str) -> dict[str, Any]:
    """Build a grammar in a process of its own."""
    command = [python, __file__, *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return found


def main(python: str, shared: str, *words: str) -> None:
    """Print a row for each grammar."""
    for grammar in grammars():
        if all(word in grammar.name for word in words):
            theirs, ours = run(python, "--build", shared, grammar.name), run(sys.executable, STAND_IN, shared, grammar.name)
            different = sum(one != other for one, other in zip(theirs["answers"], ours["answers"], strict=True))
            times = f"{theirs['seconds']:8.2f} {ours['seconds']:8.2f} {ours['seconds'] / theirs['seconds']:6.2f}"
            print(f"{grammar.name:60}{times}   {different} of {len(ours['answers'])} answers differ", flush=True)


if __name__ == "__main__":
    if sys.argv[1] in (STAND_IN, "--build"):
        if sys.argv[1] == STAND_IN:
            import fst

            fst.pynini.install()
        print(json.dumps(build(sys.argv[3], Path(sys.argv[2]))))
    else:
        main(*sys.argv[1:])
