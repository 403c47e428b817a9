"""Tables by name, such as "gpt2" or "Qwen/Qwen3-0.6B", from the package ``fst_tables``, if it is installed.

The package contains tables and `INDEX`, a JSON object: ``names`` maps each name to the name of a file, and ``tables`` maps the name of a
file to its licence, its source and the SHA-256 of its bytes. Names are only looked up there, and never become parts of paths.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fst.core import remote
from fst.errors import listed

PACKAGE, INDEX, SUFFIX = "fst_tables", "index.json", ".npz"
INSTALL = "pip install fst-tables"


@cache
def names() -> Mapping[str, Path]:
    """The file of each name; empty if the package is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return {}
    folder = Path(spec.submodule_search_locations[0])
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    return {name: folder / file for name, file in index["names"].items()}


def place_of(path: str | Path) -> str | Path:
    """The place of a table: for the name of a table, its file in the package, unless a file or folder has this path. A URL, a `Path`, and a
    string that ends in ``.npz`` are no names.

    Raises:
        FileNotFoundError: there is no file and no table of this name.
    """
    is_name = isinstance(path, str) and not path.endswith(SUFFIX) and not remote.is_remote(path)
    if not is_name or os.path.exists(path):  # noqa: PTH110 - `Path.exists` raises an error for a str that is invalid as a path
        return path
    if found := names().get(str(path)):
        return found
    lack = f"fst-tables has {listed(names())}, but not this name" if names() else f"fst-tables is not installed; `{INSTALL}`"
    raise FileNotFoundError(errno.ENOENT, f"no such file, and no table of this name: {lack}", str(path))
