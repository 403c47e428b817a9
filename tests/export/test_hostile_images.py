"""Images from strangers: if an object checks each index, no image makes it read or write other memory."""

from __future__ import annotations

import random
import shutil
import signal
import struct
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pytest
from support.commands import posix
from support.conformance.samples import SAMPLES
from support.hostile_images import MACHINES, REFUSED, USED, Machine, statuses
from support.hosts import C, folder_of, needs_c
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL

import fst
from fst.compile.export.image import CALL, FIELD, HEADER, ROLE, ROLES, WORD

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
TRIES = 150 if ALL else 60


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


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """One process that shares no memory with this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        yield executor


def guard(folder: Path, sources: Sequence[str]) -> None:
    """Compile the host of a folder with guards around all memory."""
    for name, text in (("guards.c", GUARDS), ("guards.h", HEADER_OF_GUARDS)):
        (folder / name).write_text(text)
    subprocess.run(["cc", "-c", "-O2", "-fPIC", "guards.c"], cwd=folder, check=True)
    host = ["-include", "guards.h", "fst.c", *sources, "fst.o", "guards.o"]
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", *host, "-o", "libfst.so"], cwd=folder, check=True)


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


def test_no_image_reaches_other_memory(machine: Machine, processes: Executor) -> None:
    """An image with any change and a new checksum is refused, used, or runs until it is stopped, but never crashes a process."""
    data, draw = (machine.folder / "table.fst").read_bytes(), random.Random(34)
    tries = [(0, b""), *islice(changes(data, draw), TRIES)]
    unchanged, *found = processes.submit(statuses, machine, tries).result()
    assert unchanged == USED
    assert {*found} <= {REFUSED, USED, -signal.SIGALRM}
    assert min(found.count(REFUSED), found.count(USED)) > TRIES // 10


def test_only_working_memory_grows_and_is_written(machine: Machine, processes: Executor) -> None:
    """An image is refused if a stored array grows with the text, or has a role of memory that the host writes."""
    data = (machine.folder / "table.fst").read_bytes()
    fields, words, calls, roles = struct.unpack_from("<4I", data, HEADER.size - 20)
    begin = HEADER.size + FIELD.size * fields + WORD.size * words + CALL.size * calls
    stored = [number for number in range(fields) if FIELD.unpack_from(data, HEADER.size + FIELD.size * number)[0] > 1]
    grows = [(HEADER.size + FIELD.size * (number + 1) - 8, struct.pack("<Q", 1)) for number in stored]
    written = [(begin + ROLE.size * role, ROLE.pack(stored[0] + 1)) for role in (ROLES.index("starts"), *range(len(ROLES), roles))]
    assert {*processes.submit(statuses, machine, grows + written).result()} == {REFUSED}
