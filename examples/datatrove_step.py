"""Encode documents in a pipeline of datatrove, and write the files that its own `DocumentTokenizer` writes without shuffling.

The arguments are a table, a folder of JSON lines with the field ``text``, an existing folder for the output, and the number of tasks. Tasks
run one after the other on this machine; datatrove's executors for Slurm and Ray run the same pipeline on many::

    python examples/datatrove_step.py gpt2.npz corpus/ ids/ --tasks 4
"""

from __future__ import annotations

import click
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader

from fst.cluster.datatrove import Encode


@click.command()
@click.argument("table", type=click.Path(exists=True))
@click.argument("source", type=click.Path(exists=True))
@click.argument("folder", type=click.Path(exists=True))
@click.option("--append", help="The token after each document, in place of the special tokens of the vocabulary.")
@click.option("--tasks", default=1, help="The number of tasks, each of which reads a part of the files.")
def main(table: str, source: str, folder: str, append: str | None, tasks: int) -> None:
    """Encode the JSON lines in SOURCE with TABLE, and write a part per task to FOLDER."""
    pipeline = [JsonlReader(source), Encode(table, folder, append)]
    LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f"{folder}/logs").run()


if __name__ == "__main__":
    main()
