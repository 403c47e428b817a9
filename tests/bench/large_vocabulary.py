"""Measure the compile time, the table size and the speed of two large vocabularies: 500,000 tokens of 109 languages, and 1.5 million words
of three languages.

    python tests/bench/large_vocabulary.py [FOLDER]

FOLDER contains ``vocab/NAME/vocab.txt``, ``dict`` and ``corpora`` (default: ``../shared/data`` next to this repository). The words are
250,000 words each from dictionaries of English, Chinese and Japanese, and the same words as continuations; their ids are compared with
`tokenizers`.

The vocabulary of 109 languages, which is the largest real vocabulary in FOLDER, is extended to 500,000 tokens. A new token is the
concatenation of any token and a ``##piece`` of the same script. Tokens are drawn by Zipf's law, because the vocabulary lists them in order
of frequency. New tokens have at most 10 characters, like 97 in 100 of the original tokens. The size of the table per token remains about
the same: 1.6 states and 21 transitions and finish entries (originally 1.8 and 21).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from random import Random

from rows import BOOKS, CASED, FOLDER
from tokenizers import BertWordPieceTokenizer

import fst

SIZE, LONGEST, SEED = 500_000, 10, 0
WORDS, CHARACTERS = 250_000, 2_000_000
DICTIONARIES = {"american-english-huge.txt": "\n", "jieba_dict.txt": " ", "ipadic_surfaces.tsv": "\t"}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CHINESE = "docs_zh.md"
PREFIX = "##"
FST = str(Path(sys.executable).with_name("fst"))


def main() -> None:
    """Print the compile time of the second of two runs in seconds, and the size and speed of each table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    tokens = (folder / CASED / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    show(grown(tokens, SIZE), folder)
    show(of_words(folder / "dict"), folder)


def show(tokens: list[str], folder: Path) -> None:
    """Measure one vocabulary."""
    texts = (folder / "corpora" / BOOKS).read_text(encoding="utf-8")[:CHARACTERS].splitlines()
    texts += (folder / "corpora" / CHINESE).read_text(encoding="utf-8")[: CHARACTERS // 3].splitlines()
    with tempfile.TemporaryDirectory() as scratch:
        source, table = Path(scratch) / "vocab.txt", Path(scratch) / "table.npz"
        source.write_text("\n".join(tokens) + "\n", encoding="utf-8")
        command = [FST, "compile", str(source), "--no-lowercase", "-o", str(table)]
        subprocess.run(command, check=True, capture_output=True)
        compiling = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
        loading = min(seconds(lambda: fst.Tokenizer.load(table)) for _ in range(5))
        ours = fst.Tokenizer.load(table)
        speed = sum(len(text.encode()) for text in texts) / min(seconds(lambda: ours.encode_batch(texts, threads=1)) for _ in range(5))
        reference = BertWordPieceTokenizer(str(source), lowercase=False)
        rows = zip(ours.encode_batch(texts), reference.encode_batch(texts), strict=True)
        wrong = sum(row.tolist() != found.ids for row, found in rows)
        size = f"{table.stat().st_size / 1e6:.1f} MB, loaded in {loading:.2f} s"
        print(f"{len(tokens):,} tokens: {compiling:.1f} s, {size}, {speed / 1e6:.0f} MB/s, {wrong} of {len(texts):,} rows differ")


def seconds(function: Callable[[], object]) -> float:
    """The seconds of a call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def of_words(folder: Path) -> list[str]:
    """A vocabulary of equally many words from each dictionary, and the same words as continuations."""
    found = dict.fromkeys(SPECIAL)
    for name, separator in DICTIONARIES.items():
        lines = (folder / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        words = [*dict.fromkeys(line.partition(separator)[0] for line in lines)]
        found |= dict.fromkeys(word for word in Random(SEED).sample(words, min(WORDS, len(words))) if word == word.strip())
    return [*found, *(PREFIX + word for word in found if word not in SPECIAL)]


def grown(tokens: list[str], size: int) -> list[str]:
    """Add new tokens after the tokens of a vocabulary; they are the same in every run."""
    random = Random(SEED)
    pieces: dict[int, list[str]] = {}
    for token in tokens:
        if token.startswith(PREFIX) and token != PREFIX:
            piece = token.removeprefix(PREFIX)
            pieces.setdefault(script(piece[0]), []).append(piece)
    weights = {of: [*accumulate(1 / rank for rank in range(1, len(some) + 1))] for of, some in pieces.items()}
    beginnings = [token for token in tokens if script(token[-1]) in pieces and not token.startswith("[")]
    found = dict.fromkeys(tokens)
    while len(found) < size:
        beginning = random.choice(beginnings)
        of = script(beginning[-1])
        token = beginning + random.choices(pieces[of], cum_weights=weights[of])[0]
        if len(token.removeprefix(PREFIX)) <= LONGEST and token not in found:
            found[token] = None
            beginnings.append(token)
    return list(found)


def script(char: str) -> int:
    """A number for the script of a character; most characters of a script have the same number."""
    return ord(char) >> 7


if __name__ == "__main__":
    main()
