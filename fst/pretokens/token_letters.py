r"""The conversion between the names of tokens and bytes.

Names in byte-level vocabularies consist of GPT-2's letters for bytes (`fst.pretokens.byte_letters`). Names in other vocabularies are text,
in which a symbol, mostly ▁, may mean a space, as in SentencePiece. If there is a symbol, a name with a real space matches nothing, because
texts contain the symbol instead of spaces.

A token such as ``<0xC3>`` is a *fallback*: it represents a byte of a character that has no token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fst.core.json_fields import FLAG, TEXT, stored_as
from fst.pretokens import byte_letters
from fst.text.whitespace import SPACE

_FALLBACK = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class Letters:
    """The letters of a vocabulary.

    Attributes:
        are_bytes: whether names consist of GPT-2's letters for bytes.
        symbol: the character that means a space; "" if no character does.
    """

    are_bytes: bool = stored_as(FLAG)
    symbol: str = stored_as(TEXT)

    def bytes_of(self, name: str) -> bytes | None:
        r"""The bytes of the token with a name; None if the name matches no text.

        Examples:
            >>> BYTE_LETTERS.bytes_of("ĠcafÃ"), Letters(False, "▁").bytes_of("▁café")
            (b' caf\xc3', b' caf\xc3\xa9')
        """
        if self.are_bytes:
            return byte_letters.bytes_of(name)
        if not self.symbol:
            return name.encode()
        return None if SPACE in name else name.replace(self.symbol, SPACE).encode()

    def spelled(self, token: bytes) -> str:
        """The name of a token, given by its bytes."""
        if self.are_bytes:
            return byte_letters.spelled(token)
        return token.decode().replace(SPACE, self.symbol or SPACE)


BYTE_LETTERS = Letters(are_bytes=True, symbol="")


def fallback(byte: int) -> str:
    """The name of the fallback token for a byte.

    Examples:
        >>> fallback(10)
        '<0x0A>'
    """
    return f"<{byte:#04X}>".replace("X", "x")


def byte_of(name: str) -> int | None:
    """The byte of a fallback token; None for any other name."""
    found = _FALLBACK.fullmatch(name)
    return int(found[1], 16) if found else None
