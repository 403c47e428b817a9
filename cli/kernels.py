"""Whether kernels are compiled, and how to have them compiled."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fst.cli.progress import note
from fst.jit import no_collector

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.tables import Tables


def ready(tables: Tables) -> Tokenizer:
    """A tokenizer whose kernels are there: loaded, or compiled, and then a person is told what takes so long.

    The garbage collector is kept from going through what numba makes, meanwhile, later and when the process ends, which would take a fifth
    of the time of a short run.
    """
    with no_collector():
        from fst import Tokenizer

        if not kept():
            note("compiling kernels, once …")
        tokenizer = Tokenizer(tables)
        tokenizer.encode(b"a")  # in bytes, as all commands encode
        gc.freeze()
    return tokenizer


def kept() -> bool:
    """Whether compiled kernels lie on disk, as far as their names and times tell: of this line of the source, and not older than it."""
    from fst.runtime import kernels

    kernel: Any = kernels.encode_rows
    if not hasattr(kernel, "stats"):  # numba's compiler is switched off
        return True
    if not kernel.stats.cache_path:
        return False
    line, changed = kernel.py_func.__code__.co_firstlineno, Path(kernels.__file__).stat().st_mtime
    indices = Path(kernel.stats.cache_path).glob(f"kernels.encode_rows-{line}.*.nbi")
    return any(index.stat().st_mtime >= changed for index in indices)


def compile_all() -> bool:
    """Compile every kernel by using it, as it is used with a table file. Return whether the machine code is kept on disk."""
    import fst
    from fst.compile import wordpiece
    from fst.runtime.document import document

    with TemporaryDirectory() as folder:
        table, source = Path(folder, "table.npz"), Path(folder, "tokenizer.json")
        tables = wordpiece(["[UNK]", "a", "##b"], layout="compact")
        tables.save(table)
        tokenizer = fst.load(table)
        tokenizer.encode(b"ab")  # which takes the kernels for str, and one more
        tokenizer(["ab"], return_tensors="np")
        source.write_text(json.dumps({**document(tables), "normalizer": {"type": "NFC"}}))
        fst.Tokenizer(wordpiece(source)).encode("a\u0301")  # which takes a second reading
    return kept()
