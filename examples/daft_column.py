"""Add token ids to the Parquet files of a corpus with Daft, on one machine or on the cluster that Daft runs on.

The arguments are a table, Parquet files or patterns for them, and an output folder::

    python examples/daft_column.py bert.npz 'reviews/*.parquet' -o reviews-ids/ --column text
"""

from __future__ import annotations

from typing import Any

import click
import daft
from daft import DataType, Series

import fst


@daft.cls
class Encode:
    """The ids of a text column.

    Daft creates one `Encode` object per worker process, which loads the table. The table file is mapped, so the processes of a machine
    share its memory.

    Args:
        table: the file from ``fst compile``; each machine needs a copy.
    """

    def __init__(self, table: str) -> None:
        self._tokenizer = fst.Tokenizer.load(table)

    @daft.method.batch(return_dtype=DataType.list(DataType.int32()))  # type: ignore[untyped-decorator, unused-ignore]
    def ids(self, texts: Series) -> Any:
        """The ids of one batch of the column."""
        return self._tokenizer.encode_arrow(texts.to_arrow(), threads=1)


@click.command()
@click.argument("table")
@click.argument("inputs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, help="The folder to write Parquet files into.")
@click.option("--column", default="text", show_default=True, help="The column of text.")
def main(table: str, inputs: tuple[str, ...], output: str, column: str) -> None:
    """Add a column of token ids to Parquet files."""
    frame = daft.read_parquet(list(inputs))
    frame.with_column("input_ids", Encode(table).ids(frame[column])).write_parquet(output)


if __name__ == "__main__":
    main()
