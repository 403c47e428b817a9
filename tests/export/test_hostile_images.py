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
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.commands import posix
from support.conformance.samples import SAMPLES
from support.hosts import C, FstError, Guiding, LookingUp, Rewriting, folder_of, needs_c
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL

import fst
from fst.compile.export.image import CALL, FIELD, HEADER, MAGIC, ROLE, ROLES, WORD, checksum

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
REFUSED, USED, FAILED = 10, 11, 12


class Machine(NamedTuple):
    """An export of a machine.

    Attributes:
        folder: the folder, with kernels that check each index.
        kind: the host in C.
        use: a function that uses everything that the host finds.
    """

    folder: Path
    kind: type[C]
    use: Callable[[Any], object]


def encode(host: C) -> None:
    """Encode and stream texts, and decode their ids."""
    for text in TEXTS:
        with suppress(FstError):
            host.decode(host.encode(text).tolist())
        with suppress(FstError):
            host.decode(host.encode_offsets(text)[0])
        with suppress(FstError):
            host.decode(host.stream([text]))


def rewrite(host: Rewriting) -> None:
    """Rewrite texts, without spans and with spans."""
    for text, offsets in product(TEXTS, (False, True)):
        with suppress(FstError):
            host.rewrite(text, offsets=offsets)


def look_up(host: LookingUp) -> None:
    """Look words up in both directions."""
    for text, generate in product((*TEXTS, b"a", b"ab"), (0, 1)):
        with suppress(FstError, UnicodeDecodeError):
            host.look_up(text, generate)


def guide(host: Guiding) -> None:
    """Ask for masks, steps and ends of numbers that are states, and of others."""
    for name in ("start", "size", "end_id"):
        host.ask(name)
    for state in (*range(-3, 40), 1 << 31, (1 << 63) - 1, -(1 << 63)):
        host.ask("is_final", state)
        for number in (*range(-3, 40), (1 << 31) - 1, -(1 << 31)):
            host.ask("step", state, number)
        with suppress(FstError):
            host.mask(state)


MACHINES: dict[str, tuple[type[C], Callable[[Any], object]]] = {
    "tokenizer": (C, encode),
    "mecab": (C, encode),
    "rules in a cascade": (Rewriting, rewrite),
    "best path over bytes": (Rewriting, rewrite),
    "lookup weights": (LookingUp, look_up),
    "lookup generating": (LookingUp, look_up),
    "guide of words": (Guiding, guide),
}


@pytest.fixture(scope="module", params=MACHINES)
def machine(request: pytest.FixtureRequest, english: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine with checked kernels; its host has guards around all memory."""
    folder = tmp_path_factory.mktemp("hostile")
    kind, use = MACHINES[request.param]
    if request.param == "tokenizer":
        shutil.copytree(english / "english-c", folder / "export")
    else:
        folder_of(SAMPLES[request.param].make(folder), folder / "export", checked=True)
    guard(folder / "export", kind.sources)
    return Machine(folder / "export", kind, use)


def guard(folder: Path, sources: Sequence[str]) -> None:
    """Compile the host of a folder with guards around all memory."""
    for name, text in (("guards.c", GUARDS), ("guards.h", HEADER_OF_GUARDS)):
        (folder / name).write_text(text)
    subprocess.run(["cc", "-c", "-O2", "-fPIC", "guards.c"], cwd=folder, check=True)
    host = ["-include", "guards.h", "fst.c", *sources, "fst.o", "guards.o"]
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", *host, "-o", "libfst.so"], cwd=folder, check=True)


def status(machine: Machine, host: C, image: mmap.mmap) -> int:
    """Load an image that cannot be written, and use it; return whether it was refused, as the status of a process."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(image))
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(image)), mmap.PROT_READ)
    try:
        host.table = host.load(address, len(image))
    except FstError:
        return REFUSED
    host.work = host.new_work(MOST)
    if not host.work:
        return REFUSED
    machine.use(host)
    return USED


def used(machine: Machine, host: C, data: bytes) -> int:
    """The status of a process that uses an image with a new checksum."""
    image = mmap.mmap(-1, len(data))
    image[:] = data
    struct.pack_into("<Q", image, len(MAGIC), checksum(image[:]))
    child = os.fork()
    if child == 0:
        found = FAILED
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        with suppress(Exception):
            found = status(machine, host, image)
        os._exit(found)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


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


def test_no_image_reaches_other_memory(machine: Machine) -> None:
    """An image with any change and a new checksum is refused, used, or runs until it is stopped, but never crashes a process."""
    host, data, draw = machine.kind(machine.folder, MOST), (machine.folder / "table.fst").read_bytes(), random.Random(34)
    assert used(machine, host, data) == USED
    found: Counter[int] = Counter()
    for (at, new), _ in zip(changes(data, draw), range(TRIES), strict=False):
        found[used(machine, host, data[:at] + new + data[at + len(new) :])] += 1
    assert found.keys() <= {REFUSED, USED, -signal.SIGALRM}
    assert min(found[REFUSED], found[USED]) > TRIES // 10


def test_only_working_memory_grows_and_is_written(machine: Machine) -> None:
    """An image is refused if a stored array grows with the text, or has a role of memory that the host writes."""
    host, data = machine.kind(machine.folder, MOST), (machine.folder / "table.fst").read_bytes()
    fields, words, calls, roles = struct.unpack_from("<4I", data, HEADER.size - 20)
    begin = HEADER.size + FIELD.size * fields + WORD.size * words + CALL.size * calls
    stored = [number for number in range(fields) if FIELD.unpack_from(data, HEADER.size + FIELD.size * number)[0] > 1]
    for number in stored:
        at = HEADER.size + FIELD.size * (number + 1) - 8
        assert used(machine, host, data[:at] + struct.pack("<Q", 1) + data[at + 8 :]) == REFUSED
    for role in (ROLES.index("starts"), *range(len(ROLES), roles)):
        at = begin + ROLE.size * role
        assert used(machine, host, data[:at] + ROLE.pack(stored[0] + 1) + data[at + ROLE.size :]) == REFUSED
