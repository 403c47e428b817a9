"""Measure training by this package and by other trainers, and write a table, a JSON file and a chart.

    python tests/bench/train.py [FOLDER] [-o DIR] [--rounds N] [--rows WORD] [--processor]

FOLDER contains ``corpora/`` (default: ``../shared/data`` next to this repository). The table, in Markdown, goes to standard output;
``train.json`` and its picture go to DIR. Trainers that are not installed are skipped.

A text is a list of str in memory, one per line, without line feeds; `gigabpe` reads a file, and `gigatoken` reads bytes. Kernels are
compiled before the first round. Each round runs every trainer once, in one process and one thread. A figure is the median of the rounds in
seconds, or with --processor in processor seconds, which hardly change when the machine has other work. Then the tokens are compared with
those of the reference.

Lines below the table contain memory and time for larger texts, each measured in a separate process.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")  # set before the imports of libraries that read these once

import argparse
import io
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import tokenizers
from rows import BOOKS, CHINESE, CODE, FOLDER, SENTENCES, documents
from tokenizers import models, pre_tokenizers, trainers

import fst
from fst.pretokens.byte_letters import LETTERS
from fst.train.pipeline import SUPERBPE

ROUNDS = 5
MEGABYTE = 1_000_000
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TRANSITION = 0.4  # the share of the tokens that SuperBPE learns in its first phase
PRIVATE = 0xF0000  # the first of the characters that represent tokens in the second phase
LONG = 1 << 20  # maximum number of characters of a token, for trainers with a limit

Texts = Sequence[str]
Trainer = Callable[[Texts, int], Any]  # a function of texts and a size, which returns tokens


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        name: the name of the row.
        source: a file of texts.
        size: the size of the vocabulary.
        trainers: the trainers; the second is the reference.
        most: the maximum number of bytes of the text.
    """

    name: str
    source: str
    size: int
    trainers: Mapping[str, Trainer]
    most: int = 1 << 40


def fst_bpe(texts: Texts, size: int) -> Any:
    """BPE of this package."""
    return fst.train.bpe(texts, splitter="gpt2", vocab_size=size, threads=1).vocabulary


