"""Segment a Chinese or Japanese corpus into words, for an index that splits text at spaces or accepts lists of words.

The arguments are a dictionary, a corpus and an output file::

    python examples/segment_corpus.py dict.txt pages.parquet -o words.parquet --column text
    python examples/segment_corpus.py dict.txt pages.txt -o words.txt --format jieba --backward

A Parquet file gets an additional column, ``words``, a list of strings for each row. In any other file, each line is a text; its words are
written separated by spaces. Memory does not grow with the corpus.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TextIO

import click
import pyarrow.parquet as pq

import fst
from fst.compile import maxmatch

LINES = 100_000  # lines in memory at a time


def segment_parquet(segmenter: fst.Segmenter, corpus: Path, output: Path, column: str) -> None:
    """Add a column of words to the rows of a Parquet file."""
    file, writer = pq.ParquetFile(corpus), None
    for batch in file.iter_batches():
        batch = batch.append_column("words", segmenter.segment_arrow(batch[column]))
        writer = writer or pq.ParquetWriter(output, batch.schema)
        writer.write_batch(batch)
    if writer:
        writer.close()


def segment_lines(segmenter: fst.Segmenter, corpus: TextIO, output: TextIO) -> None:
    """Write the words of each line, separated by spaces; words that consist of whitespace are dropped."""
    while lines := [line.rstrip("\n") for line in islice(corpus, LINES)]:
        for words in segmenter.segment_batch(lines, offsets=True):
            print(" ".join(word for word in words if not word.isspace()), file=output)


@click.command()
@click.argument("dictionary", type=click.Path(exists=True, path_type=Path))
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--format", "form", help="The format of the dictionary, such as jieba.  [default: by its name, else a word a line]")
@click.option("--column", default="text", show_default=True, help="The column of text in Parquet.")
@click.option("--backward", is_flag=True, help="Segment from the end of each text.")
def main(dictionary: Path, corpus: Path, output: Path, form: str | None, column: str, backward: bool) -> None:
    """Segment a corpus."""
    segmenter = fst.Segmenter(maxmatch(dictionary, "backward" if backward else "forward", format=form))
    if corpus.suffix == ".parquet":
        segment_parquet(segmenter, corpus, output, column)
        return
    with corpus.open(encoding="utf-8", newline="\n") as read, output.open("w", encoding="utf-8", newline="\n") as written:
        segment_lines(segmenter, read, written)


if __name__ == "__main__":
    main()
