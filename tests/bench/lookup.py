"""Measure look-up, and compare with the peers: hfst-optimized-lookup, flookup, lt-proc, and `hfst` from Python.

    apt-get install hfst foma lttoolbox apertium-eng-spa && pip install hfst
    python tests/bench/lookup.py [FOLDER]

FOLDER contains the transducers and the words (default: ``oracles/morphology`` in the shared data). Peers that are missing are skipped.

The first table contains thousands of words per second of processor time, one thread, with all analyses: in the form of arrays of pieces
("fst, arrays"), of UTF-8 ("fst, bytes"), or of a peer's output. The words of the oracle are repeated until a run takes about a second. A
peer runs in a process of its own, which first looks up no words: the time for loading is subtracted. The second table contains running
text, in MB/s: "fst, arrays" makes arrays of tokens and analyses, "fst, streams" the stream that lt-proc writes. The third contains whole
commands, in seconds of processor time for 400,000 words, with the time for loading.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from turns import in_turns, processor_time, processor_time_of_children

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import read_att

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "oracles" / "morphology"
ROUNDS, REPEATED = 3, 160
APERTIUM = Path("/usr/share/apertium/apertium-eng-spa")
BINARIES = {"spa": APERTIUM / "spa-eng.automorf.bin", "eng": APERTIUM / "eng-spa.automorf.bin"}
SECTIONS = {
    "spa": ("inconditional", "standard", "standard"),
    "eng": ("preblank", "inconditional", "standard", "standard"),
    "hin": ("inconditional", "standard"),
}
HFST = """
import sys, time, hfst
transducer = hfst.HfstInputStream(sys.argv[1]).read()
words = [line.rstrip("\\n") for line in sys.stdin]
begun = time.process_time()
for word in words:
    transducer.lookup(word)
print(time.process_time() - begun)
"""
Run = Callable[[Sequence[str]], float]  # texts → seconds of processor time


def main() -> None:
    """Print the tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    with TemporaryDirectory() as made:
        print_words(folder, Path(made))
        print_texts(folder)
        print_commands(folder, Path(made))


def print_words(folder: Path, made: Path) -> None:
    """Print the table of words."""
    names = ["fst, arrays", "fst, bytes", "fst, lists", "fst, m(word)", "hfst-optimized-lookup", "flookup", "lt-proc", "hfst from Python"]
    print(f"| thousand words/s | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}")
    for language in ("spa", "eng", "hin", "fin"):
        words = texts_of(folder, language, "analyse", "word")
        m = fst.Lookup(lookup(folder / f"{language}.att.gz"))
        runs: dict[str, Run] = {
            "fst, arrays": partial(seconds, partial(m.lookup_batch, threads=1)),
            "fst, bytes": partial(seconds, partial(in_bytes, m)),
            "fst, lists": partial(seconds, partial(in_lists, m)),
            "fst, m(word)": partial(seconds, partial(one_by_one, m)),
            **peers(folder / f"{language}.att.gz", made, language),
        }
        rates = measured(runs, words)
        print(f"| {language} | {' | '.join(f'{rates[name] / 1e3:,.1f}' if name in rates else '–' for name in names)} |", flush=True)


def print_texts(folder: Path) -> None:
    """Print the table of running text."""
    names = ["fst, arrays", "fst, streams", "lt-proc"]
    print(f"\n| running text, MB/s | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}")
    for language, sections in SECTIONS.items():
        texts = texts_of(folder, language, "lt-proc", "text")
        m = fst.Lookup(lookup(folder / f"{language}.att.gz", sections=sections))
        runs: dict[str, Run] = {
            "fst, arrays": partial(seconds, partial(m.analyze_batch, threads=1)),
            "fst, streams": partial(seconds, partial(m.to_apertium, threads=1)),
        }
        if language in BINARIES and BINARIES[language].exists() and which("lt-proc"):
            runs["lt-proc"] = partial(of_process, ["lt-proc", str(BINARIES[language])])
        size = sum(len(text.encode()) + 1 for text in texts) / len(texts)
        rates = measured(runs, texts)
        print(f"| {language} | {' | '.join(f'{rates[name] * size / 1e6:.2f}' if name in rates else '–' for name in names)} |", flush=True)


