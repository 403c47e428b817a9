"""Archives of the machines of a grammar. The modules ``pynini.export.export``, ``grm`` and ``multi_grm``."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable, Mapping

from fst.bridge.pynini.far import Far
from fst.bridge.pynini.machine import Fst


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
    exporter = Exporter(_argument("--output", "the archive"))
    generator_main(exporter)
    exporter.close()


def run_several(generator_main: Callable[[Mapping[str, Exporter]], None]) -> None:
    """Run a grammar with several archives as a program: ``--outputs NAME=FILE,NAME=FILE`` names them."""
    pairs = [pair.split("=") for pair in _argument("--outputs", "names and archives: NAME=FILE,…").split(",")]
    exporters = {name: Exporter(filename) for name, filename in pairs}
    generator_main(exporters)
    for exporter in exporters.values():
        exporter.close()


def _argument(name: str, description: str) -> str:
    parser = ArgumentParser()
    parser.add_argument(name, required=True, help=description, dest="value")
    return str(parser.parse_args().value)
