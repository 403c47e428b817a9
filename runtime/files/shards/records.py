"""Records of complete outputs in a folder, and the index of all outputs.

A record is a file of JSON in the folder `.complete`, with the name of its output. It contains the source, the settings, and the name and
the size of each file. It is written after the files, and removed before they are replaced, so an output with a record is complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from fst.core import remote
from fst.runtime.files.outputs import is_there, modified, read, remove, written_file
from fst.runtime.files.shards.shard import Shard
from fst.runtime.files.streams import size

RECORDS = ".complete"  # a hidden folder: readers of folders skip it
INDEX = "index.json"
FACTS = ("settings", "made_of", "dtype", "documents", "tokens")  # of a record, besides "files"
OF_FILE = ("name", "bytes", "documents")


def source_of(file: str) -> dict[str, Any]:
    """The facts by which a source is recognised: its name without folders, its size in bytes, and the time of its last change in seconds.
    A fact that is unknown is None.
    """
    changed = modified(file)
    return {"source": Path(remote.file_of(file)).name, "bytes": size([file]), "modified": changed if isfinite(changed) else None}


@dataclass(frozen=True)
class Records:
    """The records in a folder of outputs.

    Attributes:
        folder: the folder, a path or a URL.
        settings: all that determines the ids and the format, as values of JSON: "format", the digest of the table, and options.
    """

    folder: str
    settings: Mapping[str, Any]

    def complete(self, output: str, source: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The record of an output that was written from a source with the same settings, if all its files have the sizes in the record;
        None if there is no such record.

        Args:
            output: the name of the output in the folder.
            source: the result of `source_of`, and "row_group" (None: the whole file).
        """
        record = self._record(output)
        if record is None or (record["settings"], record["made_of"]) != (self.settings, source):
            return None
        return record if all(size_of(self._path(file["name"])) == file["bytes"] for file in record["files"]) else None

    def has_other_index(self) -> bool:
        """Whether the folder has an index without records: a file that another program wrote."""
        return is_there(self._path(INDEX)) and not is_there(self._path(RECORDS))

    def begin(self, output: str) -> None:
        """Remove the record of an output that is about to be written, and the index of the folder."""
        remove(self._path(INDEX))
        remove(self._path(f"{RECORDS}/{output}.json"))

    def add(self, output: str, source: Mapping[str, Any], shard: Shard) -> None:
        """Write the record of an output whose files have their names. `output`, `source`: as in `complete`. `shard`: its writer."""
        files = [{"name": Path(part.name).name, "bytes": size_of(part.name), "documents": part.documents} for part in shard.parts]
        counts = {"dtype": shard.dtype, "documents": shard.documents, "tokens": shard.tokens}
        record = {"settings": self.settings, "made_of": source, "files": files, **counts}
        if not remote.is_remote(self.folder):
            Path(self._path(RECORDS)).mkdir(exist_ok=True)
        self._write(f"{RECORDS}/{output}.json", json.dumps(record, indent=1).encode())

    def finish(self, outputs: Mapping[str, Mapping[str, Any]]) -> int:
        """Write the index of all outputs, unless an output is incomplete; return the number of complete outputs.

        Args:
            outputs: the name of each output → its source.
        """
        found = {output: self.complete(output, source) for output, source in outputs.items()}
        complete = {output: record for output, record in found.items() if record is not None}
        if len(complete) == len(outputs):
            self._write(INDEX, self._index(complete))
        return len(complete)

    def _index(self, records: Mapping[str, Mapping[str, Any]]) -> bytes:
        """The index of the folder. Equal outputs give equal bytes: it has no times and no folders."""
        if self.settings["format"] == "mds":
            from fst.runtime.files.shards import mds

            return mds.index([(record["dtype"], file) for record in records.values() for file in record["files"]])
        outputs = [
            {
                "name": output,
                "source": record["made_of"]["source"],
                "row_group": record["made_of"]["row_group"],
                **{fact: record[fact] for fact in ("dtype", "documents", "tokens")},
                "files": {file["name"]: file["bytes"] for file in record["files"]},
            }
            for output, record in records.items()
        ]
        sums = {name: sum(record[name] for record in records.values()) for name in ("documents", "tokens")}
        return json.dumps({"format": self.settings["format"], **sums, "outputs": outputs}, indent=1).encode() + b"\n"

    def _record(self, output: str) -> dict[str, Any] | None:
        """The record of an output; None if there is none, or if it is damaged."""
        try:
            record = json.loads(read(self._path(f"{RECORDS}/{output}.json")))
            return {**{fact: record[fact] for fact in FACTS}, "files": [{fact: file[fact] for fact in OF_FILE} for file in record["files"]]}
        except (FileNotFoundError, ValueError, TypeError, KeyError, RecursionError):
            return None

    def _path(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"

    def _write(self, name: str, data: bytes) -> None:
        with written_file(self._path(name)) as file:
            file.write(data)


def size_of(file: str) -> int | None:
    """The size of a file in bytes; None if it does not exist."""
    with suppress(FileNotFoundError):
        return size([file])
    return None
