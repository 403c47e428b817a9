"""Add token ids to the Parquet files of a corpus, on all machines of a Ray cluster.

Name a table, Parquet files or folders of them, a folder that is not there yet, and how many actors are to work, of which each takes a core;
reading and writing take at least one more::

    python examples/ray_data.py bert.npz reviews/ -o reviews-ids/ --column text --actors 2

The table lies on every machine, in the same place; the folders are on a disk that all machines see, or in a bucket, ``s3://…``.
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
    """The work of one actor: add the column ``input_ids`` to a block of rows.

    The table is loaded and verified once, when the actor starts. Its file is mapped, so that the actors of a machine share its memory.

    Args:
        table: the file that ``fst compile`` wrote.
        column: the column of text.
    """

    def __init__(self, table: str, column: str) -> None:
        self._tokenizer = fst.Tokenizer.load(table)
        self._column = column
        self._tokenizer.encode_arrow(pa.array(["warm"]))  # the kernels are loaded, or compiled, before the first block comes

    def __call__(self, block: pa.Table) -> pa.Table:
        """The block with the ids of its rows."""
        try:
            return block.append_column("input_ids", self._ids(block))
        except fst.TextError as error:
            # The number of a row in a block means nothing to a user of the files.
            raise fst.TextError(f"{error}; beside it stands {shortened(self._beside_first_wrong(block))}") from None

    def _ids(self, block: pa.Table) -> Any:
        return self._tokenizer.encode_arrow(block[self._column], threads=1)  # which is what Ray counts for an actor

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

    An actor whose process is killed is started again, and does its block again: ``max_restarts`` and ``max_task_retries`` of Ray Data's
    actors are -1, without limit. So a block that is too large for the memory of an actor is tried for ever, and Ray reports each death.
    Errors are not tried again: they end the run, and reach the driver.
    """
    return texts.map_batches(
        Encode,
        fn_constructor_args=(table, column),
        batch_format="pyarrow",
        batch_size=None,  # blocks as they are read: smaller batches are copies
        compute=ActorPoolStrategy(size=actors),
        num_cpus=1,  # as reading takes, so that Ray has the actors read their blocks themselves, and no text is copied between processes
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
    if actors >= cores:  # Ray would wait for ever
        raise click.UsageError(f"{actors} actors take {actors} cores, and reading and writing take one more; the cluster has {cores}")
    # In an existing folder, old files would stay, and their rows would be there twice.
    encoded(ray.data.read_parquet(list(inputs)), table, column, actors).write_parquet(output, mode=SaveMode.ERROR)


if __name__ == "__main__":
    main()
