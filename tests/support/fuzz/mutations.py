"""Random changes of files: of bytes, of numbers and tokens in text, and of values in JSON."""

from __future__ import annotations

import json
import re
from random import Random

from support.tables.forging import changed

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"255",
    b"256",
    b"65536",
    b"2147483648",
    b"-2147483649",
    b"18446744073709551616",
    b"1e999",
    b"nan",
    b"1.5",
    b"",
)
PIECES = (
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    "é世😀".encode(),
    b"<",
    b"{",
    b"[",
    b"(",
    b'"',
    b"\\",
    b"*",
    b"{9999}",
)


def mutated(data: bytes, draw: Random, other: bytes) -> bytes:
    """Change a file in one to four places; a file of JSON is more often changed in one value."""
    if data[:1] in b"{[" and draw.random() < 0.6:
        try:
            return json.dumps(changed(json.loads(data), draw)).encode()
        except (ValueError, RecursionError):
            pass
    for _ in range(draw.choice((1, 1, 2, 4))):
        data = draw.choice((_number, _number, _byte, _cut, _repeated, _inserted, _spliced, _lines))(data, draw, other)
    return data


def _number(data: bytes, draw: Random, other: bytes) -> bytes:
    """Change one decimal number."""
    found = [*NUMBER.finditer(data)]
    if not found:
        return _byte(data, draw, other)
    place, new = draw.choice(found), draw.choice((*NUMBERS, b"%d" % draw.randrange(1000)))
    return data[: place.start()] + new + data[place.end() :]


def _byte(data: bytes, draw: Random, _: bytes) -> bytes:
    """Change one byte."""
    if not data:
        return bytes([draw.randrange(256)])
    place = draw.randrange(len(data))
    new = draw.choice((data[place] ^ 1 << draw.randrange(8), draw.randrange(256), 0, 255))
    return data[:place] + bytes([new]) + data[place + 1 :]


def _part(data: bytes, draw: Random) -> tuple[int, int]:
    """Draw the ends of a part, which is usually short."""
    begin = draw.randrange(len(data) + 1)
    return begin, min(len(data), begin + draw.choice((1, 2, 4, 8, 32, len(data))))


def _cut(data: bytes, draw: Random, _: bytes) -> bytes:
    """Remove a part."""
    begin, end = _part(data, draw)
    return data[:begin] + data[end:]


def _repeated(data: bytes, draw: Random, _: bytes) -> bytes:
    """Repeat a part up to 40 times, or copy it to another place."""
    begin, end = _part(data, draw)
    place = draw.choice((end, draw.randrange(len(data) + 1)))
    return data[:place] + data[begin:end] * draw.choice((1, 1, 2, 40 if end - begin < 64 else 1)) + data[place:]


def _inserted(data: bytes, draw: Random, _: bytes) -> bytes:
    """Insert a character that has a meaning in some format, or malformed UTF-8."""
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.choice(PIECES) + data[place:]


def _spliced(data: bytes, draw: Random, other: bytes) -> bytes:
    """Insert a part of another file."""
    (begin, end), place = _part(other, draw), draw.randrange(len(data) + 1)
    return data[:place] + other[begin:end] + data[place:]


def _lines(data: bytes, draw: Random, _: bytes) -> bytes:
    """Swap two lines, or remove one."""
    lines = data.split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    if first == second:
        del lines[first]
    else:
        lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)
