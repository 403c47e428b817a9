"""Read a folder of MeCab's compiled dictionary, as packages such as `ipadic` and `unidic-lite` contain it: ``sys.dic``, ``unk.dic``,
``matrix.bin``, ``char.bin`` and perhaps ``dicrc``.

The files are those of ``mecab-dict-index``, version 102 of the format, in little-endian byte order. They are not trusted: every offset is
checked before it is used.

A file of words contains a double array of surfaces in bytes, whose values are ``first token << 8 | number of tokens``; the tokens, with
left id, right id, cost and the offset of the features; and the features, each with a zero byte at its end. From a state ``b``, byte ``c``
leads to slot ``b + 1 + c``, and the value of a surface is in slot ``b``; the field `check` of both slots is ``b``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Ints
from fst.compile.machines.segmentation.mecab import DEFAULT, MAX_FILE_BYTES, SPACE, Categories, Entries, need_encoding
from fst.core import regular_files
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.segmentation.mecab import CATEGORIES, FIRST_SHIFT, MAX_CHARACTERS, MAX_KINDS, Kind

WORDS, UNKNOWNS, MATRIX, CHARACTERS = "sys.dic", "unk.dic", "matrix.bin", "char.bin"
MAGIC, VERSION = 0xEF718F77, 102
HEADER, CHARSET, NAME = 40, 32, 32  # numbers of bytes: of the numbers before a charset, of a charset, and of a category's name
CODES = 0xFFFF  # number of characters in char.bin
MAX_KEY = 1 << 10  # maximum number of bytes of a surface
MAX_TEXT = MAX_FILE_BYTES  # maximum number of bytes of all surfaces, and of all features; words of a damaged file may share bytes
COUNT_BITS = 8  # number of low bits of a value that contain the number of tokens
SLOT = np.dtype([("base", "<i4"), ("check", "<u4")])
TOKEN = np.dtype([("left", "<u2"), ("right", "<u2"), ("tag", "<u2"), ("cost", "<i2"), ("feature", "<u4"), ("compound", "<u4")])
SIZES = "its sections do not fit into the file"


class Keys(NamedTuple):
    """The strings of a double array.

    Attributes:
        strings: the strings, ordered by their values.
        values: int64[strings], ascending.
    """

    strings: list[bytes]
    values: Ints


def is_compiled(folder: Path) -> bool:
    """Whether a folder contains a compiled dictionary."""
    return (folder / WORDS).is_file()


def read_compiled_matrix(path: Path) -> NDArray[np.int16]:
    """Read ``matrix.bin``; the result is as that of `fst.compile.machines.segmentation.mecab.read_matrix`."""
    data = _contents(path)
    if len(data) < 4:
        raise _damaged(path, "it has no header")
    rights, lefts = np.frombuffer(data, "<u2", 2).astype(np.int64).tolist()
    if not rights or not lefts or len(data) != 4 + 2 * rights * lefts:
        raise _damaged(path, f"it has {len(data)} bytes for {rights} × {lefts} costs")
    return np.frombuffer(data, "<i2", offset=4).astype(np.int16).reshape(lefts, rights)


def read_compiled_categories(path: Path, *, skip_spaces: bool) -> Categories:
    """Read ``char.bin``. U+FFFF, for which the file has no element, belongs to no category, as in MeCab."""
    data = _contents(path)
    count = int.from_bytes(data[:4], "little")
    if not 0 < count <= CATEGORIES or len(data) != 4 + NAME * count + 4 * CODES:
        raise _damaged(path, f"it has {len(data)} bytes for {count} categories")
    names = [data[4 + NAME * at : 4 + NAME * (at + 1)].split(b"\0")[0].decode("utf-8", "replace") for at in range(count)]
    for name in (DEFAULT, SPACE):
        if name not in names:
            raise _damaged(path, f"the category {name} is not defined")
    found = np.append(np.frombuffer(data, "<u4", CODES, 4 + NAME * count), np.uint32(0)).astype(np.int64)
    kinds, kind_of = np.unique(found, return_inverse=True)
    if len(kinds) > MAX_KINDS or np.any((kinds >> FIRST_SHIFT & 0xFF) >= count):
        raise _damaged(path, "a character has a category that is not defined")
    bits = kinds & (1 << CATEGORIES) - 1
    spaces = int(bits[kind_of[ord(" ")]]) if skip_spaces else 0
    shared = (bits & spaces > 0) & (bits != spaces)
    if np.any(shared):
        raise UnsupportedError(f"{path}: a character has the category {SPACE} and others; a space can have no other category")
    kind_of[0xD800:0xE000] = kind_of[0]  # MeCab reads characters beyond U+FFFF as U+0000
    return Categories(names, [_kind(number, spaces) for number in kinds.tolist()], kind_of.astype(np.int64))


def _kind(number: int, spaces: int) -> Kind:
    """The kind of characters with an element of ``char.bin``: categories 18 bits, first category 8, length 4, group 1, invoke 1."""
    categories, first = number & (1 << CATEGORIES) - 1, number >> FIRST_SHIFT & 0xFF
    return Kind(categories, first, number >> 26 & MAX_CHARACTERS, bool(number >> 30 & 1), bool(number >> 31), bool(categories & spaces))


def read_compiled_words(path: Path, encoding: str | None, shape: tuple[int, int], *, with_features: bool) -> Entries:
    """Read ``sys.dic`` or ``unk.dic``.

    Args:
        path: the file.
        encoding: the encoding of surfaces and features; None: the charset that the file names.
        shape: the numbers of left ids and of right ids.
        with_features: whether to read features; otherwise, they are empty.
    """
    data = _contents(path)
    slots, tokens, features, charset = _sections(path, data)
    named = encoding or charset
    need_encoding(named, path)
    keys = _keys(path, slots)
    firsts, counts = keys.values >> COUNT_BITS, keys.values & (1 << COUNT_BITS) - 1
    if np.any(firsts + counts > len(tokens)) or np.any(firsts[1:] < (firsts + counts)[:-1]):
        raise _damaged(path, "a surface has tokens that do not exist, or that another surface has")
    places = np.repeat(firsts, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    own = tokens[places]
    lefts, rights = shape
    if np.any(own["left"] >= lefts) or np.any(own["right"] >= rights):
        raise _damaged(path, f"a word has ids past the last; the matrix has {lefts} left and {rights} right ids")
    try:
        decoded = [key.decode(named) for key in keys.strings]
        listed = _features(path, features, own["feature"], named) if with_features else [""] * len(own)
    except UnicodeError:
        raise VocabularyError(f"{path}: a word is not {named}; pass encoding= of the dictionary") from None
    surfaces = [surface for surface, count in zip(decoded, counts.tolist(), strict=True) for _ in range(count)]
    return Entries(surfaces, own["left"].tolist(), own["right"].tolist(), own["cost"].tolist(), listed)


def _sections(path: Path, data: bytes) -> tuple[NDArray[np.void], NDArray[np.void], bytes, str]:
    """The double array, the tokens, the features and the charset of a file."""
    if len(data) < HEADER + CHARSET:
        raise _damaged(path, "it has no header")
    magic, version, *_, array_size, tokens_size, features_size, _ = np.frombuffer(data, "<u4", HEADER // 4).tolist()
    if magic ^ MAGIC != len(data):
        raise _damaged(path, "its first number does not fit the number of its bytes")
    if version != VERSION:
        remedy = "compile the dictionary with MeCab 0.996"
        raise UnsupportedError(f"{path}: the version of the format is {version}; expected {VERSION}; {remedy}")
    begin = HEADER + CHARSET
    if begin + array_size + tokens_size + features_size != len(data) or array_size % SLOT.itemsize or tokens_size % TOKEN.itemsize:
        raise _damaged(path, SIZES)
    slots = np.frombuffer(data, SLOT, array_size // SLOT.itemsize, begin)
    tokens = np.frombuffer(data, TOKEN, tokens_size // TOKEN.itemsize, begin + array_size)
    return slots, tokens, data[begin + array_size + tokens_size :], data[HEADER:begin].split(b"\0")[0].decode("ascii", "replace")


def _features(path: Path, features: bytes, offsets: NDArray[np.uint32], encoding: str) -> list[str]:
    """The features at offsets."""
    if not features.endswith(b"\0") or np.any(offsets >= len(features)):
        raise _damaged(path, "a word has features that do not exist")
    zeros = np.flatnonzero(np.frombuffer(features, np.uint8) == 0)
    ends = zeros[np.searchsorted(zeros, offsets)]
    if int((ends - offsets).sum()) > MAX_TEXT:
        raise _damaged(path, f"its features have more than {MAX_TEXT >> 20:,} MiB")
    return [features[at:end].decode(encoding) for at, end in zip(offsets.tolist(), ends.tolist(), strict=True)]


def _keys(path: Path, slots: NDArray[np.void]) -> Keys:
    """All strings of a double array, level by level. Each slot belongs to at most one state, so each slot is read at most once."""
    if not len(slots):
        raise _damaged(path, SIZES)
    base, check = slots["base"].astype(np.int64), slots["check"].astype(np.int64)
    order = np.argsort(check, kind="stable")
    checks = check[order]
    states, nodes = base[:1], np.zeros(1, np.int64)  # the states of a level, and the node of each
    above, labels, left = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], len(slots)
    found: list[tuple[int, Ints, Ints]] = []  # depth, nodes and values of the strings that end at a level
    count, spelled = 1, 0
    for depth in range(MAX_KEY + 1):
        begins, ends = np.searchsorted(checks, states), np.searchsorted(checks, states, "right")
        sizes = np.where(states > 0, ends - begins, 0)
        left -= int(sizes.sum())
        if left < 0:
            raise _damaged(path, "two states of its double array share a slot")
        at = order[np.repeat(begins, sizes) + np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)]
        label, parents = at - np.repeat(states, sizes) - 1, np.repeat(nodes, sizes)
        if np.any((label < -1) | (label > 0xFF)) or np.any((base[at] < 0) != (label == -1)):
            raise _damaged(path, "its double array has a slot that belongs to no state")
        is_end = label == -1
        found.append((depth, parents[is_end], -base[at[is_end]] - 1))
        spelled += depth * int(np.count_nonzero(is_end))
        if spelled > MAX_TEXT:
            raise _damaged(path, f"its surfaces have more than {MAX_TEXT >> 20:,} MiB")
        states, nodes = base[at[~is_end]], count + np.arange(np.count_nonzero(~is_end))
        above.append(parents[~is_end])
        labels.append(label[~is_end])
        count += len(nodes)
        if not len(states):
            return _spelled(found, np.concatenate(above), np.concatenate(labels))
    raise _damaged(path, f"a surface has more than {MAX_KEY:,} bytes")


def _spelled(found: list[tuple[int, Ints, Ints]], above: Ints, labels: Ints) -> Keys:
    """Spell the strings that end at nodes, from the node above each node and the label between the two."""
    strings, values = list[bytes](), [np.zeros(0, np.int64)]
    for depth, nodes, own in found:
        letters = np.empty((len(nodes), depth), np.uint8)
        for place in range(depth - 1, -1, -1):
            letters[:, place], nodes = labels[nodes], above[nodes]
        data = letters.tobytes()
        strings += [data[at * depth : (at + 1) * depth] for at in range(len(own))] if depth else []
        values += [own] if depth else []
    joined = np.concatenate(values)
    order = np.argsort(joined, kind="stable")
    return Keys([strings[at] for at in order.tolist()], joined[order])


def _contents(path: Path) -> bytes:
    if not path.exists():
        expected = f"the folder of a compiled dictionary of MeCab: {WORDS}, {UNKNOWNS}, {MATRIX} and {CHARACTERS}"
        raise VocabularyError(f"{path} is missing; expected {expected}")
    return regular_files.contents(path, MAX_FILE_BYTES, VocabularyError)


def _damaged(path: Path, why: str) -> VocabularyError:
    return VocabularyError(f"{path} is not a file of MeCab's compiled dictionary: {why}; compile it with mecab-dict-index again")
