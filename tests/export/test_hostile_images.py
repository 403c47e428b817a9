"""Images from strangers: if an object checks each index, no image makes it read or write other memory."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import posix
from support.hosts import C, needs_c
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL

import fst
from fst.compile.export.image import CALL, FIELD, HEADER, MAGIC, ROLE, WORD, checksum

pytestmark = [pytest.mark.slow, needs_c, posix]

# Memory between pages that no program may touch; it is never freed.
GUARDS = """
#include <stdint.h>
#include <sys/mman.h>
void *guarded(uint64_t count, uint64_t size) {
    uint64_t used = (count * size + 15) / 16 * 16, pages = (used + 4095) / 4096 * 4096;
    char *at = mmap(0, pages + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED || mprotect(at + 4096, pages, PROT_READ | PROT_WRITE) ? 0 : at + 4096 + pages - used;
}
"""
HEADER_OF_GUARDS = """
#include <stdint.h>
#include <stdlib.h>
void *guarded(uint64_t, uint64_t);
#define calloc guarded
#define free(memory) ((void)(memory))
"""
TEXTS = (b"", b"unaffable hello \xc3\xa9\xf0\x9f\x98\x80 1a", b"the quick (brown) fox " * 150, b"a" * 3000)
TRIES, SECONDS, MOST = 150 if ALL else 60, 0.5, 4096
REFUSED, ENCODED = 10, 11


class Guarded(C):
    """The C host with an image that cannot be written, and with guards around all memory."""

    def __init__(self, folder: Path, build: Path) -> None:
        for name, text in (("guards.c", GUARDS), ("guards.h", HEADER_OF_GUARDS)):
            (build / name).write_text(text)
        subprocess.run(["cc", "-c", "-O2", "-fPIC", "guards.c"], cwd=build, check=True)
        host: list[str | Path] = ["-include", "guards.h", folder / "fst.c", folder / "fst.o", "guards.o"]
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", *host, "-o", "libfst.so"], cwd=build, check=True)
        shutil.copy(folder / "table.fst", build)
        super().__init__(build, MOST)

    def use(self, image: mmap.mmap) -> int:
        """Load an image, encode and stream texts, and decode ids; return whether it was refused, as the status of a process."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(image))
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(image)), mmap.PROT_READ)
        error, ids, out = ctypes.c_int(0), ctypes.POINTER(ctypes.c_int32)(), ctypes.create_string_buffer(1 << 16)
        table = self.library.fst_load(ctypes.c_void_p(address), ctypes.c_size_t(len(image)), ctypes.byref(error))
        work = self.library.fst_work_new(ctypes.c_void_p(table), ctypes.c_size_t(MOST)) if table else None
        if not work:
            return REFUSED
        for text in TEXTS:
            calls = (self.library.fst_encode, ()), (self.library.fst_encode_offsets, (None,)), (self.library.fst_stream_push, ())
            for encode, more in calls:
                count = encode(ctypes.c_void_p(work), text, ctypes.c_size_t(len(text)), ctypes.byref(ids), *more)
                if count > 0:
                    self.library.fst_decode(ctypes.c_void_p(table), ids, ctypes.c_size_t(count), 0, out, ctypes.c_size_t(len(out)))
        return ENCODED


def changes(data: bytes, draw: random.Random) -> Iterator[tuple[int, bytes]]:
    """Changes of an image: a position, and new bytes. Half of the changes are in the image's tables, and half in its arrays."""
    fields, words, calls, roles = struct.unpack_from("<4I", data, HEADER.size - 20)
    places, arrays, at = list[tuple[int, int]](), list[tuple[int, int]](), HEADER.size
    for count, of in ((fields, FIELD), (words, WORD), (calls, CALL), (roles, ROLE)):
        places += [(at + of.size * index, of.size) for index in range(count)]
        at += of.size * count
    for place, size, _ in (FIELD.unpack_from(data, HEADER.size + FIELD.size * index) for index in range(fields)):
        arrays += [(place, size)] * (place > 1 and size > 0)
    while True:
        at, size = draw.choice(draw.choice((places, arrays)))
        if draw.random() < 0.5:  # one number
            width = draw.choice([width for width in (1, 2, 4, 8) if width <= size])
            end = 1 << 8 * width
            number = draw.choice((0, 1, fields, words, end >> 1, end - 1, draw.randrange(end)))
            yield at + draw.randrange(size // width) * width, (number % end).to_bytes(width, "little")
        else:  # many bytes
            begin = draw.randrange(size)
            length = min(size - begin, draw.choice((8, 64, 4096, size)))
            yield at + begin, draw.choice((bytes(length), b"\xff" * length, b"\x7f" * length, draw.randbytes(length)))


@needs_shared
def test_checked_objects_have_the_ids_of_python(english: Path) -> None:
    """Kernels that check each index give the same ids as Python."""
    tok, host = fst.Tokenizer.load(english / "english.npz"), C(english / "english-c")
    texts = [line for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")[:200]]
    for text, ids in zip(texts, tok.encode_batch(texts), strict=True):
        assert host.encode(text.encode()).tolist() == ids.tolist()


def test_no_image_reaches_other_memory(english: Path, tmp_path: Path) -> None:
    """An image with any change and a new checksum is refused, encodes texts, or runs until it is stopped, but never crashes a process."""
    host, data, draw = Guarded(english / "english-c", tmp_path), (english / "english-c" / "table.fst").read_bytes(), random.Random(34)
    found: Counter[int] = Counter()
    for (at, new), _ in zip(changes(data, draw), range(TRIES), strict=False):
        image = mmap.mmap(-1, len(data))
        image[:] = data
        image[at : at + len(new)] = new
        struct.pack_into("<Q", image, len(MAGIC), checksum(image[:]))
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            os._exit(host.use(image))
        found[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])] += 1
    assert found.keys() <= {REFUSED, ENCODED, -signal.SIGALRM}
    assert min(found[REFUSED], found[ENCODED]) > TRIES // 10
