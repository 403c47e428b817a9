"""Whether kernels are compiled, and how to have them compiled."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory


def kept() -> bool:
    """Whether compiled kernels lie on disk, as far as their names tell."""
    from fst.runtime.kernels import encode_rows

    stats = getattr(encode_rows, "stats", None)  # none where numba's compiler is switched off
    return stats is None or bool(stats.cache_path and any(Path(stats.cache_path).glob("kernels.encode_rows-*.nbi")))


def compile_all() -> bool:
    """Compile every kernel by using it, as it is used with a table file. Return whether the machine code is kept on disk."""
    import fst
    from fst.compile import wordpiece

    with TemporaryDirectory() as folder:
        table = Path(folder, "table.npz")
        wordpiece(["[UNK]", "a", "##b"], layout="compact").save(table)
        tokenizer = fst.load(table)
        tokenizer.encode("ab")
        tokenizer.encode(b"ab")
    return kept()
