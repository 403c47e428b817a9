"""Compare the speed of two checkouts of this project, each installed in a separate environment.

    python tests/bench/checkouts.py OLD_PYTHON NEW_PYTHON [FOLDER] [--rounds N] [--rows WORD]

OLD_PYTHON and NEW_PYTHON are the interpreters of the environments; ``peers.py`` describes FOLDER. Each checkout runs in one process, which
compiles the tables with its own compiler and uses only public names, so modules and file formats may differ. If the ids of a row are equal,
both checkouts take turns on it with one thread. A figure is the processor time of the old checkout divided by that of the new one, as the
median of all rounds; above 1, the new checkout is faster.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rows import ALBERT, BOOKS, CASED, CHINESE, CL100K, CODE, FOLDER, GPT2, JAPANESE, MISTRAL, SENTENCES, T5, UNCASED, XLM_R, documents

ROUNDS, AT_LEAST, MOST = 15, 0.2, 2_000_000  # number of rounds; minimum seconds of a turn; maximum number of characters of a corpus
WORDS = "dict/american-english-huge.txt"
METHODS = ("encode_batch", "find_batch", "segment_batch")
ARRAYS = ("ids", "row_splits", "offsets", "starts", "ends")


class Row(NamedTuple):
    """A table, and the corpora that it reads.

    Attributes:
        compiler: the name of the public function in ``fst.compile``.
        source: the file below FOLDER.
        corpora: texts in English, and other texts.
        options: the options of the compiler.
    """

    compiler: str
    source: str
    corpora: tuple[str, str] = (BOOKS, SENTENCES)
    options: Mapping[str, Any] = {}


ROWS = {
    "WordPiece, uncased": Row("tokenizer", f"{UNCASED}/tokenizer.json"),
    "WordPiece, multilingual": Row("tokenizer", f"{CASED}/tokenizer.json"),
    "BPE, GPT-2": Row("tokenizer", f"{GPT2}/tokenizer.json"),
    "BPE, cl100k_base": Row("tokenizer", f"{CL100K}/cl100k_base.tiktoken", (BOOKS, CODE)),
    "BPE, merge queue": Row("tokenizer", "vocab_bpe/clip/tokenizer.json"),
    "BPE, SentencePiece": Row("tokenizer", f"{MISTRAL}/tokenizer.model"),
    "BPE, Llama": Row("tokenizer", f"{MISTRAL}/tokenizer.json", (BOOKS, JAPANESE)),
    "Unigram, T5": Row("tokenizer", f"{T5}/tokenizer.json"),
    "Unigram, XLM-R": Row("tokenizer", f"{XLM_R}/tokenizer.json.gz"),
    "Unigram, SentencePiece": Row("tokenizer", f"{ALBERT}/spiece.model", (BOOKS, CODE)),
    "keywords": Row("keywords", WORDS, (BOOKS, CODE)),
    "keywords, folded, whole": Row("keywords", WORDS, (BOOKS, CODE), {"ignore_case": True, "whole_words": True}),
    "keywords, overlapping": Row("keywords", WORDS, (BOOKS, CODE), {"match_kind": "overlapping"}),
    "maxmatch": Row("maxmatch", "dict/jieba_dict.txt", (BOOKS, CHINESE)),
    "jieba": Row("lattice.jieba", "dict/jieba_dict.txt", (BOOKS, CHINESE)),
    "MeCab": Row("lattice.mecab", "oracles/toolkit/vibrato_dict", (BOOKS, JAPANESE)),
}


def main() -> None:
    """Print a row for each kind of table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_PYTHON")
    parser.add_argument("new", metavar="NEW_PYTHON")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"turns of each checkout [{ROUNDS}]")
    parser.add_argument("--rows", default="", metavar="WORD", help="only rows with this word in their name")
    arguments = parser.parse_args()
    checkouts = [Checkout(python, arguments.folder.resolve()) for python in (arguments.old, arguments.new)]
    print("| table | English | another text |\n| --- | ---: | ---: |")
    for name, row in ROWS.items():
        if arguments.rows in name:
            figures = [ratio(checkouts, name, corpus, arguments.rounds) for corpus in row.corpora]
            print(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |", flush=True)


def ratio(checkouts: Sequence[Checkout], name: str, corpus: str, rounds: int) -> float:
    """The speed of the new checkout divided by that of the old one."""
    digests = [checkout.ask("digest", name, corpus) for checkout in checkouts]
    if digests[0] != digests[1]:
        sys.exit(f"{name}, {corpus}: the ids of the two checkouts differ")
    turns = [[checkout.ask("seconds", name, corpus) for checkout in checkouts] for _ in range(rounds)]
    return float(median(old / new for old, new in turns))


class Checkout:
    """The process of a checkout, in which the methods of `Answers` are called."""

    def __init__(self, python: str, folder: Path) -> None:
        command = [python, __file__, "--answer", str(folder)]
        self.python = python
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *question: str) -> Any:
        """Call a method of `Answers` in the process, and return its result."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else sys.exit(f"{self.python}: the process ended")


class Answers:
    """The tables of one checkout, and their results on corpora."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = cache(self._table)
        self.texts = cache(self._texts)

    def digest(self, name: str, corpus: str) -> str:
        """A digest of all ids and their positions."""
        call = self._call(name, corpus)
        found = call(**({} if hasattr(self.table(name), "find_batch") else {"offsets": True}))  # searches always return offsets
        arrays = [getattr(found, array) for array in ARRAYS if getattr(found, array, None) is not None]
        return sha256(b"|".join(array.astype("<i8").tobytes() for array in arrays)).hexdigest()

    def seconds(self, name: str, corpus: str) -> float:
        """The mean processor time of a pass over a corpus; passes are repeated until the turn is long enough."""
        call, passes = self._call(name, corpus), 0
        call()  # a warm-up
        begun = time.process_time()
        while time.process_time() - begun < AT_LEAST:
            call()
            passes += 1
        return (time.process_time() - begun) / passes

    def _call(self, name: str, corpus: str) -> partial[Any]:
        table = self.table(name)
        method = next(getattr(table, method) for method in METHODS if hasattr(table, method))
        return partial(method, self.texts(corpus), threads=1)

    def _table(self, name: str) -> Any:
        import fst
        import fst.compile
        from fst.compile import lattice

        row = ROWS[name]
        compiler: Any = getattr(lattice if "." in row.compiler else fst.compile, row.compiler.rpartition(".")[2])
        with TemporaryDirectory() as scratch:
            path = Path(scratch) / "table.npz"
            compiler(self.folder / row.source, **row.options).save(path)
            return fst.load(path)

    def _texts(self, corpus: str) -> list[str]:
        lines, size, kept = documents(self.folder / "corpora" / corpus), 0, list[str]()
        for line in lines:
            size += len(line)
            if size > MOST:
                break
            kept.append(line)
        return kept


def answer(folder: Path) -> None:
    """The main function of the process: read calls from standard input, and write their results."""
    answers = Answers(folder)
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(getattr(answers, name)(*given)), flush=True)


if __name__ == "__main__":
    answer(Path(sys.argv[2])) if sys.argv[1:2] == ["--answer"] else main()
