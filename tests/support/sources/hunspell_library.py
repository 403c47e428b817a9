"""Hunspell's library, called without its program."""

from __future__ import annotations

import ctypes
import ctypes.util
from pathlib import Path

from fst.compile.sources.transducers.hunspell.files import partner


def library() -> str | None:
    """The name of Hunspell's library; None: it is not installed."""
    return ctypes.util.find_library("hunspell-1.7")


class Hunspell:
    """A dictionary in Hunspell's library. `aff`: its ``.aff`` file. `encoding`: the encoding of the dictionary."""

    def __init__(self, aff: Path, encoding: str) -> None:
        name = library()
        if name is None:
            raise SystemExit("Hunspell's library is not installed; install libhunspell-1.7-0")
        self._library = ctypes.CDLL(name)
        self._library.Hunspell_create.argtypes, self._library.Hunspell_create.restype = [ctypes.c_char_p] * 2, ctypes.c_void_p
        self._library.Hunspell_spell.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self._library.Hunspell_destroy.argtypes = [ctypes.c_void_p]
        self._handle = self._library.Hunspell_create(str(aff).encode(), str(partner(aff, ".dic")).encode())
        self._encoding = encoding

    def check(self, word: str) -> bool:
        """Whether a word is accepted. A word with characters outside of the encoding is not."""
        try:
            return bool(self._library.Hunspell_spell(self._handle, word.encode(self._encoding)))
        except UnicodeEncodeError:
            return False

    def close(self) -> None:
        """Free the dictionary."""
        self._library.Hunspell_destroy(self._handle)
