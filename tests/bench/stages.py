"""Print the time per byte of each stage of a kernel, for a machine, a text and a level of the processor.

    python tests/bench/stages.py [FOLDER] [--levels LEVEL…] [--rows WORD]

FOLDER is as in ``peers.py``. ``levels.py`` defines the levels; each level runs in a process of its
own, which compiles the kernels for this level. A driver runs the same rounds as a machine's kernel, but ends each round after a stage. The
time of a stage is the difference between two such runs, each the best of several turns, in nanoseconds of processor time per byte.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from levels import LEVELS
from rows import BOOKS, CHINESE, CL100K, CODE, FOLDER, GPT2, O200K, SENTENCES, T5, UNCASED, XLM_R, documents

from fst.core.jit import Deferred, kernel
from fst.machines.unigram.arguments import RESTART
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.machines.bpe.kernels import encode as bpe
from fst.runtime.machines.unigram.kernels import encode as unigram
from fst.runtime.machines.unigram.kernels import viterbi
from fst.runtime.machines.wordpiece.kernels import encode as wordpiece
from fst.runtime.machines.wordpiece.kernels import words
from fst.runtime.pretokens.kernels.find import find_pretokens
from fst.runtime.pretokens.kernels.look_up import find_short, find_words
from fst.runtime.pretokens.kernels.rows import begin_call
from fst.runtime.text.kernels.reading import begin_reading, read
from fst.tables.kernel_call import SLACK, IdsOutput

ROUNDS, SIZE, READABLE = 9, 2_000_000, 64  # turns; bytes of a text; bytes after a text that kernels may read


class Machine(NamedTuple):
    """A machine whose stages are measured.

    Attributes:
        driver: the name of the driver, a kernel of this file.
        stages: the names of the driver's stages, in order.
        prefix: the character that normalizers add before a text.
    """

    driver: str
    stages: Sequence[str]
    prefix: str = ""


SHORT, WORDS, PENDING = range(1, 4)  # stages of BPE and Unigram; stage 0 finds pre-tokens
BPE = Machine("bpe_rounds", ("pre-tokens", "short words", "look-ups", "transduce", "emit"))
UNIGRAM = Machine("unigram_rounds", ("pre-tokens", "short words", "look-ups", "nodes", "emit"), " ")
ENDS, WORD_SLOTS, LOOK_UPS, TRANSDUCE = range(1, 5)  # stages of WordPiece; stage 0 reads symbols
WORDPIECE = Machine("wordpiece_rounds", ("read", "ends of words", "slots", "look-ups", "transduce", "emit"))


class Row(NamedTuple):
    """A vocabulary, its machine, and a text; `source` and `corpus` are files below FOLDER and its folder ``corpora``."""

    name: str
    machine: Machine
    source: str
    corpus: str


ROWS = (
    Row("gpt2, English", BPE, f"{GPT2}/tokenizer.json", BOOKS),
    Row("gpt2, code", BPE, f"{GPT2}/tokenizer.json", CODE),
    Row("cl100k, English", BPE, f"{CL100K}/cl100k_base.tiktoken", BOOKS),
    Row("cl100k, code", BPE, f"{CL100K}/cl100k_base.tiktoken", CODE),
    Row("o200k, 109 languages", BPE, f"{O200K}/o200k_base.tiktoken", SENTENCES),
    Row("t5, English", UNIGRAM, f"{T5}/tokenizer.json", BOOKS),
    Row("t5, 109 languages", UNIGRAM, f"{T5}/tokenizer.json", SENTENCES),
    Row("xlm-r, English", UNIGRAM, f"{XLM_R}/tokenizer.json.gz", BOOKS),
    Row("xlm-r, 109 languages", UNIGRAM, f"{XLM_R}/tokenizer.json.gz", SENTENCES),
    Row("xlm-r, Chinese", UNIGRAM, f"{XLM_R}/tokenizer.json.gz", CHINESE),
    Row("bert-base-uncased, English", WORDPIECE, f"{UNCASED}/tokenizer.json", BOOKS),
)


@kernel
def bpe_rounds(text: Any, starts: Any, more: Any, table: Any, output: Any, work: Any, last: Any) -> Any:
    """Run the rounds of `fst.runtime.machines.bpe.kernels.encode.encode_rows`, each up to the stage `last`."""
    pretokens, pending, shared, written, waiting = work.pretokens, work.pending, table.shared, U0, U0
    begin_call(starts, more, output, work.state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, work)
        if last == SHORT:
            find_short(text, pretokens, count, shared, work.scratch, pending)
        if last >= WORDS:
            written, waiting = find_words(text, count, shared, work)
        if last >= PENDING:
            bpe.transduce(text, pretokens, pending, waiting, table, work.active, work.tokens, work.slots)
        if last > PENDING:
            ended = bpe.emit(text, pretokens, work.scratch, written, pending, waiting, ended, table, output, work)
    return at


@kernel
def unigram_rounds(text: Any, starts: Any, more: Any, table: Any, output: Any, work: Any, last: Any) -> Any:
    """Run the rounds of `fst.runtime.machines.unigram.kernels.encode.encode`, each up to the stage `last`."""
    own, shared, written, waiting = work.shared, table.shared, U0, U0
    pretokens, pending = own.pretokens, own.pending
    begin_call(starts, more, output, own.state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, own)
        if last == SHORT:
            find_short(text, pretokens, count, shared, own.scratch, own.pending)
        if last >= WORDS:
            written, waiting = find_words(text, count, shared, own)
        if last >= PENDING:
            viterbi.find_nodes(text, pretokens, pending, waiting, table.ends, table.rules[RESTART] != unigram.AT_STRETCH, work)
        if last > PENDING:
            ended = unigram.emit(text, pretokens, own.scratch, written, pending, waiting, ended, table, output, work)
    return at


@kernel
def wordpiece_rounds(text: Any, starts: Any, more: Any, table: Any, output: Any, work: Any, last: Any) -> Any:
    """Run the rounds of `fst.runtime.machines.wordpiece.kernels.encode.encode_rows`, each up to the stage `last`, without fences."""
    symbols, begins, stops, scratch, state, scalars = work.symbols, work.begins, work.stops, work.scratch, work.state, table.scalars
    begin_reading(starts, work)
    found, written, count, is_more = U0, U0, U0, True
    while is_more:
        filled, is_more = read(text, starts, more, scalars.end_class, False, table.reader, work)
        kept = U0
        if last >= ENDS:
            found = words.find_words(symbols, filled, scalars, work.masks, begins, stops, U1)
            kept = filled - np.uint64(begins[found])
        if last >= WORD_SLOTS:
            words.find_slots(symbols, begins, stops, found, table, work.slots)
        if last >= LOOK_UPS:
            written, count = words.look_up(symbols, begins, stops, work.slots, found, table, scratch, work.pending)
        if last >= TRANSDUCE:
            wordpiece.transduce(symbols, table, scratch, work.pending, count, work.active, work.results, work.slots)
        if last > TRANSDUCE:
            wordpiece.emit(symbols, scratch, written, work.pending, count, work.results, scalars, output, state)
        for index in range(kept):
            symbols[index] = symbols[filled - kept + np.uint64(index)]
        state.kept = kept
    return state.count


def main() -> None:
    """Print a table for each level."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    known = ", ".join(LEVELS)
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=[*LEVELS], metavar="LEVEL", help=f"of {known} [all three]")
    parser.add_argument("--rows", default="", metavar="WORD", help="only rows with this word in their name")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = [row for row in ROWS if arguments.rows in row.name]
    if arguments.here:
        for row in rows:
            print(json.dumps(measured(row, arguments.folder)), flush=True)
        return
    for level in arguments.levels:
        print(f"\n| {level}, ns per byte | stages | all |\n| --- | --- | ---: |")
        for row, times in zip(rows, in_level(level, arguments.folder, arguments.rows), strict=True):
            differences = [after - before for before, after in pairwise([0, *times])]
            stages = ", ".join(f"{stage} {own:.2f}" for stage, own in zip(row.machine.stages, differences, strict=True))
            print(f"| {row.name} | {stages} | {times[-1]:.2f} |", flush=True)


