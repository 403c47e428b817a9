"""Lines for files that `string_file` reads. The module ``pynini.lib.stringfile``."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TextIO

from fst.bridge.pynini import labels


def escape(string: str) -> str:
    """The string in which brackets, backslashes and ``#`` stand for themselves."""
    return labels.escape(string).replace("#", "\\#")


def writeline(file: TextIO, line: Iterable[str]) -> None:
    """Write a line: an input, an output and a weight, the last two optional. Other lines are written with an error in the log."""
    fields = [escape(field) for field in line]
    if not 1 <= len(fields) <= 3:
        logging.error("a line has %d fields; expected 1 to 3", len(fields))
    file.write("\t".join(fields) + "\n")


def writelines(file: TextIO, lines: Iterable[Iterable[str]]) -> None:
    """Write lines."""
    for line in lines:
        writeline(file, line)
