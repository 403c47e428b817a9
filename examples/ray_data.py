"""Add token ids to the Parquet files of a corpus, on all machines of a Ray cluster.

The arguments are a table, Parquet files or folders with Parquet files, an output folder that does not exist yet, and the number of actors.
Each actor needs one core; reading and writing need at least one more::

    python examples/ray_data.py bert.npz reviews/ -o reviews-ids/ --column text --actors 2

The table has the same path on every machine. The folders are on a disk that all machines can access, or in a bucket, ``s3://…``.
"""

from __future__ import annotations

from reprlib import repr as shortened
from typing import Any

import click
import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, Dataset, SaveMode

import fst


class Encode:
    """An actor, which adds the column ``input_ids`` to blocks of rows.

    The table is loaded and verified once, when the actor starts. Its file is mapped, so the actors of a machine share its memory.

    Args:
        table: the file from ``fst compile``.
        column: the name of the text column.
    """

    def __init__(self, table: str, column: str) -> None:
        self._tokenizer = fst.Tokenizer.load(table)
        self._column = column
        self._tokenizer.encode_arrow(pa.array(["warm"]))  # load or compile the kernels before the first block arrives

    def __call__(self, block: pa.Table) -> pa.Table:
        """The block with the ids of its rows as a new column."""
        try:
            return block.append_column("input_ids", self._ids(block))
        except fst.TextError as error:
            # The message contains the other columns, because the index of a row within a block does not identify the row in the files.
            raise fst.TextError(f"{error}; the other columns of the row are {shortened(self._beside_first_wrong(block))}") from None

    def _ids(self, block: pa.Table) -> Any:
        return self._tokenizer.encode_arrow(block[self._column], threads=1)  # Ray assumes one thread per actor

    def _beside_first_wrong(self, block: pa.Table) -> Any:
        """The other columns of the first row that is not text."""
        rows = (block.slice(row, 1) for row in range(len(block)))
        wrong = next(row for row in rows if not self._is_text(row))
        return wrong.drop_columns([self._column]).to_pylist()[0]

    def _is_text(self, block: pa.Table) -> bool:
        try:
            self._ids(block)
        except fst.TextError:
            return False
        return True


def encoded(texts: Dataset, table: str, column: str, actors: int) -> Dataset:
    """A data set with the ids of a column.

    If the process of an actor is killed, Ray restarts the actor and repeats its block. The number of restarts is unlimited: Ray Data sets
    ``max_restarts`` and ``max_task_retries`` to -1. Ray therefore retries a block that is too large for an actor's memory forever, and
    reports each killed process. Exceptions are not retried: they end the run and reach the driver.
    """
    return texts.map_batches(
        Encode,
        fn_constructor_args=(table, column),
        batch_format="pyarrow",
        batch_size=None,  # each block is one batch, because smaller batches would be copies
        compute=ActorPoolStrategy(size=actors),
        num_cpus=1,  # as for reading, so that actors read their blocks themselves, and texts are not copied between processes
    )


@click.command()
@click.argument("table")
@click.argument("inputs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, help="The folder to make, and to write Parquet files into.")
@click.option("--column", default="text", show_default=True, help="The column of text.")
@click.option("--actors", type=click.IntRange(min=1), default=1, show_default=True)
def main(table: str, inputs: tuple[str, ...], output: str, column: str, actors: int) -> None:
    """Add a column of token ids to Parquet files."""
    ray.init(ignore_reinit_error=True)
    cores = int(ray.cluster_resources().get("CPU", 0))
    if actors >= cores:  # Ray would wait forever
        raise click.UsageError(f"{actors} actors take {actors} cores, and reading and writing take one more; the cluster has {cores}")
    # In an existing folder, old files would remain, and their rows would be duplicates.
    encoded(ray.data.read_parquet(list(inputs)), table, column, actors).write_parquet(output, mode=SaveMode.ERROR)


if __name__ == "__main__":
    main()
