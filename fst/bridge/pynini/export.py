"""Archives of the machines of a grammar. The modules ``pynini.export.export``, ``grm`` and ``multi_grm``."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import TypeVar

from fst.bridge.pynini.far import Far
from fst.bridge.pynini.machine import Fst
from fst.errors import quoted

Value = TypeVar("Value")


class Exporter:
    """Collects machines, and writes them to an archive when it is closed.

    Args:
        filename: the file.
        arc_type, far_type: as in `Far`.
    """

    def __init__(self, filename: str | os.PathLike[str], arc_type: str = "standard", far_type: str = "default") -> None:
        self._far = Far(filename, "w", arc_type, far_type)

    def __setitem__(self, name: str, fst: Fst) -> None:
        self._far[name] = fst

    def close(self) -> None:
        """Write the archive.

        Raises:
            FstIOError: the file cannot be written.
        """
        self._far.close()


def run(generator_main: Callable[[Exporter], None]) -> None:
    """Run a grammar as a program: ``--output FILE`` names the archive."""
    exporter = Exporter(_argument("--output", "the archive", str))
    generator_main(exporter)
    exporter.close()


def run_several(generator_main: Callable[[Mapping[str, Exporter]], None]) -> None:
    """Run a grammar with several archives as a program: ``--outputs NAME=FILE,NAME=FILE`` names them."""
    filenames = _argument("--outputs", "names and archives: NAME=FILE,…", _named)
    exporters = {name: Exporter(filename) for name, filename in filenames.items()}
    generator_main(exporters)
    for exporter in exporters.values():
        exporter.close()


def _argument(name: str, description: str, of: Callable[[str], Value]) -> Value:
    """The value of the only option of a program."""
    parser = ArgumentParser()
    parser.add_argument(name, required=True, help=description, dest="value", type=of)
    value: Value = parser.parse_args().value
    return value


def _named(text: str) -> dict[str, str]:
    """The files of ``NAME=FILE,NAME=FILE``, by their names."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(separator for _, separator, _ in pairs):
        raise ArgumentTypeError(f"the value is {quoted(text)}; expected NAME=FILE,NAME=FILE")
    return {name: filename for name, _, filename in pairs}
