"""Compile lexicons of Giella, and compose them with rules, against hfst-lexc and hfst-compose, in turns.

Each step runs in a process of its own, which reads its files and writes a result. The whole time of the process counts, as processor time,
except that of our composition: there, reading and writing files is left out, because it takes Python longer than the composition. The least
of three rounds is printed, with the largest memory. The rule is the same for all languages.

    python tests/bench/morphology.py [LANGUAGE…]

LANGUAGE is the code of a language in the shared data (default: all six).
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "oracles" / "words"
RULE = "[a -> e, t -> d || [i|e] ? _ , _ %> [i|e]] .o. [0 -> e || [t|d] _ %> s] .o. [[n|m] -> 0 || _ %> [n|m]] .o. [%> -> 0]"
LEXC = "import fst; fst.read_lexc('a.lexc').invert().write_openfst('ours.fst')"
COMPOSE = """
import fst, time
lexicon, rule = fst.read_openfst("ours.fst"), fst.read_att("rule.att")
rule @ rule
begun = time.process_time()
lexicon @ rule
print(time.process_time() - begun)
"""
ROUNDS = 3


def cost(folder: str, *command: str) -> tuple[float, float]:
    """The processor time of a command in seconds, or the time that it prints; and its memory in MB."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise SystemExit(f"{command[0]} failed with {status}")
    return float(printed) if command[-1] == COMPOSE else usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(languages: list[str]) -> None:
    """Print times and memory of both programs, and their ratios."""
    print(f"{'':16}{'ours':>18}{'HFST':>18}{'time':>8}")
    for path in sorted(SOURCES.glob("giella_*.lexc.gz")):
        name = path.name.removeprefix("giella_").removesuffix(".lexc.gz")
        if languages and name not in languages:
            continue
        with TemporaryDirectory() as folder:
            Path(folder, "a.lexc").write_bytes(gzip.decompress(path.read_bytes()))
            Path(folder, "rule.txt").write_text(f"{RULE};\n")
            cost(folder, "hfst-regexp2fst", "-S", "-i", "rule.txt", "-o", "rule.hfst")
            cost(folder, "hfst-fst2txt", "rule.hfst", "-o", "rule.att")
            steps = {
                "lexc": ((sys.executable, "-W", "ignore", "-c", LEXC), ("hfst-lexc", "a.lexc", "-o", "a.hfst")),
                "compose": (
                    (sys.executable, "-W", "ignore", "-c", COMPOSE),
                    ("hfst-compose", "-F", "-1", "a.hfst", "-2", "rule.hfst", "-o", "out.hfst"),
                ),
            }
            for step, commands in steps.items():
                rounds = [[cost(folder, *command) for command in commands] for _ in range(ROUNDS)]
                ours, theirs = ((min(time for time, _ in one), max(memory for _, memory in one)) for one in zip(*rounds, strict=True))
                cells = "".join(f"{f'{time:.2f} s {memory:.0f} MB':>18}" for time, memory in (ours, theirs))
                print(f"{f'{name}, {step}':16}{cells}{ours[0] / theirs[0]:>8.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