def hf_trained(texts: Texts, size: int) -> tokenizers.Tokenizer:
    """BPE of `tokenizers`, as a tokenizer."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator(texts, trained)
    return tokenizer


def hf_bpe(texts: Texts, size: int) -> Any:
    """BPE of `tokenizers`."""
    return hf_trained(texts, size).get_vocab()


def fst_superwords(texts: Texts, size: int) -> Any:
    """Both phases of SuperBPE by this package; the first ends at `TRANSITION` of the size."""
    first = fst.train.bpe(texts, splitter="gpt2", vocab_size=int(TRANSITION * size), threads=1)
    return fst.train.extend(first, texts, size - len(first.vocabulary), splitter="superbpe", threads=1).vocabulary


def hf_superwords(texts: Texts, size: int) -> Any:
    """Both phases of SuperBPE by `tokenizers`, whose trainer reads the tokens of the first phase as characters in the second phase."""
    tokenizer = hf_trained(texts, int(TRANSITION * size))
    names = {chr(PRIVATE + number): token for token, number in tokenizer.get_vocab().items()}
    split = pre_tokenizers.Split(tokenizers.Regex(SUPERBPE), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    words = list[str]()
    for text in texts:
        found = tokenizer.encode(text)
        parts = dict.fromkeys(found.word_ids, "")
        for number, part in zip(found.ids, found.word_ids, strict=True):
            parts[part] += chr(PRIVATE + number)
        words += parts.values()
    second = tokenizers.Tokenizer(models.BPE())
    second.train_from_iterator(words, trainers.BpeTrainer(vocab_size=size, initial_alphabet=[*names], show_progress=False))
    return ["".join(map(names.__getitem__, token)) for token in second.get_vocab()]


def rustbpe(texts: Texts, size: int) -> Any:
    """BPE of `rustbpe`."""
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(texts), vocab_size=size, pattern=GPT2)
    return spelled(token for token, _ in tokenizer.get_mergeable_ranks())


def gigatoken(texts: Texts, size: int) -> Any:
    """BPE of `gigatoken`."""
    import gigatoken

    found, _ = gigatoken.train_bpe("\n".join(texts).encode(), size, [], separator=b"\n")
    return spelled(found.values())


def gigabpe(texts: Texts, size: int) -> Any:
    """BPE of `gigabpe`."""
    import gigabpe

    with tempfile.NamedTemporaryFile() as file:
        file.write("\n".join(texts).encode())
        file.flush()
        return gigabpe.train_bpe([file.name], size, pretokenizer="bytelevel", threads=1)[0]


def bpeasy(texts: Texts, size: int) -> Any:
    """BPE of `bpeasy`."""
    import bpeasy

    return spelled(bpeasy.train_bpe(iter(texts), GPT2, LONG, size))


def fst_wordpiece(texts: Texts, size: int) -> Any:
    """WordPiece of this package."""
    return fst.train.wordpiece(texts, splitter="bert", vocab_size=size, threads=1).vocabulary


def fst_wordpiece_by_score(texts: Texts, size: int) -> Any:
    """WordPiece of this package by the criterion "score"."""
    return fst.train.wordpiece(texts, splitter="bert", vocab_size=size, criterion="score", threads=1).vocabulary


def hf_wordpiece(texts: Texts, size: int) -> Any:
    """WordPiece of `tokenizers`."""
    tokenizer = tokenizers.Tokenizer(models.WordPiece())
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, show_progress=False, special_tokens=[]))
    return tokenizer.get_vocab()


def fst_unigram(texts: Texts, size: int) -> Any:
    """Unigram of this package."""
    special = {"special_tokens": ["<unk>"], "unk_token": "<unk>"}
    trainer: Any = vars(fst.train)["unigram"]
    return trainer(texts, splitter="metaspace", vocab_size=size, threads=1, **special).vocabulary


def fst_as_sentencepiece(texts: Texts, size: int) -> Any:
    """Unigram of this package, with the pieces and scores of `sentencepiece`."""
    trainer: Any = vars(fst.train)["unigram"]
    options = {"num_threads": 1}
    return trainer(texts, splitter="sentencepiece", reference="sentencepiece", vocab_size=size, options=options).vocabulary


def hf_unigram(texts: Texts, size: int) -> Any:
    """Unigram of `tokenizers`."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trained = trainers.UnigramTrainer(vocab_size=size, show_progress=False, special_tokens=["<unk>"], unk_token="<unk>")
    tokenizer.train_from_iterator(texts, trained)
    return tokenizer.get_vocab()


def sentencepiece(texts: Texts, size: int, kind: str = "unigram") -> Any:
    """Train a model of `sentencepiece`, and return its pieces."""
    import sentencepiece

    model = io.BytesIO()
    with redirect_stderr(io.StringIO()):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=model, model_type=kind, vocab_size=size, num_threads=1, minloglevel=2
        )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return {processor.id_to_piece(number) for number in range(len(processor))}


def sentencepiece_bpe(texts: Texts, size: int) -> Any:
    """BPE of `sentencepiece`, which splits texts into words itself."""
    return sentencepiece(texts, size, "bpe")


def spelled(tokens: Iterable[Any]) -> set[str]:
    """Tokens of bytes, spelled with the letters for bytes."""
    return {"".join(LETTERS[byte] for byte in bytes(token)) for token in tokens}


