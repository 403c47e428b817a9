"""GPT-2's letters for bytes: byte-level vocabularies write each byte of a token as one printable letter, such as Ġ for a space.

Source: ``bytes_to_unicode`` of GPT-2. Bytes that are printable in Latin-1 keep their letter; all other bytes, in ascending order, get the
letters from U+0100.
"""

from __future__ import annotations

_PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
LETTERS = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + place) for place, byte in enumerate(_OTHERS)}


class _Bytes(dict[int, str]):
    """A translation table for `str.translate`: each letter becomes the Latin-1 character whose code is the letter's byte. All other
    characters become U+FFFF.
    """

    def __missing__(self, _: int) -> str:
        return "\uffff"


_BYTES = _Bytes({ord(letter): chr(byte) for byte, letter in LETTERS.items()})


def spelled(token: bytes) -> str:
    r"""Spell a token's bytes in letters.

    Examples:
        >>> spelled(b" caf\xc3")
        'ĠcafÃ'
    """
    return token.decode("latin-1").translate(LETTERS)


def bytes_of(spelling: str) -> bytes | None:
    r"""The bytes of a token; None if a character is not a letter for a byte.

    Examples:
        >>> bytes_of("ĠcafÃ"), bytes_of("a b")
        (b' caf\xc3', None)
    """
    try:
        return spelling.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None
