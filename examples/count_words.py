"""Count the words of each file separately, as on the machines of a cluster, and merge the counts with GROUP BY in DuckDB.

The arguments are text files::

    python examples/count_words.py README.md CHANGELOG.md

Any engine with GROUP BY can replace DuckDB. The merged words, and a vocabulary that is trained on them, are byte-for-byte the same as on
one machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import duckdb

from fst import train
from fst.counting.words import Words

SPLITTER = "bert"
MERGED = """
    COPY (
        SELECT word, sum(count)::BIGINT AS count, min(first) AS first, split
        FROM read_parquet($parts) GROUP BY word, split ORDER BY word
    ) TO '{path}' (FORMAT PARQUET)
"""


def count(text: str, number: int, folder: Path) -> str:
    """Count the words of one text, the part `number` of the corpus, and write them to a file. Each machine does this for its own parts."""
    path = folder / f"part-{number}.parquet"
    train.words(Path(text), splitter=SPLITTER, partition=number).save(path)
    return str(path)


def merge(parts: Sequence[str], folder: Path) -> Words:
    """Merge the tables of all parts."""
    path = folder / "words.parquet"
    duckdb.execute(MERGED.format(path=path), {"parts": list(parts)})
    return train.words(path)


def vocabulary(words: Words) -> bytes:
    """Train a WordPiece vocabulary. Pairs of equal scores merge in the order of first occurrence, so the column `first` matters, too."""
    return "\n".join(train.wordpiece(words, splitter=SPLITTER, vocab_size=500, criterion="score", min_frequency=10).vocabulary).encode()


@click.command()
@click.argument("texts", nargs=-1, required=True, type=click.Path(exists=True))
def main(texts: tuple[str, ...]) -> None:
    """Count the words of TEXTS, each a part of a corpus."""
    with TemporaryDirectory() as name:
        parts = [count(text, number, Path(name)) for number, text in enumerate(texts)]
        merged = merge(parts, Path(name))
    whole = train.words(map(Path, texts), splitter=SPLITTER)
    if (merged.text.tobytes(), merged.counts.tolist()) != (whole.text.tobytes(), whole.counts.tolist()):
        raise SystemExit("the merged words differ from those of one machine")
    if vocabulary(merged) != vocabulary(whole):
        raise SystemExit("the vocabulary of the merged words differs from that of one machine")
    print(f"{len(texts)} parts, {len(merged):,} words, {merged.counts.sum():,} occurrences: as one machine counts them")
    print("the vocabulary is that of one machine, byte for byte")


if __name__ == "__main__":
    main()
