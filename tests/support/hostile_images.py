"""Images of exports from strangers: a machine with checked kernels, and the exit statuses of processes that use changed images.

A test process has gigabytes of memory, and each fork copies its page tables, so `statuses` runs in a process of its own.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from support.hosts import C, FstError, Guiding, LookingUp, Rewriting

from fst.compile.export.image import MAGIC, checksum

TEXTS = (b"", b"unaffable hello \xc3\xa9\xf0\x9f\x98\x80 1a", b"the quick (brown) fox " * 150, b"a" * 3000)
SECONDS, MOST = 0.5, 4096
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


def statuses(machine: Machine, changes: Iterable[tuple[int, bytes]]) -> list[int]:
    """The status of a process for each change of a machine's image: a position, and new bytes."""
    host, data = machine.kind(machine.folder, MOST), (machine.folder / "table.fst").read_bytes()
    return [used(machine, host, data[:at] + new + data[at + len(new) :]) for at, new in changes]
