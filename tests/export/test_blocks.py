"""Exports read texts in blocks: the ids and offsets are those of whole texts, and memory does not depend on the size of a text."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hosts import C, needs_c, needs_cpp, needs_node, node
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared

import fst
from fst.cli.commands.export.command import exported

pytestmark = [pytest.mark.slow, needs_shared]

BLOCK, BYTES = 1 << 14, 64  # the units of a block, and the most bytes of memory for each character
# A table whose texts are rewritten, a table in UTF-16, and a table whose texts are read in place.
SOURCES = {"t5": "vocab_unigram/t5", "bert": "vocab/bert-base-uncased", "gpt2": "vocab_bpe/gpt2"}
ACROSS = ("</s>", "[MASK]", "<|endoftext|>", "😀", "e\u0301\u0323", "\u1100\u1161\u11a8", "a\u0315\u0300\u0323", "  ", "\r\n", "don't")
# Counts the bytes that the host has allocated, and their maximum.
COUNTED = """
#include <malloc.h>
#include <stdlib.h>
size_t used_bytes, most_bytes;
void *counting(size_t count, size_t size) {
    void *memory = calloc(count, size);
    used_bytes += malloc_usable_size(memory);
    if (used_bytes > most_bytes) most_bytes = used_bytes;
    return memory;
}
void dropped(void *memory) { used_bytes -= malloc_usable_size(memory), free(memory); }
#define calloc counting
#define free dropped
"""


@pytest.fixture(scope="module", params=SOURCES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and its exports, `c` and `wasm`."""
    home = tmp_path_factory.mktemp(request.param)
    tokenizer(SHARED / SOURCES[request.param]).save(home / "table.npz")
    for kind, layout in (("c", "full"), ("wasm", "merges")):
        (home / kind).mkdir()
        for name, data in exported(home / "table.npz", [kind], layout=layout).items():
            (home / kind / name).write_bytes(data)
    return home


def texts() -> Iterator[str]:
    """Texts of about one block, texts with something at the border of two blocks, and texts without a cut."""
    draw = random.Random(50)
    lines = [line for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")[:2000]]
    for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 1):
        yield from ("a" * size, ("word " * size)[:size], " " * size)
    yield from ("a" * 300_000, "é" * 40_000, "日" * 30_000 + "a b", "x " * 3 + "a" * 50_000 + " b c")
    base = " ".join(draw.choices(lines, k=2000)).encode()
    for string in ACROSS:
        size = len(string.encode())
        for before in range(size + 1):
            yield base[: BLOCK - before].decode(errors="ignore") + string + " and " + string + base[:300].decode(errors="ignore")
    for _ in range(20):
        yield "".join(draw.choice(lines) + draw.choice(("\n", " ", "  ", "", *ACROSS)) for _ in range(400))


@needs_c
def test_c_reads_blocks(folder: Path) -> None:
    """In C, the ids of texts of several blocks, and their spans in bytes, are those of Python, also in a stream."""
    host, tok = C(folder / "c"), fst.Tokenizer.load(folder / "table.npz")
    for text in texts():
        expected = tok.encode_batch([text], offsets="bytes")
        assert expected.offsets is not None
        assert host.encode_offsets(text.encode()) == (expected.ids.tolist(), expected.offsets.tolist())
        assert host.encode(text.encode()).tolist() == host.stream([text.encode()]) == expected.ids.tolist()


@needs_node
def test_javascript_reads_blocks(folder: Path) -> None:
    """In JavaScript, the ids of texts of several blocks, and their spans in units of UTF-16, are those of Python, also in a stream."""
    tok, given = fst.Tokenizer.load(folder / "table.npz"), [*texts()]
    answers = iter(node(folder / "wasm", [[method, text] for text in given for method in ("encodeWithOffsets", "count")]))
    streams = node(folder / "wasm", [["stream", [text]] for text in given])
    for text, stream in zip(given, streams, strict=True):
        expected = tok.encode_batch([text], offsets=True)
        assert expected.offsets is not None
        places = [0]
        for character in text:
            places.append(places[-1] + 1 + (character > "\uffff"))
        ids, offsets = expected.ids.tolist(), [places[place] for place in expected.offsets.ravel().tolist()]
        assert next(answers) == {"ids": ids, "offsets": offsets}
        assert next(answers) == len(ids)
        assert [number for part in stream for number in part] == ids


@needs_cpp
def test_hosts_are_cpp(folder: Path) -> None:
    """The files of C compile as C++ without warnings."""
    warnings = "-Wall", "-Wextra", "-Werror", "-std=c++17"
    subprocess.run(["c++", "-O2", *warnings, "-x", "c++", "-fsyntax-only", "fst.c", "example.c"], cwd=folder / "c", check=True)


@needs_c
def test_memory_does_not_grow_with_texts(folder: Path, tmp_path: Path) -> None:
    """A text of a million characters with offsets takes at most `BYTES` of memory for each character, and its stream allocates nothing."""
    (tmp_path / "counted.h").write_text(COUNTED)
    command = ["cc", "-O2", "-shared", "-fPIC", "-include", f"{tmp_path}/counted.h", "fst.c", "fst.o", "-o", f"{tmp_path}/libfst.so"]
    subprocess.run(command, cwd=folder / "c", check=True)
    (tmp_path / "table.fst").symlink_to(folder / "c" / "table.fst")
    host, text = C(tmp_path), (SHARED / "corpora" / "en_books_20MB.txt").read_text(encoding="utf-8")[:1_040_000].encode()
    most = _number(host, "most_bytes")
    stream = host.stream([text[at : at + 1000] for at in range(0, len(text), 1000)])
    assert _number(host, "most_bytes") == most
    ids, offsets = host.encode_offsets(text)
    assert stream == ids
    assert len(offsets) == len(ids)
    assert _number(host, "most_bytes") < BYTES * len(text)


def _number(host: C, name: str) -> int:
    """The value of a variable of `COUNTED`."""
    return ctypes.c_size_t.in_dll(host.library, name).value