def texts_of(folder: Path, language: str, operation: str, field: str) -> list[str]:
    """The texts of the oracle, repeated."""
    with gzip.open(folder / f"{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row[field] for row in map(json.loads, lines) if row["op"] == operation] * REPEATED


def measured(runs: dict[str, Run], texts: Sequence[str]) -> dict[str, float]:
    """Texts per second: the best of the rounds, in which all runs take turns."""
    taken = in_turns({name: partial(run, texts) for name, run in runs.items()}, ROUNDS)
    return {name: len(texts) / min(times) for name, times in taken.items()}


def seconds(function: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """The seconds of processor time of a call, after a call with few texts."""
    function(texts[:10])
    return processor_time(partial(function, texts))[0]


def in_bytes(m: fst.Lookup, words: Sequence[str]) -> Any:
    """The analyses of words in UTF-8."""
    return m.lookup_batch(words, threads=1).strings()


def in_lists(m: fst.Lookup, words: Sequence[str]) -> Any:
    """The analyses of words as lists of str."""
    return [*m.lookup_batch(words, threads=1)]


def one_by_one(m: fst.Lookup, words: Sequence[str]) -> Any:
    """The analyses of words, with a call for each word."""
    return [m(word) for word in words]


def print_commands(folder: Path, made: Path) -> None:
    """Print the table of commands."""
    print("\n| 400,000 words, seconds | fst lookup | with --format xerox | hfst-optimized-lookup | flookup |\n| --- |" + " ---: |" * 4)
    for language in ("spa", "eng"):
        words, table = texts_of(folder, language, "analyse", "word")[:400_000], made / f"{language}.npz"
        lookup(folder / f"{language}.att.gz").save(table)
        own = [str(Path(sys.executable).with_name("fst")), "lookup", str(table), "--threads", "1"]
        commands = {"tsv": own, "xerox": [*own, "--format", "xerox"]}
        commands["hfst"] = ["hfst-optimized-lookup", str(made / f"{language}.hfstol")]
        commands["foma"] = ["flookup", "-i", str(made / f"{language}.foma")]
        given = "".join(f"{word}\n" for word in words)
        runs = {name: partial(run_process, command, given) for name, command in commands.items() if which(command[0])}
        taken = in_turns(runs, ROUNDS)
        print(f"| {language} | {' | '.join(f'{min(taken[name]):.2f}' if name in taken else '–' for name in commands)} |", flush=True)


def peers(source: Path, made: Path, language: str) -> dict[str, Run]:
    """The peers that are installed, with the transducer in their formats."""
    att, found = made / f"{language}.att", dict[str, Run]()
    read_att(source).write_att(att)
    if which("hfst-txt2fst"):
        optimized = made / f"{language}.hfstol"
        command = ["hfst-txt2fst", "-f", "optimized-lookup-unweighted", "-e", "@0@", str(att), "-o", str(optimized)]
        subprocess.run(command, check=True, capture_output=True)
        found["hfst-optimized-lookup"] = partial(of_process, ["hfst-optimized-lookup", str(optimized)])
        if subprocess.run([sys.executable, "-c", "import hfst"], check=False, capture_output=True).returncode == 0:
            found["hfst from Python"] = partial(of_python, optimized)
    if which("foma") and language != "fin":  # the reference for Finnish is HFST alone
        stack = made / f"{language}.foma"
        script = f"read att {att}\nsave stack {stack}\nquit\n"
        subprocess.run(["foma", "-q"], input=script.encode(), check=True, capture_output=True)
        found["flookup"] = partial(of_process, ["flookup", "-i", str(stack)])
    if which("lt-proc") and language in BINARIES and BINARIES[language].exists():
        found["lt-proc"] = partial(of_process, ["lt-proc", str(BINARIES[language])])
    return found


def of_process(command: Sequence[str], texts: Sequence[str]) -> float:
    """The seconds of processor time of a command for lines of text, minus the time for a text without lines."""
    return run_process(command, "".join(f"{text}\n" for text in texts)) - run_process(command, "")


def run_process(command: Sequence[str], given: str) -> float:
    """The seconds of processor time of a command."""
    run = partial(subprocess.run, command, input=given.encode(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return processor_time_of_children(run)[0]


def of_python(optimized: Path, texts: Sequence[str]) -> float:
    """The seconds of processor time of `hfst` from Python, in a process of its own, for a tenth of the texts."""
    some = texts[: len(texts) // 10]
    given = "".join(f"{text}\n" for text in some)
    done = subprocess.run([sys.executable, "-c", HFST, str(optimized)], input=given, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1]) * len(texts) / len(some)


if __name__ == "__main__":
    main()
