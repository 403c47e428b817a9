"""Write the compiled files of a small dictionary of MeCab, as ``mecab-dict-index`` does, from its source files."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

MAGIC = 0xEF718F77
Word = tuple[str, int, int, int, str]


def written_compiled(folder: Path, files: Mapping[str, str], charset: str = "utf-8") -> Path:
    """Write the compiled files of a dictionary to a folder, and return the folder. `files`: the sources by name."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes, *costs = files["matrix.def"].splitlines()
    rights, lefts = map(int, sizes.split())
    matrix = [0] * (rights * lefts)
    for line in costs:
        right, left, cost = map(int, line.split())
        matrix[right + rights * left] = cost
    words = [word for name in sorted(files) if name.endswith(".csv") for word in _words(files[name])]
    contents = {
        "matrix.bin": struct.pack(f"<2H{len(matrix)}h", rights, lefts, *matrix),
        "char.bin": _characters(files["char.def"]),
        "sys.dic": _dictionary(words, 0, (lefts, rights), charset),
        "unk.dic": _dictionary(_words(files["unk.def"]), 2, (lefts, rights), charset),
        "dicrc": files.get("dicrc", "").encode(),
        "mecabrc": b"",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


def _words(lines: str) -> list[Word]:
    rows = (line.split(",", 4) for line in lines.splitlines())
    return [(surface, int(left), int(right), int(cost), features) for surface, left, right, cost, features in rows]


def _characters(lines: str) -> bytes:
    """The content of ``char.bin``."""
    categories, kinds = dict[str, tuple[int, int, int]](), list[int]()
    ranges = list[tuple[int, int, list[str]]]()
    for line in lines.splitlines():
        first, *others = line.partition("#")[0].split()
        if first.startswith("0x"):
            low, _, high = first.partition("..")
            ranges.append((int(low, 16), int(high or low, 16), others))
        else:
            categories[first] = (int(others[0]), int(others[1]), int(others[2]))
    names = [*categories]

    def packed(own: Sequence[str]) -> int:
        invoke, group, length = categories[own[0]]
        bits = sum({1 << names.index(name) for name in own})
        return bits | names.index(own[0]) << 18 | length << 26 | group << 30 | invoke << 31

    kinds = [packed(["DEFAULT"])] * 0xFFFF
    for low_code, high_code, own in ranges:
        kinds[low_code : high_code + 1] = [packed(own)] * (high_code + 1 - low_code)
    return struct.pack("<I", len(names)) + b"".join(name.encode().ljust(32, b"\0") for name in names) + struct.pack("<65535I", *kinds)


def _dictionary(words: Sequence[Word], kind: int, shape: tuple[int, int], charset: str) -> bytes:
    """The content of ``sys.dic`` or ``unk.dic``. Tokens are in the order of their surfaces, and then of the sources."""
    ordered = sorted(words, key=lambda word: word[0].encode(charset))
    features, tokens, values = bytearray(), bytearray(), dict[bytes, int]()
    for number, (surface, left, right, cost, feature) in enumerate(ordered):
        tokens += struct.pack("<3HhII", left, right, 0, cost, len(features), 0)
        features += feature.encode(charset) + b"\0"
        key = surface.encode(charset)
        first, count = divmod(values.get(key, number << 8), 1 << 8)
        values[key] = first << 8 | count + 1
    slots = _double_array(values)
    body = slots + bytes(tokens) + bytes(features)
    sizes = len(slots), len(tokens), len(features)
    head = struct.pack("<10I", (72 + len(body)) ^ MAGIC, 102, kind, len(words), *shape, *sizes, 0)
    return head + charset.encode().ljust(32, b"\0") + body


def _double_array(values: Mapping[bytes, int]) -> bytes:
    """A double array: each state takes the first place at which all of its slots are free."""
    base, check, taken = {0: 1}, dict[int, int](), {0}
    used = set[int]()

    def place(slot: int, prefix: bytes) -> None:
        labels = sorted({key[len(prefix)] + 1 if len(key) > len(prefix) else 0 for key in values if key.startswith(prefix)})
        state = next(at for at in range(1, 1 << 16) if at not in used and taken.isdisjoint(at + label for label in labels))
        used.add(state)
        base[slot] = state
        for label in labels:
            taken.add(state + label)
            check[state + label] = state
        for label in labels:
            if label:
                place(state + label, prefix + bytes([label - 1]))
            else:
                base[state] = -values[prefix] - 1

    place(0, b"")
    size = max(taken) + 257
    return b"".join(struct.pack("<iI", base.get(at, 0), check.get(at, 0)) for at in range(size))