TWO = {"fst": fst_bpe, "tokenizers": hf_bpe}
ALL = {**TWO, "rustbpe": rustbpe, "gigatoken": gigatoken, "gigabpe": gigabpe, "bpeasy": bpeasy, "sentencepiece": sentencepiece_bpe}
WORDPIECE = {"fst": fst_wordpiece, "tokenizers": hf_wordpiece, "fst, by score": fst_wordpiece_by_score}
SUPERWORDS = {"fst": fst_superwords, "tokenizers": hf_superwords}
UNIGRAM = {"fst": fst_unigram, "tokenizers": hf_unigram, "fst, as sentencepiece": fst_as_sentencepiece, "sentencepiece": sentencepiece}
ROWS = (
    Row("BPE, English books, 32,000", BOOKS, 32_000, ALL),
    Row("BPE, Chinese, 8,000", CHINESE, 8_000, TWO),
    Row("BPE, Python code, 16,000", CODE, 16_000, TWO),
    Row("BPE, 109 languages, 32,000", SENTENCES, 32_000, TWO),
    Row("Superwords, English books, 32,000", BOOKS, 32_000, SUPERWORDS),
    Row("WordPiece, English books, 30,000", BOOKS, 30_000, WORDPIECE),
    Row("Unigram, 4 MB of English books, 8,000", BOOKS, 8_000, UNIGRAM, 4 * MEGABYTE),
    Row("Unigram, English books, 32,000", BOOKS, 32_000, UNIGRAM),
)


@dataclass(frozen=True)
class Measured:
    """The measured figures of one comparison.

    Attributes:
        row: the name of the row.
        bytes: the size of the text.
        seconds: the seconds of each round, by trainer.
        worked: the processor seconds of each round, by trainer.
        differing: the number of tokens that are not tokens of the reference.
    """

    row: str
    bytes: int
    seconds: dict[str, list[float]] = field(default_factory=dict)
    worked: dict[str, list[float]] = field(default_factory=dict)
    differing: dict[str, int] = field(default_factory=dict)


