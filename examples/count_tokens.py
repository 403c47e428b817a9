"""Count the tokens of a text column in DuckDB, `polars` and `pandas`; libraries that are not installed are left out.

The arguments are a source of a vocabulary and a text, whose lines become the column::

    python examples/count_tokens.py examples/english-uncased-8000.txt README.md
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

import fst
from fst.compile import tokenizer

Counts = list[int | None]


def counts(tok: fst.Tokenizer, column: Any, threads: int | None = None) -> Any:
    """The number of tokens of each row, as an Arrow column of int32; nulls stay null."""
    return pc.list_value_length(tok.encode_arrow(column, threads=threads))


def in_duckdb(tok: fst.Tokenizer, table: pa.Table) -> Counts:
    """Count with a SQL function; DuckDB reads the table without copying it."""
    import duckdb

    with duckdb.connect() as connection:
        # DuckDB calls the function from several threads.
        connection.create_function("count_tokens", lambda column: counts(tok, column, threads=1), ["VARCHAR"], "INTEGER", type="arrow")
        connection.register("reviews", table)
        return [row[0] for row in connection.sql("SELECT count_tokens(text) FROM reviews").fetchall()]


def in_polars(tok: fst.Tokenizer, table: pa.Table) -> Counts:
    """Count with an expression of `polars`."""
    import polars

    tokens = polars.col("text").map_batches(lambda column: polars.Series(counts(tok, column)), return_dtype=polars.Int32)
    return list(polars.DataFrame(table).select(tokens)["text"])


def in_pandas(tok: fst.Tokenizer, table: pa.Table) -> Counts:
    """Count in a column of Arrow strings."""
    import pandas

    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    tokens = pandas.Series(pandas.arrays.ArrowExtensionArray(counts(tok, frame["text"])), frame.index)
    return [None if pandas.isna(number) else number for number in tokens]


LIBRARIES: dict[str, Callable[[fst.Tokenizer, pa.Table], Counts]] = {"duckdb": in_duckdb, "polars": in_polars, "pandas": in_pandas}


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("text", type=click.Path(exists=True, path_type=Path))
def main(source: Path, text: Path) -> None:
    """Count the tokens of the lines of TEXT with the vocabulary SOURCE in each library, and compare the counts."""
    tok, lines = fst.Tokenizer(tokenizer(source)), text.read_bytes().decode().split("\n")
    table = pa.table({"text": [*lines, None]})
    expected = [*tok.count_tokens(lines).tolist(), None]
    for library in filter(find_spec, LIBRARIES):
        if LIBRARIES[library](tok, table) != expected:
            raise SystemExit(f"{library} has other counts than tok.count_tokens")
        print(f"{library}: {len(expected)} rows, {sum(filter(None, expected)):,} tokens, the counts of tok.count_tokens")


if __name__ == "__main__":
    main()
