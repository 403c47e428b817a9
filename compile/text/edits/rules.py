"""The normalization rules of SentencePiece, as charsmaps; ``spm_train`` calls them ``normalization_rule_name``.

``nfkc.xz`` contains the charsmap of the rule nfkc in `sentencepiece` 0.2.3, from Unicode 17, packed; the other rules are derived from it.
``python -m support.text.generate_rules``, in ``tests``, writes this file.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import numpy as np

from fst.automata.double_array import VALUE, read
from fst.compile.text.characters import reference
from fst.compile.text.edits.double_arrays import charsmap

IDENTITY, CASE_FOLDING = "identity", "_cf"
RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", IDENTITY)  # the first is the default of ``spm_train``
# Where Nmt of SentencePiece differs from Nmt of `tokenizers`: it keeps the zero-width joiner, and replaces the Arabic letter mark.
NMT = {"\u200d": None, "\u061c": " "}
FULLWIDTH_TILDE = "\uff5e"  # nmt_nfkc keeps this character
# Simple case folding where it is not the lower case of ``characters.tsv``: a run, and the character for its first character; the others
# follow. Cherokee letters are folded to capitals, and U+0130 is not folded.
FOLDED = """\
130=130 345=3B9 3C2=3C3 13A0-13F5=13A0 13F8-13FD=13F0 1C80=432 1C81=434 1C82=43E 1C83-1C84=441 1C85=442 1C86=44A 1C87=463 1C88=A64B
AB70-ABBF=13A0
"""


@cache
def of_rule(name: str) -> bytes:
    """The charsmap of a rule, one of `RULES`; empty for "identity".

    The charsmap may contain a character that a rule does not change, with itself as its text.

    Examples:
        >>> read(of_rule("nmt_nfkc_cf")).text(next(read(of_rule("nmt_nfkc_cf")).prefixes("Ａ".encode()))[1])
        'a'
    """
    if name == IDENTITY:
        return b""
    data = lzma.decompress(files("fst.compile.text.edits").joinpath("nfkc.xz").read_bytes())
    more = dict[str, str]()
    if name.endswith(CASE_FOLDING):
        known = read(data).characters
        replaced = {*known.codes[known.values >= 0].tolist()}
        data, more = _with_texts_folded(data), {char: image for char, image in _folds().items() if ord(char) not in replaced}
    if name.startswith("nmt"):
        more |= _nmt()
    return charsmap(more, read(data), keeps_longer=True) if more else data


def _nmt() -> dict[str, str]:
    """The characters that only the rules with "nmt" replace or keep."""
    own = zip(reference.nmt().sources.tolist(), reference.nmt().images[:, 0].tolist(), strict=True)
    images = {chr(code): " " if image == ord(" ") else "" for code, image in own}
    changed = {**images, **NMT, FULLWIDTH_TILDE: FULLWIDTH_TILDE}
    return {char: image for char, image in changed.items() if image is not None}


@cache
def _folds() -> dict[str, str]:
    """The simple case folding of each character that has one."""
    lower = reference.lower()
    images = {chr(code): chr(image) for code, image in zip(lower.sources.tolist(), lower.images[:, 0].tolist(), strict=True)}
    return {char: image for char, image in {**images, **dict(_runs(FOLDED))}.items() if char != image}


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """The characters of runs, and their images."""
    for run in text.split():
        chars, image = run.split("=")
        first, _, last = chars.partition("-")
        for place in range(int(last or first, 16) - int(first, 16) + 1):
            yield chr(int(first, 16) + place), chr(int(image, 16) + place)


def _with_texts_folded(data: bytes) -> bytes:
    """A charsmap in which each replacement text is folded."""
    size = int.from_bytes(data[:4], "little")
    units, texts = np.frombuffer(data, "<u4", size // 4, 4).copy(), data[4 + size :]
    places, folded = np.zeros(len(texts) + 1, np.uint32), bytearray()
    at = 0
    for text in texts[:-1].split(b"\0"):
        places[at] = len(folded)
        folded += text.decode().translate(_table()).encode() + b"\0"
        at += len(text) + 1
    are_values = units >= VALUE
    units[are_values] = VALUE | places[units[are_values] & VALUE - 1]
    return data[:4] + units.tobytes() + bytes(folded)


@cache
def _table() -> dict[int, str]:
    return str.maketrans(_folds())