def main() -> None:
    """Read the command line, measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="where the JSON file and the chart go")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    parser.add_argument("--rows", default="", metavar="WORD", help="only rows with this word in their name")
    parser.add_argument("--processor", action="store_true", help="compare by seconds of processors")
    parser.add_argument("--larger", type=int, nargs="*", default=[100], metavar="MB", help="sizes of larger texts")
    arguments = parser.parse_args()
    measured = [measure(row, arguments.folder, arguments.rounds) for row in ROWS if arguments.rows in row.name]
    print("\n".join(table(measured, by_processor=arguments.processor)))
    if not arguments.rows:
        print("\n".join(["", *more_figures(arguments.folder / "corpora" / BOOKS, arguments.larger)]))
    found = {"processor": platform.processor(), "python": platform.python_version(), "rows": [asdict(one) for one in measured]}
    result = arguments.output / "train.json"
    result.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if find_spec("matplotlib"):
        draw(result, measured, by_processor=arguments.processor)


def measure(row: Row, folder: Path, rounds: int) -> Measured:
    """Run the trainers in turns, and compare their tokens."""
    texts = taken(documents(folder / "corpora" / row.source), row.most)
    found = Measured(row.name, sum(len(text.encode()) + 1 for text in texts))
    names = {name: trainer for name, trainer in row.trainers.items() if name.split(",")[0] in ("fst", "tokenizers") or find_spec(name)}
    tokens: dict[str, set[str]] = {}
    for trainer in names.values():
        trainer(texts[:1000], 1000)  # compiles kernels
    for number in range(rounds):
        for name, trainer in names.items():
            say(f"{row.name}: round {number + 1}, {name}")
            begun, worked = time.perf_counter(), time.process_time()
            made = trainer(texts, row.size)
            found.seconds.setdefault(name, []).append(time.perf_counter() - begun)
            found.worked.setdefault(name, []).append(time.process_time() - worked)
            tokens[name] = {*made}
    found.differing.update({name: len(own - tokens["tokenizers"]) for name, own in tokens.items()})
    return found


def taken(texts: list[str], most: int) -> list[str]:
    """The first texts of a corpus: as few as have at least `most` bytes together, or all texts."""
    sizes = np.cumsum([len(text.encode()) + 1 for text in texts])
    return texts[: int(np.searchsorted(sizes, most)) + 1]


def table(measured: Sequence[Measured], *, by_processor: bool) -> list[str]:
    """The figures in Markdown."""
    lines = ["| | trainer | seconds | times as long as fst | tokens that differ |", "| --- | --- | ---: | ---: | ---: |"]
    for one in measured:
        times = {name: statistics.median(each) for name, each in (one.worked if by_processor else one.seconds).items()}
        for name, taken_time in times.items():
            lines.append(f"| {one.row} | {name} | {taken_time:.2f} | {taken_time / times['fst']:.1f} | {one.differing[name]:,} |")
    return lines


def draw(path: Path, measured: Sequence[Measured], *, by_processor: bool) -> None:
    """Write a picture next to a JSON file."""
    import panels

    from fst.train.chart import Panel

    drawn = []
    for one in measured:
        speeds = {name: one.bytes / 1e6 / statistics.median(each) for name, each in (one.worked if by_processor else one.seconds).items()}
        bars = {name: panels.bar(name, speed, is_differing=one.differing[name] > 0) for name, speed in speeds.items()}
        drawn.append(Panel(one.row, bars))
    names = list(dict.fromkeys(name for one in measured for name in one.seconds))
    clock = "by the time of processors" if by_processor else "by the clock"
    caption = f"Medians in turns, {clock}; list[str] in.\n{panels.PALE}reference."
    with path.with_suffix(".png").open("wb") as file:
        panels.draw(file, drawn, names, "Text into vocabularies, MB/s of UTF-8, one thread", caption)


RUN = """
import json, resource, sys, time
from pathlib import Path
import fst
def memory(name): return next(int(line.split()[1]) / 1e3 for line in Path("/proc/self/status").open() if line.startswith(name))
small, large, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
fst.train.bpe([small], **options)
before = memory("VmRSS")
begun, worked = time.perf_counter(), time.process_time()
fst.train.bpe([large], **options)
print(json.dumps([time.perf_counter() - begun, time.process_time() - worked, memory("VmHWM") - before, memory("VmHWM")]))
"""


def more_figures(books: Path, sizes: Sequence[int]) -> list[str]:
    """The lines below the table: time and memory for larger texts and for long words."""
    lines = ["| figure | seconds | seconds of processors | MB beyond a training of 1 MB | MB at most |", "| --- |" + " ---: |" * 4]
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.txt"), Path(folder, "large.txt")
        small.write_bytes(books.read_bytes()[:MEGABYTE])
        options = {"splitter": "gpt2", "vocab_size": 32_000}
        lines.append(line_of("20 MB of English books from a file, one thread", small, books, {**options, "threads": 1}))
        lines.append(line_of("the same, two threads", small, books, {**options, "threads": 2}))
        for size in sizes:
            with large.open("wb") as file:
                corpus.write(file, size * MEGABYTE)
            lines.append(line_of(f"{size:,} MB of made text, two threads", small, large, {**options, "threads": 2}))
        letters = np.random.default_rng(1).choice(np.frombuffer(b"acgt", np.uint8), 10 * MEGABYTE).tobytes()
        for size in (5, 10):
            large.write_bytes(letters[: size * MEGABYTE])
            options = {"splitter": "none", "vocab_size": 1_000, "threads": 1}
            lines.append(line_of(f"a word of {size} MB, 1,000 tokens", small, large, options))
    return lines


def line_of(name: str, small: Path, large: Path, options: Mapping[str, Any]) -> str:
    """A line of the table, measured in a separate process."""
    say(name)
    done = subprocess.run([sys.executable, "-c", RUN, small, large, json.dumps(options)], capture_output=True, check=True, text=True)
    seconds, worked, beyond, most = json.loads(done.stdout)
    return f"| {name} | {seconds:.2f} | {worked:.2f} | {beyond:,.0f} | {most:,.0f} |"


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
