"""Compile kernels ahead of time."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from fst.jit import destination, no_collector

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.machines.wordpiece import Tables


def ready(tables: Tables) -> Tokenizer:
    """A tokenizer whose kernels are loaded or compiled.

    The garbage collector skips the objects that numba makes, now and when the process ends: it would take a fifth of the time of a short
    run.
    """
    with no_collector():
        from fst import Tokenizer

        tokenizer = Tokenizer(tables)
        tokenizer.encode(b"a")  # in bytes, as all commands encode
        gc.freeze()
    return tokenizer


def compile_all() -> tuple[bool, str]:
    """Compile every kernel by using it as with a table file. Return the result of `fst.jit.destination`."""
    import fst
    from fst.compile import wordpiece
    from fst.runtime import texts
    from fst.runtime.kernels import wordpiece as kernels
    from fst.runtime.transformers.document import document

    with TemporaryDirectory() as folder:
        table, source = Path(folder, "table.npz"), Path(folder, "tokenizer.json")
        tables = wordpiece(["[UNK]", "a", "##b"], layout="compact")
        tables.save(table)
        tokenizer = fst.load(table)
        tokenizer.encode(b"ab")  # which takes the kernels for str, and one more
        tokenizer(["ab"], return_tensors="np")
        tokenizer.encode_batch(["ab"], offsets=True)
        texts.of_utf_8(np.frombuffer(b"ab", np.uint8), np.array([0, 2]), np.empty(2 + texts.PAST_END, np.uint16))  # a column
        # Letters that compose; and an added token of too many nodes for `matching.link`, with a word too long for a kernel.
        added = {"id": 3, "content": "a" * 600, "normalized": True}
        for part, text in (({"normalizer": {"type": "NFC"}}, "a\u0301"), ({"added_tokens": [added]}, "a" * 101)):
            source.write_text(json.dumps({**document(tables), **part}))
            read_twice = fst.Tokenizer(wordpiece(source))
            for offsets in (False, True):
                read_twice.encode_batch([text], offsets=offsets)
    return destination(kernels.encode_rows)
