"""Generate ``newer.tsv``: what Unicode 16.0 adds to the decompositions of ``characters.tsv``, which are those of Unicode 9.0.

Python's `unicodedata` has Unicode 16.0 from version 3.14 on; `unicodedata2` has it for every version of Python::

    cd tests && pip install unicodedata2==16.0.0 && python -m support.text.generate_newer > ../compile/text/characters/newer.tsv
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from typing import Any

from support.text.every_character import EVERY_CHARACTER

from fst.compile.text.characters.maps import Map
from fst.compile.text.compositions import step_of

HEADER = """\
# What Unicode {version} adds to characters.tsv; made by tests/support/text/generate_newer.py.
# property, first and last code point (hexadecimal), value.
#   compatible   its compatibility decomposition (hexadecimal)
#   pair         the two characters that compose to it (hexadecimal)
#   order        of a mark: its canonical combining class; for all marks
"""


def lines(unicode: Any) -> Iterator[tuple[str, int, int, str]]:
    """The lines of the file. `unicode`: a module like `unicodedata`."""
    known = step_of(Map.identity(), "NFKC")
    pairs = {whole: pair for pair, whole in known.pairs.items()}
    for char in EVERY_CHARACTER:
        code, parts = ord(char), [*map(ord, unicode.normalize("NFKD", char))]
        if parts != [*known.decompositions.get(code, [code])] and not 0xAC00 <= code < 0xAC00 + 11172:
            yield "compatible", code, code, _spelled(parts)
        pair = unicode.decomposition(char).split()
        if len(pair) == 2 and not pair[0].startswith("<") and unicode.normalize("NFC", char) == char and code not in pairs:
            yield "pair", code, code, " ".join(pair)
    marks = ((ord(char), unicode.combining(char)) for char in EVERY_CHARACTER if unicode.combining(char))
    for (_, order), run in groupby(enumerate(marks), lambda each: (each[1][0] - each[0], each[1][1])):
        codes = [code for _, (code, _) in run]
        yield "order", codes[0], codes[-1], str(order)


def _spelled(codes: list[int]) -> str:
    return " ".join(f"{code:X}" for code in codes)


if __name__ == "__main__":
    newer = import_module("unicodedata2")
    print(HEADER.format(version=newer.unidata_version), end="")
    for name, first, last, value in lines(newer):
        print(name, f"{first:X}", f"{last:X}", value, sep="\t")
