"""Flags: 16-bit numbers that words and affixes have. The option FLAG determines how they are written.

As in Hunspell, a text that is no number is the flag 0 in the format "num", and the last byte of an odd number is ignored in "long".
"""

from __future__ import annotations

from collections.abc import Iterator

from fst.compile.sources.transducers.hunspell.lines import Lines, integer
from fst.errors import quoted

SHORT = ""  # the format of flags without the option FLAG: each flag is one byte
FORMATS = ("long", "num", "UTF-8")
FORBIDDEN = 65510  # the flag of forbidden words without the option FORBIDDENWORD
ONLY_UPPER = 65511  # the flag of words that stand for another word in upper case, see `words.Entry`
UNKNOWN = 0xFFFD
MAX_FLAGS = 1 << 21  # maximum number of flags in different sets; of Debian's dictionaries, the Turkish one has the most, 882,981
Flags = frozenset[int]
NONE = Flags()


class Decoder:
    """Reads flags.

    Attributes:
        form: the format of flags, one of `FORMATS` or `SHORT`.
        aliases: sets of flags; a text may contain the number of an element, from 1, instead of flags (option AF).
    """

    def __init__(self, encoding: str) -> None:
        self.form = SHORT
        self.aliases: list[Flags] = []
        self._encoding = encoding
        self._sets: dict[str, Flags] = {}
        self._count = 0

    def flag(self, text: str) -> int:
        """The first flag in a text."""
        if self.form == "long" and len(text) == 1:
            text += "\0"
        return next(self._flags(text), 0)

    def sequence(self, text: str, lines: Lines) -> list[int]:
        """The flags in a text, in order."""
        found = [*self._flags(text)]
        self._count += len(found)
        if self._count > MAX_FLAGS:
            fault = f"different sets have more than {MAX_FLAGS:,} flags together; expected at most as many"
            raise lines.unsupported(f"{fault}; split the dictionary")
        return found

    def flags(self, text: str, lines: Lines) -> Flags:
        """The set of flags in a text, which may instead contain the number of an alias."""
        found = self._sets.get(text)
        if found is None:
            found = self._sets[text] = self._alias(text, lines) if self.aliases and text else Flags(self.sequence(text, lines))
        return found

    def _alias(self, text: str, lines: Lines) -> Flags:
        number = integer(text)
        if not 0 < number <= len(self.aliases):
            raise lines.fault(f"the alias of flags is {quoted(text)}; expected 1 to {len(self.aliases)}, a line of AF", text)
        return self.aliases[number - 1]

    def _flags(self, text: str) -> Iterator[int]:
        data = text.encode(self._encoding, "surrogateescape")
        if self.form == "long":
            yield from (data[place] << 8 | data[place + 1] for place in range(0, len(data) - 1, 2))
        elif self.form == "num":
            yield from (integer(number) & 0xFFFF for number in (text.split(",") if text else ()))
        elif self.form == "UTF-8":
            for char in data.decode("utf-8", "replace"):
                yield ord(char) if ord(char) <= 0xFFFF else UNKNOWN
        else:
            yield from data
