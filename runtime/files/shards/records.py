"""Records of complete outputs in a folder, and the index of all outputs.

A record is a file of JSON in the folder `.complete`, with the name of its output. It contains the source, the settings, and the name and
the size of each file. It is written after the files, and removed before they are replaced, so an output with a record is complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fst.core import remote
from fst.runtime.files.outputs import is_there, modified, read, remove, written_file
from fst.runtime.files.shards.shard import Shard
from fst.runtime.files.streams import size

RECORDS = ".complete"  # a hidden folder: readers of folders skip it
INDEX = "index.json"


def source_of(file: str, group: int | None) -> dict[str, Any]:
    """The facts by which a source is recognised: its name without folders, its size in bytes, the time of its last change in seconds (None
    if it is unknown), and the row group (None: the whole file).
    """
    changed = modified(file)
    name = Path(remote.file_of(file)).name
    return {"source": name, "bytes": size([file]), "modified": changed if changed > 0 else None, "row_group": group}


@dataclass(frozen=True)
class Records:
    """The records in a folder of outputs.

    Attributes:
        folder: the folder, a path or a URL.
        settings: all that determines the ids and the format, as values of JSON: "format", the digest of the table, and options.
    """

    folder: str
    settings: Mapping[str, Any]

    def is_complete(self, output: str, source: Mapping[str, Any]) -> bool:
        """Whether an output was written from a source with the same settings, and all its files have the sizes in the record.

        Args:
            output: the name of the output in the folder.
            source: the result of `source_of`.
        """
        record = self._record(output)
        if record is None or record["settings"] != self.settings or record["made_of"] != source:
            return False
        return all(size_of(self._path(file["name"])) == file["bytes"] for file in record["files"])

    def begin(self, output: str) -> None:
        """Remove the record of an output that is about to be written, and the index of the folder."""
        remove(self._path(INDEX))
        remove(self._path(f"{RECORDS}/{output}.json"))

    def add(self, output: str, source: Mapping[str, Any], shard: Shard) -> None:
        """Write the record of an output whose files have their names. `output`, `source`: as in `is_complete`. `shard`: its writer."""
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
        complete = [output for output, source in outputs.items() if self.is_complete(output, source)]
        if len(complete) == len(outputs):
            self._write(INDEX, self._index([(output, self._record(output) or {}) for output in complete]))
        return len(complete)

    def _index(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> bytes:
        """The index of the folder. Equal outputs give equal bytes: it has no times and no folders."""
        if self.settings["format"] == "mds":
            from fst.runtime.files.shards import mds

            return mds.index([(record["dtype"], file) for _, record in records for file in record["files"]])
        outputs = [
            {
                "name": output,
                "source": record["made_of"]["source"],
                "row_group": record["made_of"]["row_group"],
                **{fact: record[fact] for fact in ("dtype", "documents", "tokens")},
                "files": {file["name"]: file["bytes"] for file in record["files"]},
            }
            for output, record in records
        ]
        sums = {name: sum(record[name] for _, record in records) for name in ("documents", "tokens")}
        return json.dumps({"format": self.settings["format"], **sums, "outputs": outputs}, indent=1).encode() + b"\n"

    def _record(self, output: str) -> dict[str, Any] | None:
        path = self._path(f"{RECORDS}/{output}.json")
        with suppress(ValueError):
            found: dict[str, Any] | None = json.loads(read(path)) if is_there(path) else None
            return found
        return None

    def _path(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"

    def _write(self, name: str, data: bytes) -> None:
        with written_file(self._path(name)) as file:
            file.write(data)


def size_of(file: str) -> int | None:
    """The size of a file in bytes; None if it does not exist."""
    return size([file]) if is_there(file) else None
