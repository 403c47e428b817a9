"""Kernels of the trainers, and their arrays. The trainers themselves are in `fst.train`."""

from fst.core.lazy import rename_modules

rename_modules(
    {
        "fst.compile.train.old": "fst.train",
        "fst.compile.train.old.trimming": "fst.train.trimming",
        "fst.compile.train.pipeline": "fst.train.pipeline",
        "fst.compile.train.result": "fst.train.result",
    }
)
