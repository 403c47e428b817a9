"""A reader of files as a target of fuzzing: any bytes are read, or refused with an error of this package."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from support.fuzz.mutations import mutated

import fst

BETWEEN = b"\n\x1c\n"  # the separator of files in an input of several files


class Reader(NamedTuple):
    """A target of fuzzing.

    Attributes:
        read: a function that reads the files in a folder, and uses the result.
        seeds: a function that makes valid inputs.
        names: the names of the files, in the order of an input. Empty files are not written.
        mutate: a function that changes an input at random; its third argument is another valid input.
        found: inputs that were once read wrongly.
    """

    read: Callable[[Path], Any]
    seeds: Callable[[], Sequence[bytes]]
    names: Sequence[str] = ("input",)
    mutate: Callable[[bytes, Random, bytes], bytes] = mutated
    found: Sequence[bytes] = ()

    def check(self, data: bytes) -> bool:
        """Read an input; return whether it is accepted. Errors and warnings of this package are allowed, and so is a missing file if an
        input has several. All other errors and warnings are raised.
        """
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", fst.FstWarning)
            if "NUMBA_DISABLE_JIT" in os.environ:  # hashes overflow on purpose, of which only NumPy warns
                warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
            for name, content in self._files(data):
                Path(folder, name).write_bytes(content)
            try:
                self.read(Path(folder))
            except FileNotFoundError:
                assert len(self.names) > 1
                return False
            except fst.FstError:
                return False
            return True

    def _files(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """The names and contents of the files of an input."""
        if len(self.names) == 1:
            yield self.names[0], data
            return
        yield from ((name, content) for name, content in zip(self.names, data.split(BETWEEN), strict=False) if content)


def joined(names: Sequence[str], files: Mapping[str, bytes | str]) -> bytes:
    """An input of several files; missing files are empty."""
    contents = (files.get(name, b"") for name in names)
    return BETWEEN.join(content.encode() if isinstance(content, str) else content for content in contents)
