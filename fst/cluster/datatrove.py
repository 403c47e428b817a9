"""Steps for pipelines of datatrove: one counts the words of documents, the other writes their ids to files for training."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fst
from fst.cluster.tasks import count_part
from fst.errors import UnsupportedError, not_one_of, quoted
from fst.runtime.files.shards.formats import FORMATS, writing_shard
from fst.runtime.files.shards.shard import Vocabulary

try:
    from datatrove.pipeline.base import PipelineStep
except ModuleNotFoundError:

    class PipelineStep:  # type: ignore[no-redef]
        """In place of datatrove's class if it is not installed, so that the steps have their documentation."""

        def __init__(self) -> None:
            raise ImportError("datatrove is not installed; expected this package for steps of its pipelines; run `pip install datatrove`")


AT_ONCE = 10_000  # number of documents in a batch
FORMS = [name for name, form in FORMATS.items() if not form.folder_only]


class CountWords(PipelineStep):  # type: ignore[misc, unused-ignore]
    """A step that counts the words of all documents of a task. The rank of the task is the number of the part; `fst.train.merge_words`
    merges the files of all tasks. The step reads all documents, and passes none on.

    Args:
        folder: an existing folder, at the same path on every machine. A task writes a file named after its rank, such as
            ``part-00007.parquet``.
        options: arguments of `fst.train.words`, except `partition`. The default of `threads` is 1.
    """

    name = "fst: count words"
    type = "TOKENIZER"

    def __init__(self, folder: str, **options: Any) -> None:
        super().__init__()
        self.folder, self.options = folder, options

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:  # noqa: ARG002 - datatrove passes it
        """Count the words of the documents of a task. The file gets its name when it is complete."""
        texts = (document.text for document in data)
        with self.track_time(unit="task"):
            count_part((rank, texts), Path(self.folder), {"threads": 1, **self.options})


class Encode(PipelineStep):  # type: ignore[misc, unused-ignore]
    """A step that writes the ids of all documents of a task to one output, named by the rank of the task, and passes the documents on.

    Args:
        table: the file from ``fst compile``; it has the same path on every machine.
        folder: the output folder, a path or a URL.
        append: the token after each document, in place of the special tokens of the vocabulary; None: these special tokens.
        form: the format, such as "datatrove" or "megatron"; not "mds", because a folder of its shards needs an index.

    Raises:
        UnsupportedError: the format is unknown or "mds"; in a task: the token is not in the vocabulary.
    """

    name = "fst"
    type = "TOKENIZER"

    def __init__(self, table: str, folder: str, append: str | None = None, form: str = "datatrove") -> None:
        super().__init__()
        if form not in FORMS:
            raise UnsupportedError(not_one_of("form", form, FORMS))
        self.table, self.folder, self.append, self.form = table, folder, append, form

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:  # noqa: ARG002 - datatrove passes it
        """Encode the documents of a task. The output gets its name when the task is complete."""
        tokenizer = fst.Tokenizer.load(self.table)
        vocab = tokenizer.get_vocab()
        if self.append is not None and self.append not in vocab:
            raise UnsupportedError(f"append is {quoted(self.append)}; expected a token of the vocabulary")
        last = None if self.append is None else vocab[self.append]
        data = iter(data)  # a pipeline may begin with a list of documents
        vocabulary = Vocabulary(max(vocab.values()) + 1, self.table)
        with writing_shard(f"{self.folder}/{rank:05}{FORMATS[self.form].endings[0]}", self.form, vocabulary) as shard:
            while documents := list(islice(data, AT_ONCE)):
                with self.track_time(unit="batch"):
                    ids, ends = _encoded(tokenizer, [document.text for document in documents], last)
                    shard.write(ids, ends)
                self.stat_update("tokens", value=len(ids))
                yield from documents


def _encoded(tokenizer: fst.Tokenizer, texts: list[str], last: int | None) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of texts, and the end of each text in them. `last`: the id after each text, or None."""
    batch = tokenizer.encode_batch(texts, add_special_tokens=last is None)
    ids, ends = batch.ids, batch.row_splits[1:]
    if last is None:
        return ids, ends
    return np.insert(ids, ends, last), ends + np.arange(1, len(ends) + 1)
