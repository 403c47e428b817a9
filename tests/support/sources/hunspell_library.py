"""Hunspell's library, called without its program."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
        for function in (self._library.Hunspell_suggest, self._library.Hunspell_stem):
            function.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p)), ctypes.c_char_p]
        self._library.Hunspell_free_list.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p)), ctypes.c_int]
        self._library.Hunspell_destroy.argtypes = [ctypes.c_void_p]
        self._handle = self._library.Hunspell_create(str(aff).encode(), str(partner(aff, ".dic")).encode())
        self._encoding = encoding

    def check(self, word: str) -> bool:
        """Whether a word is accepted. A word with characters outside of the encoding is not."""
        try:
            return bool(self._library.Hunspell_spell(self._handle, word.encode(self._encoding)))
        except UnicodeEncodeError:
            return False

    def suggest(self, word: str) -> list[str]:
        """The suggestions for a word; none for a word with characters outside of the encoding."""
        return self._listed(self._library.Hunspell_suggest, word)

    def stems(self, word: str) -> list[str]:
        """The stems of a word; none for a word with characters outside of the encoding."""
        return self._listed(self._library.Hunspell_stem, word)

    def _listed(self, function: Any, word: str) -> list[str]:
        """The strings that a function of the library returns for a word."""
        found = ctypes.POINTER(ctypes.c_char_p)()
        try:
            count = function(self._handle, ctypes.byref(found), word.encode(self._encoding))
        except UnicodeEncodeError:
            return []
        texts = [(found[number] or b"").decode(self._encoding, "replace") for number in range(count)]
        self._library.Hunspell_free_list(self._handle, ctypes.byref(found), count)
        return texts

    def check_all(self, words: Sequence[bytes]) -> None:
        """Check many words in the encoding of the dictionary."""
        spell, handle = self._library.Hunspell_spell, self._handle
        for word in words:
            spell(handle, word)

    def close(self) -> None:
        """Free the dictionary."""
        self._library.Hunspell_destroy(self._handle)
