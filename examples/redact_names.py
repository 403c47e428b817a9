"""Redact names in a column of a Parquet file; other columns, types and nulls are unchanged.

The arguments are a file with one name per line, and a Parquet file::

    python examples/redact_names.py names.txt reviews.parquet -o redacted.parquet --column text
"""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq

import fst
from fst.compile import keywords


def redacted(batch: pa.RecordBatch, column: str, searcher: fst.Searcher, by: str) -> pa.RecordBatch:
    """Return the rows with the names in a column replaced."""
    place = batch.schema.get_field_index(column)
    return batch.set_column(place, batch.schema.field(place), searcher.replace_arrow(batch.column(place), by))


@click.command()
@click.argument("names", type=click.Path(exists=True, path_type=Path))
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The Parquet file to write.")
@click.option("--column", default="text", show_default=True, help="The column of text.")
@click.option("--by", default="[NAME]", show_default=True, help="What to write in place of a name.")
def main(names: Path, source: Path, output: Path, column: str, by: str) -> None:
    """Replace NAMES, a file with one name per line, in a column of SOURCE, a Parquet file."""
    searcher = fst.Searcher(keywords(names, whole_words=True))  # so that "Ann" is found, but not at the beginning of "Anna"
    file = pq.ParquetFile(source)
    if column not in file.schema_arrow.names:
        raise click.BadParameter(f"{source} has no column {column!r}, of {', '.join(file.schema_arrow.names)}", param_hint="--column")
    with pq.ParquetWriter(output, file.schema_arrow) as writer:
        for batch in file.iter_batches():  # one batch at a time, so the memory does not grow with the file
            writer.write_batch(redacted(batch, column, searcher, by))


if __name__ == "__main__":
    main()