def in_level(level: str, folder: Path, rows: str) -> list[list[float]]:
    """The result of `measured` for each row, in a process with the features of a level."""
    command = [sys.executable, __file__, str(folder), "--rows", rows, "--here"]
    done = subprocess.run(command, env={**os.environ, **LEVELS[level]}, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(row: Row, folder: Path) -> list[float]:
    """The time up to the end of each stage, in nanoseconds per byte."""
    from fst.compile import tokenizer

    table: Any = tokenizer(folder / row.source)
    text, starts = texts(folder / "corpora" / row.corpus, row.machine.prefix, "utf-16-le" if table.unit == "utf-16" else "utf-8")
    driver = Deferred("stages", row.machine.driver)
    return best(lambda last: run(driver, table, text, starts, last), len(row.machine.stages), int(starts[-1]))


def texts(path: Path, prefix: str, encoding: str) -> tuple[Any, Any]:
    """The documents of a file in the code units of an encoding, each with a prefix before it, and the start of each document."""
    rows, size, unit = [], 0, np.uint16 if encoding == "utf-16-le" else np.uint8
    for document in documents(path):
        rows.append(np.frombuffer((prefix + document).encode(encoding), unit))
        size += len(document.encode())
        if size >= SIZE:
            break
    return np.concatenate([*rows, np.zeros(READABLE, unit)]), np.cumsum([0, *map(len, rows)])


def best(timed: Callable[[int], float], stages: int, size: int) -> list[float]:
    """The best time up to the end of each stage, divided by the size of the text. The stages run in turns; `timed(stage)` runs a kernel up
    to the end of a stage.
    """
    found = [float("inf")] * stages
    for _ in range(ROUNDS):
        for stage in range(stages):
            found[stage] = min(found[stage], timed(stage) / size)
    return found


def run(driver: Deferred, table: Any, text: Any, starts: Any, last: int) -> float:
    """Run a driver once, up to a stage; return the nanoseconds of processor time."""
    nothing, rows = np.empty(0, np.int32), len(starts) - 1
    output = IdsOutput(nothing, nothing, np.empty(len(text) + SLACK, np.int32), np.empty(rows, np.int64))
    table_arguments, work = table.arguments(), table.work()
    driver.call(text[: starts[1]], starts[:2], U0, table_arguments, output, work, np.uint64(last))  # compiles the driver
    state = work.state if hasattr(work, "state") else work.shared.state
    state.fill(0)
    begun = time.process_time_ns()
    driver.call(text, starts, U0, table_arguments, output, work, np.uint64(last))
    return float(time.process_time_ns() - begun)


if __name__ == "__main__":
    main()
