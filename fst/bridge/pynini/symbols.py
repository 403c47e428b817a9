"""Symbol tables: names of labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.pynini.errors import FstIOError
from fst.bridge.pynini.missing import missing
from fst.errors import quoted

NO_SYMBOL = -1
_LINE = re.compile(r"[\t ]*([^\t ]+)[\t ]+(-?[0-9]{1,19})[\t ]*")


class SymbolTable:
    """Names of labels, in both directions.

    Examples:
        >>> table = SymbolTable()
        >>> table.add_symbol("<epsilon>"), table.add_symbol("a")
        (0, 1)
        >>> table.find("a"), table.find(0)
        (1, '<epsilon>')
    """

    def __init__(self, name: str = "<unspecified>") -> None:
        self._name = name
        self._keys: dict[str, int] = {}
        self._symbols: dict[int, str] = {}
        self._available = 0  # max(self._symbols) + 1, without a search

    def add_symbol(self, symbol: str, key: int = NO_SYMBOL) -> int:
        """Add a symbol, and return its label: `key`, or the number after the largest label. A known symbol keeps its label."""
        if symbol not in self._keys:
            key = self._available if key == NO_SYMBOL else key
            self._keys[symbol] = key
            self._symbols.setdefault(key, symbol)
            self._available = max(self._available, key + 1)
        return self._keys[symbol]

    def add_table(self, table: SymbolTable) -> None:
        """Add all symbols of another table."""
        for _, symbol in table:
            self.add_symbol(symbol)

    def find(self, key: int | str) -> int | str:
        """The label of a symbol, -1 if there is none; or the symbol of a label, "" if there is none."""
        return self._keys.get(key, NO_SYMBOL) if isinstance(key, str) else self._symbols.get(key, "")

    def member(self, key: int | str) -> bool:
        """Whether there is a symbol, or a label."""
        return key in (self._keys if isinstance(key, str) else self._symbols)

    def available_key(self) -> int:
        """The number after the largest label."""
        return self._available

    def get_nth_key(self, place: int) -> int:
        """The label of the symbol with this place, from 0; -1 if there is none."""
        keys = [*self._symbols]
        return keys[place] if 0 <= place < len(keys) else NO_SYMBOL

    def num_symbols(self) -> int:
        """The number of symbols."""
        return len(self._symbols)

    def name(self) -> str:
        """The name of the table."""
        return self._name

    def set_name(self, name: str) -> None:
        """Rename the table."""
        self._name = name

    def copy(self) -> SymbolTable:
        """A copy."""
        table = SymbolTable(self._name)
        table._keys, table._symbols, table._available = dict(self._keys), dict(self._symbols), self._available
        return table

    def checksum(self) -> bytes:
        """A digest of the symbols, in their order."""
        return hashlib.sha256("\0".join(self._symbols.values()).encode()).hexdigest().encode()

    def labeled_checksum(self) -> bytes:
        """A digest of the symbols and their labels."""
        return hashlib.sha256(repr(sorted(self._symbols.items())).encode()).hexdigest().encode()

    @classmethod
    def read_text(cls, filename: str | Path) -> SymbolTable:
        """Read a file of lines of a symbol, spaces or tabs, and a label.

        Raises:
            FstIOError: the file cannot be read, or a line has another form.
        """
        table = cls(Path(filename).stem)
        try:
            text = Path(filename).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FstIOError(f"{filename} cannot be read: {error}") from error
        for number, line in enumerate(text.split("\n"), 1):
            columns = _LINE.fullmatch(line)
            if columns:
                table.add_symbol(columns[1], int(columns[2]))
            elif line.strip(" \t"):
                raise FstIOError(f"{filename}: line {number} is {quoted(line)}; expected a symbol, a tab and a label")
        return table

    def write_text(self, filename: str | Path) -> None:
        """Write a file that `read_text` reads.

        Raises:
            FstIOError: the file cannot be written.
        """
        lines = [f"{symbol}\t{key}\n" for key, symbol in self]
        try:
            Path(filename).write_text("".join(lines), encoding="utf-8")
        except OSError as error:
            raise FstIOError(f"{filename} cannot be written: {error}") from error

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter([*self._symbols.items()])

    def __len__(self) -> int:
        return len(self._symbols)

    def __contains__(self, key: int | str) -> bool:
        return self.member(key)

    if not TYPE_CHECKING:  # a type checker reports every missing name

        def __getattr__(self, name: str) -> Any:
            raise missing("a symbol table", name)


def merge_symbol_table(first: SymbolTable, second: SymbolTable) -> SymbolTable:
    """A table with the symbols of both tables; those of the first keep their labels."""
    table = first.copy()
    table.add_table(second)
    return table
