"""Archives of machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fst.bridge.pynini.errors import FstArgError, FstIndexError, FstIOError, FstOpError
from fst.bridge.pynini.machine import Fst
from fst.compile.algebra.arcs import Arcs
from fst.compile.sources.transducers import openfst
from fst.errors import FstError, listed, not_one_of, quoted

MODES = ("r", "w")
TYPES = ("default", "sttable", "stlist", "sstable")


class Far:
    """An archive of OpenFst (``.far``, table type), read or written as a whole.

    Args:
        filename: the file.
        mode: "r" or "w".
        arc_type: the type of arcs of a new archive.
        far_type: the type of a new archive; all are written as tables.

    Raises:
        FstArgError: the mode or a type is unknown.
        FstIOError: the file cannot be read.
    """

    def __init__(self, filename: str | os.PathLike[str], mode: str = "r", arc_type: str = "standard", far_type: str = "default") -> None:
        if mode not in MODES:
            raise FstArgError(not_one_of("mode", mode, MODES))
        if far_type not in TYPES:
            raise FstArgError(not_one_of("type of archive", far_type, TYPES))
        self._filename, self._mode, self._arc_type = os.fspath(filename), mode, arc_type
        self._is_open = True
        self._machines: dict[str, Arcs] = self._read() if mode == "r" else {}
        self.reset()

    def _read(self) -> dict[str, Arcs]:
        try:
            machines = openfst.read_archive(Path(self._filename), "character")
        except (OSError, FstError) as error:
            raise FstIOError(f"{self._filename} cannot be read: {error}") from error
        return {key or self._filename: machine for key, machine in machines.items()}

    def arc_type(self) -> str:
        """The type of arcs."""
        return self._arc_type

    def far_type(self) -> str:
        """The type of the archive."""
        return "sttable" if self._is_open else "closed"

    def mode(self) -> str:
        """"r" or "w"."""
        return self._mode

    def name(self) -> str:
        """The name of the file."""
        return self._filename

    def closed(self) -> bool:
        """Whether the archive is closed."""
        return not self._is_open

    def error(self) -> bool:
        """Whether an error occurred; errors are raised, so there is none."""
        return False

    # Reading.

    def reset(self) -> None:
        """Go back to the first machine."""
        self._keys = sorted(self._machines)
        self._place = 0

    def done(self) -> bool:
        """Whether all machines have been passed."""
        return self._place >= len(self._keys)

    def next(self) -> None:
        """Go to the next machine."""
        self._place += 1

    def find(self, key: str) -> bool:
        """Go to a machine; return whether there is one with this key."""
        found = key in self._machines
        self._place = self._keys.index(key) if found else len(self._keys)
        return found

    def get_key(self) -> str:
        """The key of the current machine.

        Raises:
            FstIndexError: there is none.
        """
        if self.done():
            raise FstIndexError("all machines of the archive have been passed; call reset()")
        return self._keys[self._place]

    def get_fst(self) -> Fst:
        """The current machine.

        Raises:
            FstIndexError: there is none.
        """
        return Fst.of(self._machines[self.get_key()])

    def __getitem__(self, key: str) -> Fst:
        if key not in self._machines:
            raise FstIndexError(f"the archive has no machine {quoted(key)}; expected one of {listed(sorted(self._machines))}")
        return Fst.of(self._machines[key])

    def __iter__(self) -> Iterator[tuple[str, Fst]]:
        while not self.done():
            yield self.get_key(), self.get_fst()
            self.next()

    # Writing.

    def add(self, key: str, fst: Fst) -> None:
        """Add a machine.

        Raises:
            FstOpError: the archive is not open for writing, or the arcs have another type.
        """
        if self._mode != "w" or not self._is_open or fst.arc_type() != self._arc_type:
            raise FstOpError(f"a machine of type {fst.arc_type()!r} cannot be added; expected an open archive of this type in mode 'w'")
        self._machines[key] = fst.table

    __setitem__ = add

    def close(self) -> None:
        """Close the archive; a new one is written now.

        Raises:
            FstIOError: the file cannot be written.
        """
        if self._mode == "w" and self._is_open:
            try:
                Path(self._filename).write_bytes(openfst.packed_archive(self._machines))
            except OSError as error:
                raise FstIOError(f"{self._filename} cannot be written: {error}") from error
        self._is_open = False

    def __enter__(self) -> Far:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
