"""Encode documents in a pipeline of datatrove, and write the files that its own `DocumentTokenizer` writes without shuffling.

The arguments are a table, a folder of JSON lines with the field ``text``, an existing folder for the output, and the number of tasks. Tasks
run one after the other on this machine; datatrove's executors for Slurm and Ray run the same pipeline on many::

    python examples/datatrove_step.py gpt2.npz corpus/ ids/ --tasks 4
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click
import numpy as np
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.readers import JsonlReader
from numpy.typing import NDArray

import fst
from fst.runtime.files.shards.formats import FORMATS, writing_shard
from fst.runtime.files.shards.shard import Vocabulary

AT_ONCE = 10_000  # number of documents in a batch


class Encode(PipelineStep):  # type: ignore[misc, unused-ignore]
    """A step that writes the ids of all documents of a task to one output, named by the rank of the task, and passes the documents on.

    Args:
        table: the file from ``fst compile``; it has the same path on every machine.
        folder: the output folder, a path or a URL.
        append: the token after each document; None: no token.
        form: the format, such as "datatrove" or "megatron"; not "mds", because a folder of its shards needs an index.
    """

    name = "fst"
    type = "TOKENIZER"

    def __init__(self, table: str, folder: str, append: str | None = None, form: str = "datatrove") -> None:
        super().__init__()
        self.table, self.folder, self.append, self.form = table, folder, append, form

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:  # noqa: ARG002 - datatrove passes it
        """Encode the documents of a task. The output gets its name when the task is complete."""
        tokenizer = fst.Tokenizer.load(self.table)
        vocabulary = Vocabulary(max(tokenizer.get_vocab().values()) + 1, self.table)
        with writing_shard(f"{self.folder}/{rank:05}{FORMATS[self.form].endings[0]}", self.form, vocabulary) as shard:
            while documents := list(islice(data, AT_ONCE)):
                with self.track_time(unit="batch"):
                    ids, ends = self._encoded(tokenizer, [document.text for document in documents])
                    shard.write(ids, ends)
                self.stat_update("tokens", value=len(ids))
                yield from documents

    def _encoded(self, tokenizer: fst.Tokenizer, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of texts, and the end of each text in them."""
        batch = tokenizer.encode_batch(texts, add_special_tokens=self.append is None)
        ids, ends = batch.ids, batch.row_splits[1:]
        if self.append is None:
            return ids, ends
        return np.insert(ids, ends, tokenizer.get_vocab()[self.append]), ends + np.arange(1, len(ends) + 1)


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
