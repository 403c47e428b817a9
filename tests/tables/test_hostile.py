"""Files that are not tables, damaged files, and files forged to do harm.

For any file, `fst.load` gives a tokenizer that is safe to use, or raises: `OSError` if nothing can be read, else `TableError`.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.kept import wordpiece
from support.tiers import examples, sample

import fst
from fst.automata.rows import (
    CONTINUES_RUN,
    ENTRY,
    FAIL,
    FINISH,
    HAS_MARKS,
    HOLE,
    LAST_OUTPUT,
    LIST,
    MANY,
    MAX_NEXT,
    MAX_OUTPUT,
    NONE,
    ONE,
    OTHER,
    ROOT,
    STARTS_SPECIAL,
    Array,
    field_kind,
    field_output,
    pack,
)
from fst.machines.wordpiece.table import Tables, Walk
from fst.registry import MACHINES, load
from fst.tables import npz
from fst.tables.proof import Tokens
from fst.text.added_tokens import MAX_CONTEXTUAL
from fst.text.composition import Composition, Images

KNOWN = ", ".join(map(repr, MACHINES))  # kinds of tables
# Failure links that emit one token and several, and special tokens of more than one byte a character.
TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz", "b", "un", "##aff", "##able", "##é", ".",
    "é", "世", "½", "««é»", "##e", "##t", "##tt", "tttt", "##1",
]  # fmt: skip
UNKNOWN = "««é»"
TEXTS = (
    "abcdx abcdz abcd abcdy unaffable. tttt ttttttt",
    "[MASK]««é»é «««é»» [CLS ab[SEP]un\x00affable",
    "Äé한국어世界½ ﷺ \u0344\u0301\u0316 a\u0316\u0301\U000e0100b 𝔘𝔫 \U0001f600",
    "a" * 120 + " " + "abcdx" * 30,
    "",
)
ALL_SORTS = "".join(chr(code) for code in [*range(0x1000), *range(0x1000, 0xD800, 13), *range(0xE000, 0x110000, 211)])

Corruption = Callable[[Tables], Tables]


@pytest.fixture(scope="module")
def good() -> Mapping[str, Tables]:
    """Sound tables of each layout."""
    return {layout: wordpiece(TOKENS, unk_token=UNKNOWN, layout=layout) for layout in ("dense", "compact", "linked")}


@pytest.fixture(scope="module")
def data(good: Mapping[str, Tables], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound file."""
    path = tmp_path_factory.mktemp("good") / "good.npz"
    good["compact"].save(path)
    return path.read_bytes()


def members(data: bytes) -> dict[str, bytes]:
    """Take the members of a file apart."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def forged(parts: Mapping[str, bytes]) -> bytes:
    """Make a file of members, with the offsets, paddings and checksums that are right for them."""
    local, central = b"", b""
    for name, content in parts.items():
        crc = zlib.crc32(content)
        central += npz._central(name, len(content), crc, len(local))
        local += npz._local(name, len(content), crc, len(local)) + content
    return local + central + npz._end(len(parts), len(central), len(local))


def with_header(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Change the header of one member's array; it keeps its length."""
    parts = members(data)
    size = 10 + int.from_bytes(parts[name][8:10], "little")
    header = change(parts[name][: size - 1].rstrip()).ljust(size - 1) + b"\n"
    assert len(header) == size
    assert header != parts[name][:size]
    return forged({**parts, name: header + parts[name][size:]})


def with_about(data: bytes, about: bytes) -> bytes:
    """Put other bytes into the member `about`."""
    return forged({**members(data), "about": saved(np.frombuffer(about, np.uint8))})


def saved(array: Any) -> bytes:
    """Give an array the form of `.npy`."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def refused(path: Path, data: bytes, match: str | None = None) -> None:
    """Expect a `TableError` that names the file."""
    path.write_bytes(data)
    with pytest.raises(fst.TableError, match=match) as error:
        fst.load(path)
    assert str(path) in str(error.value)


def refused_by_proof(path: Path, tables: Tables) -> str:
    """Expect that a file is refused for the fault that the proof of its tables finds, and return the message of that."""
    in_order = json.loads(json.dumps(tables.about, sort_keys=True))  # as in the file
    with pytest.raises(fst.TableError) as fault:
        replace(tables, about=in_order).prove()
    with pytest.raises(fst.TableError) as error:
        fst.load(path)
    told = str(fault.value).replace("reads 'wordpiece'", f"reads {KNOWN}")  # the file may be of any kind
    assert str(error.value) == f"{path}: {told}; compile it again"
    return str(fault.value)


# Files that were damaged, or are something else.


def test_forgers_tools_are_sharp(data: bytes) -> None:
    """Members taken apart and put together again are the file that they came from, so that what follows differs in one thing only."""
    assert forged(members(data)) == data


def lengths(data: bytes) -> Iterator[int]:
    """Yield lengths at which a cut may go unnoticed: the edges of each header, array and directory entry."""
    yield from (0, 1, 10, 29, 30, 52, 100, len(data) // 2, len(data) - 22, len(data) - 1)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            begin = data.index(b"\x93NUMPY", member.header_offset)
            for edge in (member.header_offset, begin, begin + 128, begin + member.file_size):
                yield from (edge - 1, edge, edge + 1)


def test_file_cut_short_is_refused(data: bytes, tmp_path: Path) -> None:
    """No beginning of a file is a file, wherever it was cut."""
    for length in {length for length in lengths(data) if 0 <= length < len(data)}:
        refused(tmp_path / "short.npz", data[:length])


@given(share=st.floats(0, 1, exclude_max=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_file_cut_anywhere_is_refused(share: float, data: bytes, tmp_path: Path) -> None:
    """No beginning of a file is a file, at any length."""
    refused(tmp_path / "short.npz", data[: int(share * len(data))])


@pytest.mark.parametrize("extra", [b"\0", b"\n", b"PK\x05\x06" + bytes(18), bytes(4096)])
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_file_with_more_bytes_is_refused(extra: bytes, before: bool, data: bytes, tmp_path: Path) -> None:
    """Nothing stands before or after the archive, although zip allows it."""
    refused(tmp_path / "long.npz", extra + data if before else data + extra)


@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bit=st.integers(0, 2**24))
def test_any_flipped_bit_is_noticed(bit: int, data: bytes, tmp_path: Path) -> None:
    """Each bit of a file counts."""
    refused(tmp_path / "flipped.npz", flipped(data, bit % (8 * len(data))))


@pytest.mark.sampled
def test_any_flipped_bit_of_headers_and_directory_is_noticed(data: bytes, tmp_path: Path) -> None:
    """Each byte of the first headers and of the directory counts, although no checksum covers them."""
    for position in sample([*range(256), *range(len(data) - 1024, len(data))], 7):
        refused(tmp_path / "flipped.npz", flipped(data, 8 * position + position % 8))


def flipped(data: bytes, bit: int) -> bytes:
    """Flip one bit."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def zipped(parts: Mapping[str, bytes] | list[tuple[str, bytes]], comment: bytes = b"", zip64: bool = False, **options: Any) -> bytes:
    """Write members as any other program would."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        archive.comment = comment
        for name, content in parts.items() if isinstance(parts, Mapping) else parts:
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=zip64) as member:
                member.write(content)
    return stream.getvalue()


def resaved(data: bytes, save: Callable[..., None]) -> bytes:
    """Load a file with numpy, and save it with numpy."""
    stream = io.BytesIO()
    with np.load(io.BytesIO(data)) as arrays:
        save(stream, **arrays)
    return stream.getvalue()


def shuffled(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Put members into another order."""
    names = list(parts)
    random.Random(0).shuffle(names)
    return {name: parts[name] for name in names}


REZIPPED: dict[str, Callable[[bytes], bytes]] = {
    "numpy.savez": lambda data: resaved(data, np.savez),
    "numpy.savez_compressed": lambda data: resaved(data, np.savez_compressed),
    "stored without padding": lambda data: zipped(members(data)),
    "deflated": lambda data: zipped(members(data), compression=zipfile.ZIP_DEFLATED),
    "zip64": lambda data: zipped(members(data), zip64=True),
    "a comment": lambda data: zipped(members(data), b"nothing to see here"),
    "a comment in a sound file": lambda data: data[:-2] + b"\x05\x00hello",
    "another order": lambda data: forged(shuffled(members(data))),
    "a member twice": lambda data: zipped([*members(data).items(), ("pool", members(data)["pool"])]),
    "a member more": lambda data: forged({**members(data), "more": members(data)["pool"]}),
    "a member less": lambda data: forged({name: part for name, part in members(data).items() if name != "token_ids"}),
    "no first member": lambda data: forged({name: part for name, part in members(data).items() if name != "about"}),
    "a member of another name": lambda data: forged({name.replace("pool", "pond"): part for name, part in members(data).items()}),
    "no members": lambda _: forged({}),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("rezip", REZIPPED.values(), ids=REZIPPED.keys())
def test_rezipped_file_is_refused(rezip: Callable[[bytes], bytes], data: bytes, tmp_path: Path) -> None:
    """A file has exactly one way to be written: the same arrays in another archive are not one."""
    refused(tmp_path / "rezipped.npz", rezip(data))


def shaped(shape: bytes) -> Callable[[bytes], bytes]:
    """Promise an array of another shape."""
    return lambda header: header[: header.index(b"(")] + shape + b", }"


HEADERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "terabytes": ("entries", shaped(b"(9999999999,)")),
    "terabytes in two dimensions": ("specials", shaped(b"(9999999999, 9999999999)")),
    "more digits than a number has": ("entries", shaped(b"(99999999999999999999,)")),
    "nothing, and terabytes of it": ("specials", shaped(b"(0, 9999999999)")),
    "one element more": ("entries", lambda header: header.replace(b"(", b"(1")),
    "a negative length": ("entries", shaped(b"(-1,)")),
    "no length": ("entries", shaped(b"()")),
    "three dimensions": ("specials", shaped(b"(1, 1, 4)")),
    "a length with a leading zero": ("entries", lambda header: header.replace(b"(", b"(0")),
    "another spelling": ("entries", lambda header: header.replace(b"': (", b"' : (")),
    "signed numbers": ("entries", lambda header: header.replace(b"<u8", b"<i8")),
    "floating-point numbers": ("entries", lambda header: header.replace(b"<u8", b"<f8")),
    "wider numbers": ("pool", lambda header: header.replace(b"<u4", b"<u8")),
    "the other byte order": ("entries", lambda header: header.replace(b"<u8", b">u8")),
    "the host's byte order": ("entries", lambda header: header.replace(b"<u8", b"=u8")),
    "objects": ("entries", lambda header: header.replace(b"'<u8'", b"'|O' ")),
    "columns first": ("specials", lambda header: header.replace(b"False", b"True")),
    "another version of the header": ("entries", lambda header: header.replace(b"NUMPY\x01", b"NUMPY\x02")),
    "no magic": ("entries", lambda header: header.replace(b"NUMPY", b"numpy")),
    "code": ("entries", lambda header: header.replace(b"False", b"print")),
}


@pytest.mark.parametrize(("name", "change"), HEADERS.values(), ids=HEADERS.keys())
def test_array_of_another_kind_is_refused(name: str, change: Callable[[bytes], bytes], data: bytes, tmp_path: Path) -> None:
    """The header of an array is, byte for byte, the one that its name and its true shape make."""
    refused(tmp_path / "header.npz", with_header(data, name, change))


class Bomb:
    """An object that leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def test_nothing_is_unpickled(data: bytes, tmp_path: Path) -> None:
    """An array of objects is refused, and its objects never come to life."""
    objects = np.array([Bomb(tmp_path / "trace")], object)
    for content in (saved(objects), pickle.dumps(objects)):
        refused(tmp_path / "pickled.npz", forged({**members(data), "pool": content}))
    assert not (tmp_path / "trace").exists()


def test_promise_of_terabytes_takes_no_memory(data: bytes, tmp_path: Path) -> None:
    """The size in a header is compared with the file before memory is allocated."""
    path = tmp_path / "promise.npz"
    refused(path, with_header(data, *HEADERS["terabytes"]))
    assert memory_to_refuse(path) < 10 << 20


def test_file_of_more_than_a_gibibyte_is_refused_unread(data: bytes, tmp_path: Path) -> None:
    """A file that is too large is refused by its size, before it is mapped or read."""
    path = tmp_path / "huge.npz"
    path.write_bytes(data)
    with path.open("r+b") as stream:
        stream.truncate((1 << 30) + 1)
    assert memory_to_refuse(path) < 1 << 20
    with pytest.raises(fst.TableError, match="at most 1073741824"):
        fst.load(path)


def test_lengthy_about_is_refused_unread(data: bytes, tmp_path: Path) -> None:
    """JSON takes many times its size in memory, so that there is a bound on it."""
    path = tmp_path / "lengthy.npz"
    path.write_bytes(with_about(data, b"[" + b"[]," * (6 << 20) + b"[]]"))
    assert memory_to_refuse(path) < 1 << 20


def memory_to_refuse(path: Path) -> int:
    """Measure the most memory in use while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(fst.TableError):
            fst.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (b'{"format": 4, "kind": "wordpiece"}', "version 4; this version reads 6"),
        (b'{"format": "5"}', "version '5'"),
        (b'{"kind": "wordpiece"}', "version None"),
        (b"{}", "version None"),
        (b"[1]", "version None"),
        (b"1", "version None"),
        (b"null", "version None"),
        (b"", "'about' is not JSON"),
        (b"{", "'about' is not JSON"),
        (b'{"format": 6} {}', "'about' is not JSON"),
        (b'{"format": 6' + b"0" * 5000 + b"}", "'about' is not JSON"),
        (b'{"format": "\xff"}', "'about' is not JSON"),
        (b"[" * 100_000, "'about' is not JSON"),
        (b'{"a":' * 100_000, "'about' is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "'about' is not JSON"),
        (b'{"format": 6}', f"kind is None; this version reads {KNOWN}"),
        (b'{"format": 6, "kind": "bpx"}', f"kind is 'bpx'; this version reads {KNOWN}"),
        (b'{"format": 6, "kind": ["wordpiece"]}', "kind is .*wordpiece.*; this version reads"),
    ],
)
def test_other_version_or_kind_is_refused_by_name(about: bytes, message: str, data: bytes, tmp_path: Path) -> None:
    """A file of another version or kind is refused by name; so is metadata that is not JSON."""
    refused(tmp_path / "about.npz", with_about(data, about), message)


def array_file() -> bytes:
    """Make a plain `.npz`."""
    stream = io.BytesIO()
    np.savez(stream, entries=np.arange(1000), pool=np.arange(3))
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"P",
        b"PK\x03\x04",
        b"PK\x03\x04" + bytes(60),
        b"[PAD]\n[UNK]\n" * 9,
        b'{"version": "1.0"}' * 9,
        bytes(10_000),
        array_file(),
        saved([1]),
    ],
    ids=["nothing", "a letter", "magic", "magic and zeros", "a vocabulary", "a document", "zeros", "another npz", "npy"],
)
def test_other_file_is_refused(content: bytes, tmp_path: Path) -> None:
    """A file that is something else is a `TableError`."""
    refused(tmp_path / "other.npz", content)


def test_no_file_is_an_os_error(tmp_path: Path) -> None:
    """A missing path or a folder is an `OSError`."""
    with pytest.raises(FileNotFoundError):
        fst.load(tmp_path / "missing.npz")
    with pytest.raises(IsADirectoryError):
        fst.load(tmp_path)


# Well-formed files with one wrong thing in them: the checksums are right, and somebody means harm.


def with_array(tables: Tables, name: str, array: Array) -> Tables:
    """Replace an array."""
    changed: dict[str, Any] = {name: array}
    return replace(tables, **changed)


def put(name: str, index: Any, value: Any) -> Corruption:
    """Change one element of an array; index and value may be functions of the tables."""

    def corrupt(tables: Tables) -> Tables:
        array = getattr(tables, name).copy()
        array[index(tables) if callable(index) else index] = value(tables) if callable(value) else value
        return with_array(tables, name, array)

    return corrupt


def array(name: str, change: Callable[[Array], Any]) -> Corruption:
    """Change an array as a whole."""
    return lambda tables: with_array(tables, name, np.asarray(change(getattr(tables, name)), getattr(tables, name).dtype))


def about(name: str, value: Any) -> Corruption:
    """Change a key of the metadata; the value may be a function of the tables."""
    return lambda tables: replace(tables, about={**tables.about, name: value(tables) if callable(value) else value})


def both(*corruptions: Corruption) -> Corruption:
    """Change several things, for harm that needs an accomplice."""

    def corrupt(tables: Tables) -> Tables:
        for corruption in corruptions:
            tables = corruption(tables)
        return tables

    return corrupt


def states(tables: Tables) -> Array:
    """Find the slots of all finish entries."""
    return np.flatnonzero((ENTRY.labels_of(tables.entries) == FINISH) & (tables.entries != HOLE))


def depth(tables: Tables, slots: Any) -> Array:
    """Say how many symbols a state has read; it means something for states alone."""
    return ENTRY.targets_of(tables.entries[slots])


def moves(tables: Tables) -> Array:
    """Find the slots of explicit transitions to other states than the dead one."""
    alive = ENTRY.targets_of(tables.entries) != tables.about["dead"]
    return np.flatnonzero((ENTRY.labels_of(tables.entries) != FINISH) & alive)


def move(tables: Tables) -> int:
    """Find a transition from the root to a state that has read a symbol."""
    labels, targets = ENTRY.labels_of(tables.entries), ENTRY.targets_of(tables.entries)
    return int(next(slot for slot in moves(tables) if labels[slot] == slot and depth(tables, targets[slot])))


def failure(tables: Tables) -> int:
    """Find a transition from the root to the dead state."""
    return int(np.flatnonzero(ENTRY.targets_of(tables.entries[: tables.about["columns"]]) == tables.about["dead"])[0])


def of_kind(kind: int, finish: bool) -> Callable[[Tables], int]:
    """Find an entry of a kind, finish entry or transition."""
    return lambda tables: int(next(slot for slot in (states if finish else moves)(tables) if field_kind(tables.entries)[slot] == kind))


def fields(slot: Callable[[Tables], int], **changed: Any) -> Corruption:
    """Change fields of an entry."""

    def value(tables: Tables) -> Any:
        entry = tables.entries[slot(tables)]
        label, target, _ = ENTRY.unpack(entry)
        kept = {"next_state": target, "label": label, "output": field_output(entry), "kind": field_kind(entry)}
        return pack(**{**kept, **{name: new(tables) if callable(new) else new for name, new in changed.items()}})

    return put("entries", slot, value)


def deep(tables: Tables) -> int:
    """Find a state that has read two symbols."""
    return int(next(slot for slot in states(tables) if depth(tables, slot) == 2))


def not_a_state(tables: Tables) -> int:
    """Find a slot where no state begins."""
    return int(np.setdiff1d(np.arange(len(tables.entries)), states(tables))[0])


def stranger(tables: Tables) -> int:
    """Find a label that makes the transition of `move` another row's, where no row is."""
    last = int(moves(tables)[-1])
    return next(label for label in range(1, tables.about["columns"]) if last - label not in states(tables))


def dead(tables: Tables) -> int:
    """Find the dead state."""
    return int(tables.about["dead"])


def root(_: Tables) -> int:
    """Find the root."""
    return ROOT


def last_move(tables: Tables) -> int:
    """Find the last explicit transition."""
    return int(moves(tables)[-1])


def size(name: str) -> Callable[[Tables], int]:
    """Find the length of an array."""
    return lambda tables: len(getattr(tables, name))


def first_end(tables: Tables) -> int:
    """Find where the first list of the pool ends."""
    return int(np.flatnonzero(tables.pool >= LAST_OUTPUT)[0])


def listed(length: int) -> Corruption:
    """Append a list of so many ids to the pool."""
    return array("pool", lambda pool: np.concatenate([pool, np.zeros(length - 1), [LAST_OUTPUT]]))


ROWS: dict[str, Corruption] = {
    "next state past the end": fields(move, next_state=size("entries")),
    "next state far past the end": fields(move, next_state=MAX_NEXT),
    "next state within a row": fields(move, next_state=not_a_state),
    "next state deeper than what was read": fields(move, next_state=deep),
    "label 0 of a transition": fields(move, label=0),
    "label past the columns": fields(move, label=lambda tables: tables.about["columns"]),
    "label far past the columns": fields(move, label=FINISH - 1),
    "transition of no row": fields(last_move, label=stranger),
    "transition turned into a state": fields(last_move, label=FINISH, kind=NONE, next_state=0),
    "transition that fails": fields(move, kind=FAIL),
    "transition that emits too early": fields(move, kind=ONE, output=0),
    "transition that emits two too early": fields(move, kind=MANY, output=0),
    "transition that emits 40,000": both(fields(move, kind=MANY, output=size("pool")), listed(40_000)),
    "transition that emits 65,536": both(fields(move, kind=MANY, output=size("pool")), listed(65_536)),
    "transition that emits an unknown id": fields(of_kind(ONE, False), output=MAX_OUTPUT),
    "transition that emits the next id": fields(of_kind(ONE, False), output=lambda tables: int(tables.token_ids.max()) + 1),
    "transition's list past the pool": fields(of_kind(MANY, False), output=size("pool")),
    "transition's list far past the pool": fields(of_kind(MANY, False), output=MAX_OUTPUT),
    "finish that emits an unknown id": fields(of_kind(ONE, True), output=MAX_OUTPUT),
    "finish's list past the pool": fields(of_kind(MANY, True), output=size("pool")),
    "finish that emits more than was read": fields(of_kind(MANY, True), next_state=1),
    "finish that emits before anything was read": fields(of_kind(ONE, True), next_state=0),
    "finish that claims 255 symbols": fields(deep, next_state=255),
    "finish that claims 256 symbols": fields(deep, next_state=256),
    "finish that claims 65,534 symbols": fields(deep, next_state=65_534),
    "finish that claims 65,536 symbols": fields(deep, next_state=65_536),
    "finish that claims 65,538 symbols": fields(deep, next_state=65_538),
    "finish that claims most symbols": fields(deep, next_state=MAX_NEXT),
    "finish that claims 65,535 symbols and emits them": both(
        fields(deep, next_state=65_535, kind=MANY, output=size("pool")), listed(65_535)
    ),
    "root that emits": fields(root, kind=ONE),
    "root that fails": fields(root, kind=FAIL),
    "root that has read a symbol": fields(root, next_state=1),
    "root that is a hole": put("entries", ROOT, HOLE),
    "root that is a transition": fields(root, label=1),
    "root without a transition": put("entries", 1, HOLE),
    "root whose transition emits": fields(failure, kind=ONE, output=0),
    "dead state that does not fail": fields(dead, kind=NONE),
    "dead state that has read a symbol": fields(dead, next_state=1),
    "dead state elsewhere": about("dead", deep),
    "dead state at the root": about("dead", ROOT),
    "dead state within a row": about("dead", not_a_state),
    "dead state past the end": about("dead", size("entries")),
    "state without room for its row": array("entries", lambda entries: np.append(entries, pack(0, FINISH, 0, FAIL))),
    "last row cut short": array("entries", lambda entries: entries[:-1]),
    "no entries": array("entries", lambda entries: entries[:0]),
    "no states": both(array("entries", lambda entries: np.full_like(entries, HOLE)), about("states", 0)),
    "one state less": about("states", lambda tables: tables.about["states"] - 1),
    "one state more": about("states", lambda tables: tables.about["states"] + 1),
    "no columns": about("columns", 0),
    "one column": about("columns", 1),
    "one column less": about("columns", lambda tables: tables.about["columns"] - 1),
    "one column more": about("columns", lambda tables: tables.about["columns"] + 1),
    "more columns than entries": about("columns", lambda tables: len(tables.entries) + 1),
    "pooled id that is unknown": put("pool", 1, lambda tables: int(tables.token_ids.max()) + 1),
    "pooled id that is huge": put("pool", -1, 2**32 - 1),
    "pooled list without an end": put("pool", -1, lambda tables: int(tables.pool[-1]) & (LAST_OUTPUT - 1)),
    "pooled list that goes on into the next": put(
        "pool", first_end, lambda tables: int(tables.pool[first_end(tables)]) & (LAST_OUTPUT - 1)
    ),
    "pooled list past the end": array("pool", lambda pool: pool[:-1]),
    "pool with more in it": array("pool", lambda pool: np.append(pool, 0)),
    "no pool": array("pool", lambda pool: pool[:0]),
}


def class_where(condition: Callable[[Array, Array], Array], last: bool = False) -> Callable[[Tables], int]:
    """Find record A of the first or last class of some kinds and labels, class 0 excepted."""

    def find(tables: Tables) -> int:
        records = tables.classes[2::2]
        found = np.flatnonzero(condition(field_kind(records), ENTRY.labels_of(records)))
        return 2 + 2 * int(found[-1 if last else 0])

    return find


LABELLED = class_where(lambda kind, label: (kind == NONE) & (label > 0))
BLANK = class_where(lambda kind, label: (kind == NONE) & (label == 0))
ALONE = class_where(lambda kind, _: kind == ONE)
UNLABELLED = class_where(lambda kind, _: kind == OTHER)
LISTED = class_where(lambda kind, _: kind == LIST)
LAST_PART = class_where(lambda kind, label: (label > 0) | (kind == OTHER), last=True)
FIRST_END = class_where(lambda kind, label: (label == 0) & (kind != OTHER))


def second(first: Callable[[Tables], int]) -> Callable[[Tables], int]:
    """Find the record B of a class."""
    return lambda tables: first(tables) + 1


def record(find: Callable[[Tables], int], next_state: Any = 0, label: Any = 0, output: Any = 0, kind: Any = NONE) -> Corruption:
    """Replace record A of a class."""
    return put("classes", find, lambda tables: pack(*(new(tables) if callable(new) else new for new in (next_state, label, output, kind))))


def list_of(*symbols: Any) -> Corruption:
    """Make a LIST class list these classes, with their ranks."""
    return both(
        record(LISTED, next_state=size("symbols"), kind=LIST),
        array("symbols", lambda old: np.append(old, [len(symbols), *symbols])),
    )


def number_of(find: Callable[[Tables], int]) -> Callable[[Tables], int]:
    """Find the number of the class whose record A is found."""
    return lambda tables: find(tables) // 2


def swapped(first: Callable[[Tables], int], other: Callable[[Tables], int]) -> Corruption:
    """Let two classes change places."""

    def corrupt(tables: Tables) -> Tables:
        classes = tables.classes.copy()
        here, there = first(tables), other(tables)
        classes[[here, here + 1, there, there + 1]] = classes[[there, there + 1, here, here + 1]]
        return with_array(tables, "classes", classes)

    return corrupt


def flagged(flags: int) -> Corruption:
    """Give a LIST class some flags more."""
    return put("classes", LISTED, lambda tables: tables.classes[LISTED(tables)] | pack(0, 0, flags, NONE))


def class_of(char: str) -> Callable[[Tables], int]:
    """Find the record A of a character's class."""
    return lambda tables: 2 * tables.class_of(ord(char))


CLASSES: dict[str, Corruption] = {
    "label past the columns": record(LABELLED, label=lambda tables: tables.about["columns"]),
    "label of finish entries": record(LABELLED, label=FINISH),
    "label of a word of its own": record(FIRST_END, label=1, kind=ONE),
    "label of a class that has none": record(UNLABELLED, label=1, kind=OTHER),
    "label of a list": record(FIRST_END, label=1, kind=LIST),
    "next state past the end": record(UNLABELLED, next_state=size("entries"), kind=OTHER),
    "next state far past the end": record(UNLABELLED, next_state=MAX_NEXT, kind=OTHER),
    "next state within a row": record(UNLABELLED, next_state=not_a_state, kind=OTHER),
    "next state that has read two": record(UNLABELLED, next_state=deep, kind=OTHER),
    "next state of a label that has read two": record(LABELLED, next_state=deep, label=1),
    "first state past the end": put("classes", second(UNLABELLED), size("entries")),
    "first state within a row": put("classes", second(UNLABELLED), not_a_state),
    "first state that has read two": put("classes", second(LABELLED), deep),
    "first state with more bits": put("classes", second(UNLABELLED), 1 << 24),
    "first state of a list within a row": put("classes", second(LISTED), not_a_state),
    "blank that leads on": record(BLANK, next_state=dead),
    "blank that leads on at the start of a word": put("classes", second(BLANK), dead),
    "word of its own that leads on": record(ALONE, next_state=dead, kind=ONE),
    "word of its own with an unknown id": record(ALONE, output=MAX_OUTPUT, kind=ONE),
    "word of its own with the next id": record(ALONE, output=lambda tables: int(tables.token_ids.max()) + 1, kind=ONE),
    "class 0 that is a word of its own": put("classes", 0, pack(0, 0, 1, ONE)),
    "class 0 that is a part of a word": put("classes", 0, lambda tables: tables.classes[LABELLED(tables)]),
    "class 0 that leads on": put("classes", 1, dead),
    "list of class 0": list_of(0),
    "part of a word that comes after what ends one": swapped(LAST_PART, FIRST_END),
    "part of a word that comes after lists": swapped(LAST_PART, class_where(lambda kind, _: kind == LIST, last=True)),
    "blank that comes before parts of words": put("classes", 2, 0),
    "half a class more": array("classes", lambda classes: np.append(classes, 0)),
    "half a class less": array("classes", lambda classes: classes[:-1]),
    "a class less": array("classes", lambda classes: classes[:-2]),
    "more classes than numbers": array("classes", lambda classes: np.append(classes, np.zeros(2 << 16))),
    "no classes": array("classes", lambda classes: classes[:0]),
    "list past the end": record(LISTED, next_state=size("symbols"), kind=LIST),
    "list far past the end": record(LISTED, next_state=MAX_NEXT, kind=LIST),
    "list with unknown flags": record(LISTED, output=8, kind=LIST),
    "list of lists": list_of(0),
    "list of a class that is not there": list_of(0xFFFF),
    "list of a class of rank 64": both(list_of(1 | 64 << 16), flagged(HAS_MARKS)),
    "list of a class of the highest rank": both(list_of(1 | 0xFFFF << 16), flagged(HAS_MARKS)),
    "list of a class of rank 1 that has no marks": list_of(1 | 1 << 16),
    "list of a class of rank 1 that has no marks, and continues a run": both(list_of(1 | 1 << 16), flagged(CONTINUES_RUN)),
    "list of a class of rank 0 that continues a run": both(list_of(1), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of classes whose ranks descend": both(list_of(1 | 2 << 16, 1 | 1 << 16), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of class 0 with marks": both(list_of(0), flagged(HAS_MARKS)),
    "list of class 0 that continues a run": both(list_of(0), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of class 0 of rank 1 that ends a run": both(list_of(0 | 1 << 16), flagged(HAS_MARKS)),
    "list of 33": list_of(*[1] * 33),
    "list that is cut short": both(list_of(1, 1), array("symbols", lambda symbols: symbols[:-1])),
    "list that is huge": both(list_of(1), put("symbols", -2, 2**32 - 1)),
    "no lists": array("symbols", lambda symbols: symbols[:0]),
    "ASCII character of no class": put("blocks", lambda tables: int(tables.pages[0]) << 7 | ord("a"), 0),
    "characters of no class": put("blocks", -1, 0),
    "class past the end": put("blocks", -1, lambda tables: len(tables.classes) // 2),
    "class far past the end": put("blocks", -1, 0xFFFF),
    "page past the end": put("pages", -1, lambda tables: len(tables.blocks) >> 7),
    "page far past the end": put("pages", 0x7F, 0xFFFF),
    "page less": array("pages", lambda pages: pages[:-1]),
    "page more": array("pages", lambda pages: np.append(pages, 0)),
    "no pages": array("pages", lambda pages: pages[:0]),
    "block cut short": array("blocks", lambda blocks: blocks[:-1]),
    "block less": array("blocks", lambda blocks: blocks[:-128]),
    "no blocks": array("blocks", lambda blocks: blocks[:0]),
}
# A list of a class that is itself a list: its number is known only with the tables at hand.
CLASSES["list of lists"] = both(list_of(0), put("symbols", -1, lambda tables: LISTED(tables) // 2))

LETTER, CHILD, SIBLING, NUMBER = range(4)


def younger(tables: Tables) -> int:
    """Find a node that has a sibling."""
    return int(np.flatnonzero(tables.specials[:, SIBLING] >= 0)[0])


def node(find: Any, field: int, value: Any) -> Corruption:
    """Change a field of a node."""
    return put("specials", lambda tables: (find(tables) if callable(find) else find, field), value)


def renamed(content: str, other: str) -> Corruption:
    """Give a special token another spelling in `about`."""
    return about("specials", lambda tables: {name.replace(content, other): number for name, number in tables.about["specials"].items()})


def lone_end(tables: Tables) -> int:
    """Find the last node of a special token."""
    return int(np.flatnonzero(tables.specials[:, NUMBER] >= 0)[0])


SPECIALS: dict[str, Corruption] = {
    "child that is its own": node(1, CHILD, 1),
    "child before its parent": node(2, CHILD, 1),
    "child that is the root": node(2, CHILD, 0),
    "child past the end": node(-1, CHILD, size("specials")),
    "child far past the end": node(1, CHILD, 2**31 - 1),
    "child below none": node(1, CHILD, -2),
    "sibling that is its own": node(younger, SIBLING, younger),
    "sibling after it": node(1, SIBLING, 2),
    "sibling that is the root": node(younger, SIBLING, 0),
    "sibling past the end": node(1, SIBLING, size("specials")),
    "sibling below none": node(1, SIBLING, -2),
    "sibling of the root": node(0, SIBLING, 1),
    "letter past the code points": node(1, LETTER, 0x110000),
    "letter below the code points": node(1, LETTER, -1),
    "class of the root": node(0, NUMBER, number_of(ALONE)),
    "class past the end": node(-1, NUMBER, lambda tables: len(tables.classes) // 2),
    "class that is huge": node(-1, NUMBER, 2**31 - 1),
    "class below none": node(1, NUMBER, -2),
    "class 0": node(-1, NUMBER, 0),
    "class of a part of a word": node(-1, NUMBER, number_of(LABELLED)),
    "class of a part of a word without a label": node(-1, NUMBER, number_of(UNLABELLED)),
    "class of blanks": node(-1, NUMBER, number_of(BLANK)),
    "class of a list": node(-1, NUMBER, number_of(LISTED)),
    "class of a special token that is a word no more": record(lambda tables: 2 * int(tables.specials[-1, NUMBER])),
    "token that about does not name": about("specials", {}),
    "token that the trie does not have": renamed("[MASK]", "[MASK>"),
    "token that has another id in the trie": node(lone_end, NUMBER, lambda tables: tables.specials[-1, NUMBER]),
    "token that is no token in the trie": node(lone_end, NUMBER, -1),
    "nodes below each other": array("specials", lambda nodes: [*nodes, (97, len(nodes) + 1, -1, -1), (98, -1, len(nodes), -1)]),
    "node of two parents": node(lone_end, CHILD, lambda tables: len(tables.specials) - 1),
    "siblings of one letter": node(younger, LETTER, lambda tables: tables.specials[tables.specials[younger(tables), SIBLING], LETTER]),
    "class of a first letter that does not say so": put(
        "classes", class_of("["), lambda tables: tables.classes[class_of("[")(tables)] ^ pack(0, 0, STARTS_SPECIAL, NONE)
    ),
    "three fields": array("specials", lambda specials: specials[:, :3]),
    "five fields": array("specials", lambda specials: np.hstack([specials, specials[:, :1]])),
}


def value_of(word: bool) -> Callable[[Tables], int]:
    """Find the place of the value of a word, or of the empty word."""
    return lambda tables: 4 * int(np.flatnonzero((tables.words[0::4] > 0) == word)[0]) + 3


# Words that are others, or in other places, and displacements of any size, do no harm: they are not found, or have known ids.
WORDS: dict[str, Corruption] = {
    "word of an unknown id": put("words", value_of(True), lambda tables: (1 << 32) + int(tables.token_ids.max()) + 1),
    "word of an id that is huge": put("words", value_of(True), (1 << 32) + (1 << 31)),
    "word of two ids": put("words", value_of(True), 2 << 32),
    "word of most ids": put("words", value_of(True), 2**64 - 1),
    "word of an id without a count": put("words", value_of(True), 1),
    "empty word of an id": put("words", value_of(False), 1 << 32),
    "empty word of no id, with one in its place": put("words", value_of(False), 1),
    "word that becomes the empty word": put("words", lambda tables: value_of(True)(tables) - 3, 0),
    "word of an id that no token has": both(put("token_ids", 5, 6), put("words", value_of(True), (1 << 32) + 5)),
    "word that is too long to be looked up": about("max_input_chars_per_word", 1),
    "slots that are no power of two": array("words", lambda words: np.append(words, np.zeros(4))),
    "three slots": array("words", lambda _: np.zeros(12)),
    "a slot less": array("words", lambda words: words[:-4]),
    "a slot cut short": array("words", lambda words: words[:-1]),
    "part of a slot": array("words", lambda _: np.zeros(2)),
    "no slots": array("words", lambda words: words[:0]),
    "buckets that are no power of two": array("displacements", lambda found: np.append(found, 0)),
    "three buckets": array("displacements", lambda _: np.zeros(3)),
    "a bucket less": array("displacements", lambda found: np.append(found, found)[:-1]),
    "one bucket": array("displacements", lambda found: found[:1]),
    "no buckets": array("displacements", lambda found: found[:0]),
}

def swapped_names(one: str, other: str) -> Corruption:
    """Let two tokens change their ids."""
    first, second = TOKENS.index(one), TOKENS.index(other)
    return both(put("token_ids", first, second), put("token_ids", second, first))


NAMES: dict[str, Corruption] = {
    "end before the last": put("token_ends", 3, 0),
    "end past the next": put("token_ends", 3, 2**62),
    "end below zero": put("token_ends", 0, -1),
    "last end past the bytes": put("token_ends", -1, lambda tables: len(tables.token_bytes) + 1),
    "last end before the last byte": array("token_bytes", lambda data: np.append(data, 65)),
    "end within a character": put(
        "token_ends", lambda tables: tables.tokens.index("é"), lambda tables: tables.token_ends[tables.tokens.index("é")] - 1
    ),
    "bytes that are not UTF-8": put("token_bytes", 0, 0xFF),
    "bytes that encode a surrogate": both(
        array("token_bytes", lambda data: np.append(data, [0xED, 0xA0, 0x80])),
        put("token_ends", -1, lambda tables: len(tables.token_bytes)),
    ),
    "bytes that end within a character": put("token_bytes", -1, 0xC3),
    "id below zero": put("token_ids", 0, -1),
    "id past the bits of an entry": put("token_ids", 0, MAX_OUTPUT + 1),
    "ids that are lower than those in use": array("token_ids", lambda ids: np.zeros_like(ids)),
    "id that has lost its name": put("token_ids", TOKENS.index("##b"), TOKENS.index("a")),
    "id in classes that has lost its name": put("token_ids", TOKENS.index("."), TOKENS.index("a")),
    "tokens of one name": put("token_bytes", lambda tables: len(tables.token_bytes) - 1, ord("b")),
    "unknown token of another name": about("unk_token", "a"),
    "unknown token that is none of the model": about("model_tokens", TOKENS.index(UNKNOWN)),
    "special token of another name": swapped_names("[MASK]", "[SEP]"),
    "one id less": array("token_ids", lambda ids: ids[:-1]),
    "one end less": array("token_ends", lambda ends: ends[:-1]),
    "no tokens": both(*(array(name, lambda tokens: tokens[:0]) for name in ("token_bytes", "token_ends", "token_ids"))),
}

DIMENSIONS: dict[str, Corruption] = {
    f"{name} in {said}": array(name, change)
    for name in Tables.schema()
    for said, change in (
        ("a row more", lambda values: values[None] if values.ndim == 1 else values.ravel()),
        ("columns", lambda values: values[:, None] if values.ndim == 1 else np.pad(values, ((0, 0), (0, 4)))),
    )
}

TABLES: dict[str, dict[str, Corruption]] = {
    "rows": ROWS,
    "classes": CLASSES,
    "specials": SPECIALS,
    "words": WORDS,
    "tokens": NAMES,
    "dimensions": DIMENSIONS,
}


CORRUPT = [(f"{group}: {name}", corrupt) for group, table in TABLES.items() for name, corrupt in table.items()]
LAYOUTS = ("dense", "compact", "linked")


@pytest.mark.parametrize(
    ("corrupt", "layout"),
    [
        pytest.param(corrupt, layout, id=f"{name}-{layout}", marks=[] if number % 3 == place else pytest.mark.slow)
        for number, (name, corrupt) in enumerate(CORRUPT)
        for place, layout in enumerate(LAYOUTS)
    ],
)
def test_harmful_table_is_refused(corrupt: Corruption, layout: str, good: Mapping[str, Tables], tmp_path: Path) -> None:
    """Tables that could lead a kernel astray are refused, however well-formed their file is."""
    path, harmful = tmp_path / "harmful.npz", corrupt(good[layout])
    harmful.save(path)
    refused_by_proof(path, harmful)


@pytest.mark.parametrize("layout", ["dense", "compact", "linked"])
def test_harmless_table_is_loaded(layout: str, good: Mapping[str, Tables], tmp_path: Path) -> None:
    """The tables that the others were made of are sound, and do all that can be corrupted in them."""
    path = tmp_path / "good.npz"
    good[layout].save(path)
    tokenizer = fst.Tokenizer.load(path)
    for text in (*TEXTS, ALL_SORTS):
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == good[layout].run(text)


def test_trie_without_its_root_is_refused(data: bytes, tmp_path: Path) -> None:
    """Special tokens without a root are refused, as is every array that is all but empty."""
    specials = with_header(data, "specials", shaped(b"(0, 4)"))
    parts = members(specials)
    refused(tmp_path / "rootless.npz", forged({**parts, "specials": parts["specials"][:128]}), "the trie of special tokens has 0 nodes")


NUMBERS = ("unk_id", "dead", "columns", "states", "max_input_chars_per_word")
NO_NUMBERS: tuple[Any, ...] = (None, True, "1", 1.0, -1, [1], {}, 1 << 31, 10**30, float("nan"))
NO_LISTS_OF_IDS: tuple[Any, ...] = (None, 1, "1", {}, [None], [True], [1.0], ["1"], [-1], [1 << 22], [[1]])
NO_PIECES: tuple[Any, ...] = (
    None, 1, "A", [], {}, [1], ["C", 0], ["A"], ["A", 0, 0], [["A"], 0], [[1] * 70_000, 0],
    *([numbers, 0] for numbers in NO_LISTS_OF_IDS), *([[1], number] for number in (None, True, -1, 1 << 31, "0", 0.0, [0])),
)  # fmt: skip
TEXT, OTHER_TEXT = ["A", 0], ["B", 1]
NO_SINGLES: tuple[Any, ...] = (
    None, 1, "A", {}, [], TEXT, [["A", -1]], [["A", None]], [OTHER_TEXT], [TEXT, TEXT], [TEXT, OTHER_TEXT], [[[1], 0]],
    [TEXT, *[[[1], 0]] * 70_000], *([TEXT, piece] for piece in NO_PIECES),
)  # fmt: skip
NO_PAIRS: tuple[Any, ...] = (
    None, 1, "AB", {}, [], [TEXT], [OTHER_TEXT], [TEXT, TEXT], [TEXT, OTHER_TEXT, TEXT], [TEXT, OTHER_TEXT, OTHER_TEXT],
    *([OTHER_TEXT, piece, TEXT] for piece in NO_PIECES),
)  # fmt: skip
FLAGS = ("lowercase", "clean_text", "handle_chinese_chars")
NO_FLAGS: tuple[Any, ...] = (None, 0, 1, "true", [], {})
STRINGS = ("unk_token", "continuing_subword_prefix", "pre_tokenizer", "layout", "kind")
NO_STRINGS: tuple[Any, ...] = (None, 1, True, ["##"], {}, "\ud800")
NO_TEXTS: tuple[Any, ...] = (None, 1, True, ["##"], {}, "\ud800")
NO_LISTS_OF_TEXTS: tuple[Any, ...] = (None, 1, "a", {}, [None], [1], [["a"]], ["\udfff"])
NO_SIZES: tuple[Any, ...] = (None, -1, 1 << 64, 1.0, True, "1", [])
NO_SIDES: tuple[Any, ...] = (None, "", "Right", "top", 1, ["right"])
NO_MAPPINGS: tuple[Any, ...] = ([], 1, "none", True, {})


def spoilt(mapping: Mapping[str, Any], **wrong: Sequence[Any]) -> list[dict[str, Any]]:
    """Spoil each value of a mapping in several ways."""
    return [{**mapping, name: value} for name, values in wrong.items() for value in values]


COMPOSITION: dict[str, Any] = {"first": [], "decompositions": [], "orders": [], "pairs": [], "suspects": [[]]}
NO_ROWS: tuple[tuple[str, Any], ...] = (
    ("first", []), ("first", 1), ("first", [97]), ("first", [-1, 0]), ("first", [0, 0x110001]), ("first", [0xD800, 0]),
    ("first", [True, 0]), ("first", ["a", 0]), ("first", [97] * 65), ("decompositions", [97, 0x110000]), ("decompositions", []),
    ("orders", [1]), ("orders", [1, 2, 3]), ("pairs", [1, 2]), ("pairs", [1, 2, 3, 4]),
    ("suspects", [-1]), ("suspects", None),
)  # fmt: skip
DEEP: Any = []
for _ in range(40):
    DEEP = [DEEP]
NO_LEAVES: tuple[Any, ...] = (0.5, float("nan"), "\ud800", ["\ud800"], {"\ud800": 1}, DEEP)
NO_COMPONENTS: tuple[Any, ...] = ({}, 1, "NFC", True, [None], ["NFC"], *([{"type": leaf}] for leaf in NO_LEAVES))
STEP: dict[str, Any] = {"name": "NFD", "first": [[97, 98, 99]]}
PLACING: dict[str, Any] = {"kinds": {"NFD": COMPOSITION}, "steps": [STEP], "last": [], "suspects": [[97, 98]]}
NO_STATEMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(NUMBERS, NO_NUMBERS),
    "skipped": NO_LISTS_OF_IDS,
    "normalized_specials": NO_LISTS_OF_IDS,
    "model_tokens": (*NO_NUMBERS, 0),
    "single": NO_SINGLES,
    "pair": NO_PAIRS,
    **dict.fromkeys(FLAGS, NO_FLAGS),
    **dict.fromkeys(STRINGS, NO_STRINGS),
    "strip_accents": ("null", 0, 1, 1.0, 2, "true", [], {}),
    "specials": (None, [], 1, "[UNK]", {"[UNK]": None}, {"[UNK]": True}, {"[UNK]": -1}, {"[UNK]": 1 << 22}, {"[UNK]": "1"}),
    "decoder": (
        *NO_MAPPINGS,
        *spoilt({"prefix": "##", "cleanup": True}, prefix=NO_TEXTS, cleanup=NO_FLAGS, type=("BPE",)),
        *({"kind": "WordPiece"}, {"kind": None}),
    ),
    "truncation": (
        *NO_MAPPINGS,
        *spoilt(
            {"direction": "Right", "max_length": 3, "strategy": "OnlyFirst", "stride": 0},
            direction=(None, "right", 1),
            max_length=NO_SIZES,
            strategy=(None, "only_first", 1, {}),
            stride=NO_SIZES,
        ),
    ),
    "padding": (
        *NO_MAPPINGS,
        *spoilt(
            {"direction": "Left", "strategy": {"Fixed": 3}, "pad_to_multiple_of": 8, "pad_id": 0, "pad_type_id": 0, "pad_token": "a"},
            direction=(None, "left", 1),
            strategy=(None, "Fixed", 1, {}, {"Fixed": -1}, {"Fixed": "1"}, {"Fixed": 1, "more": 1}, {"BatchLongest": 1}),
            pad_to_multiple_of=NO_SIZES[1:],
            pad_id=(*NO_SIZES, 1 << 32),
            pad_type_id=(*NO_SIZES, 1 << 32),
            pad_token=NO_TEXTS,
        ),
    ),
    "named_tokens": (None, [], 1, "[PAD]", {"pad_token": None}, {"pad_token": 0}, {"pad_token": "\ud800"}, {"pad_token": ["[PAD]"]}),
    "extra_special_tokens": NO_LISTS_OF_TEXTS,
    "model_input_names": NO_LISTS_OF_TEXTS,
    "model_max_length": (0, -1, 10**9 + 1, True, 1.0, "512", [], {}),
    "padding_side": NO_SIDES,
    "truncation_side": NO_SIDES,
    "clean_up_tokenization_spaces": NO_FLAGS,
    "trims_offsets": NO_FLAGS,
    "chat_templates": (None, [], "{{ a }}", {"a": None}, {"a": "\ud800"}, {"a": "x" * (1 << 19), "b": "x" * (1 << 19 | 1)}),
    "composition": ([], 1, {}, COMPOSITION | {"first": {}}, *(COMPOSITION | {name: [row]} for name, row in NO_ROWS)),
    "placing": (
        *([], 1, {}, COMPOSITION),
        *spoilt(
            PLACING,
            kinds=(None, [], {}, {"NFD": None}, {"NFD": []}, {"NFD": COMPOSITION | {"pairs": 1}}, {"NFC": COMPOSITION}),
            steps=(
                *(None, {}, [None], [[]], [{}], [{"name": "NFD"}], [STEP] * 101),
                *([step] for step in spoilt(STEP, name=(None, [], "NFC"), first=(None, {}, [None], [[97]], [[0, 0xD800]]))),
            ),
            last=(None, {}, [[]], [[97]], [["a", "b"]], [[0, 1, -1]], [[97] * 65]),
            suspects=(None, {}, [[]], [[97]], [[0, 0x110000]], [[0, True]]),
        ),
    ),
    **dict.fromkeys(("normalizer_parts", "pre_tokenizer_parts"), NO_COMPONENTS),
    "late": (None, [], {"a": None}),
    "context": (None, [], {"word": []}),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param(name, value, id=f"{name}={value!r}"[:80]) for name, values in NO_STATEMENTS.items() for value in values],
)
def test_wrong_statement_is_refused(name: str, value: Any, good: Mapping[str, Tables], tmp_path: Path) -> None:
    """Metadata has the right types, and its ids are in range."""
    path = tmp_path / "wrong.npz"
    wrong = about(name, value)(good["compact"])
    wrong.save(path)
    refused_by_proof(path, wrong)


@pytest.mark.parametrize("name", [*NO_STATEMENTS])
def test_missing_statement_is_refused(name: str, good: Mapping[str, Tables], data: bytes, tmp_path: Path) -> None:
    """Metadata has every key: an absent value is null."""
    said = {key: value for key, value in good["compact"].about.items() if key != name}
    path = tmp_path / "missing.npz"
    path.write_bytes(with_about(data, json.dumps({"format": npz.FORMAT, **said}).encode()))
    refused(path, path.read_bytes(), f"about lacks '{name}'|kind is None; this version reads {KNOWN}")


@pytest.fixture(scope="module")
def read_twice(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tables]:
    """Sound tables that take a second reading: with late tokens and marks that are ordered in steps; with letters that are composed."""
    steps = [{"type": "Lowercase"}, {"type": "NFD"}, {"type": "StripAccents"}]
    late = [
        {"id": 26, "content": "ab", "normalized": True, "single_word": True},
        {"id": 27, "content": "<b>", "lstrip": True},
    ]
    folder = tmp_path_factory.mktemp("read twice")
    return {"late": with_normalizers(folder, steps, late), "composing": with_normalizers(folder, [{"type": "NFC"}], [])}


def with_normalizers(folder: Path, parts: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]) -> Tables:
    """Compile the tokens with some normalizers and added tokens."""
    source = {
        "model": {"type": "WordPiece", "unk_token": UNKNOWN, "vocab": {token: number for number, token in enumerate(TOKENS)}},
        "normalizer": {"type": "Sequence", "normalizers": parts},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "added_tokens": [{"id": 4, "content": "[MASK]", "special": True}, *added],
    }
    (folder / "tokenizer.json").write_text(json.dumps(source), encoding="utf-8")
    return wordpiece(folder / "tokenizer.json")


LATE = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "decoded": "a"}
CONTEXT = ("word", "begins_word", "ends_word", "spaced", "mixed")
NO_ADDED: dict[str, tuple[str, Any]] = {
    "late token without a class": ("late", {"a": LATE | {"id": TOKENS.index("##b")}}),
    "late token of nothing": ("late", {"": LATE | {"id": 26}}),
    "late token of which nothing is left": ("late", {"\u0301": LATE | {"id": 26}}),
    "late token that is no text": ("late", {"\ud800": LATE | {"id": 26}}),
    "late token that takes too much memory": ("late", {"a" * (MAX_CONTEXTUAL + 1): LATE | {"id": 26}}),
    "special token without a class": ("specials", {"[MASK]": TOKENS.index("##b")}),
    "special token of nothing": ("specials", {"": 4}),
    "special token that is no text": ("specials", {"[\udfff": 4}),
    "half a context": ("context", {"word": [48, 57]}),
    "context whose runs descend": ("context", {name: [97, 122, 48, 57] for name in CONTEXT}),
    "late token that is decoded as no text": ("late", {"ab": LATE | {"id": 26, "decoded": "\ud800"}}),
    "late token of another name": ("late", {"abc": LATE | {"id": 26}}),
}


@pytest.mark.parametrize("what", [*NO_ADDED])
def test_wrong_added_token_is_refused(what: str, read_twice: Mapping[str, Tables], tmp_path: Path) -> None:
    """Metadata on added tokens agrees with the classes and the trie."""
    path = tmp_path / "wrong.npz"
    read_twice["late"].save(path)
    assert fst.Tokenizer.load(path).about["late"].keys() == {"ab", "<b>"}
    wrong = about(*NO_ADDED[what])(read_twice["late"])
    wrong.save(path)
    assert any(word in refused_by_proof(path, wrong) for word in ("token", "context"))


@pytest.mark.parametrize("parts", [[{}], [{"type": "Strip"}], [{"type": ["Strip"]}, {"strip_left": 1}]], ids=str)
def test_components_that_are_none(parts: Any, read_twice: Mapping[str, Tables], tmp_path: Path) -> None:
    """A table whose normalizer is none that a compiler knows is refused, or its added tokens are found all the same."""
    about("normalizer_parts", parts)(read_twice["late"]).save(tmp_path / "changed.npz")
    with suppress(fst.TableError):
        assert len(fst.Tokenizer.load(tmp_path / "changed.npz").encode_batch(["x ab <b>"], offsets=True).ids)


def test_late_token_in_a_word_is_refused(read_twice: Mapping[str, Tables], tmp_path: Path) -> None:
    """The table of words holds no late token, and no id that the transducer has not: a kernel looks for late tokens in all other words."""
    tables = read_twice["late"]
    used = 4 * np.flatnonzero(tables.words[3::4])
    words = tables.words.copy()
    words[used[0] + 3], words[used[1] + 3] = words[used[1] + 3], words[used[0] + 3]
    path = tmp_path / "wrong.npz"
    with_array(tables, "words", words).save(path)
    with pytest.raises(fst.TableError, match=r"the table of words has the id \d+ for a word, the transducer another"):
        fst.load(path)
    content = "".join(token for token in tables.tokens if token == "tttt")
    late = {**tables.about["late"], content: LATE | {"id": TOKENS.index(content)}}
    a, specials = tables.classes[0::2].copy(), tables.about["specials"]
    classes = tables.classes.copy()
    classes[0::2] = np.where(a == pack(ROOT, 0, specials["[MASK]"], ONE), pack(ROOT, 0, TOKENS.index(content), ONE), a)
    changed = replace(tables, classes=classes, specials=np.full((1, 4), -1, np.int32), about={**tables.about, "specials": {}, "late": late})
    changed.save(path)
    with pytest.raises(fst.TableError, match="holds a contextual token at symbol 0"):
        fst.Tokenizer.load(path)


def test_words_of_other_ids_act_the_same_everywhere(good: Mapping[str, Tables], tmp_path: Path) -> None:
    """A word in the table of words has its id there, for the walk too, and stands for all of its characters."""
    tables = good["compact"]
    used = 4 * np.flatnonzero(tables.words[3::4])
    words = tables.words.copy()
    words[used + 3] = np.roll(words[used + 3], 1)
    path = tmp_path / "other.npz"
    with_array(tables, "words", words).save(path)
    tokenizer, text = fst.Tokenizer.load(path), " ".join(TOKENS)
    walk = Walk(tokenizer._table)
    walk.run(text)
    assert located(tokenizer, text) == (walk.ids, walk.offsets, walk.words)
    assert walk.ids != tables.run(text)


def test_places_ascend_whatever_a_character_becomes() -> None:
    """A character that becomes marks in another order than the canonical one does not make the places of a text descend."""
    marks = {0x301: 230, 0x316: 220}
    composition = Composition(Images([]), {ord("a"): list(marks)}, marks, {}, frozenset())
    assert composition.apply("abc") == ("\u0316\u0301bc", [(0, 1), (0, 1), (1, 2), (2, 3)])


def test_unknown_statement_is_refused(good: Mapping[str, Tables], tmp_path: Path) -> None:
    """Metadata with an unknown key is refused."""
    path = tmp_path / "more.npz"
    about("more", 1)(good["compact"]).save(path)
    with pytest.raises(fst.TableError, match="about has 'more', which is unknown to this version"):
        fst.load(path)


def test_late_tokens_without_blanks_are_refused(read_twice: Mapping[str, Tables], tmp_path: Path) -> None:
    """Tables with late tokens need a class for blanks, which replace what is left of a token."""
    classes = read_twice["late"].classes.copy()
    a = classes[0::2]
    a[1:][a[1:] == 0] = pack(ROOT, 0, 0, ONE)
    path = tmp_path / "wrong.npz"
    replace(read_twice["late"], classes=classes).save(path)
    with pytest.raises(fst.TableError, match="contextual tokens, but no class that is a blank"):
        fst.load(path)


def changed(value: Any, rng: random.Random) -> Any:
    """Change something in JSON."""
    wrong: Any = rng.choice([None, True, -1, 0, 97, 1 << 22, 1 << 64, 1.5, "", "a", "\ud800", [], [[]], [1], {}, {"a": 1}])
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice([*value])
        kept = {name: held for name, held in value.items() if name != key}
        return {**kept, **rng.choice([{}, {str(wrong): value[key]}, *4 * [{key: changed(value[key], rng)}]])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], *rng.choice([[], [wrong], *4 * [[changed(value[place], rng)]]]), *value[place + 1 :]]
    if isinstance(value, int) and rng.random() < 0.7:
        return rng.choice([value + 1, value - 1, -value, value ^ 1 << rng.randrange(24), rng.randrange(0x110000)])
    return wrong


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["late", "context", "specials", "placing", "composition"])
def test_what_is_said_of_a_second_reading_is_proven(name: str, read_twice: Mapping[str, Tables], tmp_path: Path) -> None:
    """Whatever a table states of texts that are read a second time is refused, or texts are encoded and located by it."""
    rng, path = random.Random(name), tmp_path / "changed.npz"
    tables = read_twice["composing" if name == "composition" else "late"]
    loaded = 0
    changes = sample(range(80), 5)
    for _ in changes:
        about(name, changed(tables.about[name], rng))(tables).save(path)
        try:
            tokenizer = fst.Tokenizer.load(path)
        except fst.TableError:
            continue
        loaded += 1
        tokenizer.encode_batch([*TEXTS, "ab\u0301 <b>\u0130\u0323 [MASK]ab!"], offsets=True)
    assert loaded < len(changes)
    assert (loaded > 0) == (name != "specials")


def values_like(array: Array) -> st.SearchStrategy[int]:
    """Draw values for an element: any that fit, those near its own, and those of other elements."""
    info = np.iinfo(array.dtype)
    bits = st.integers(0, 8 * array.itemsize - 1)
    return st.one_of(
        st.integers(int(info.min), int(info.max)),
        st.sampled_from(np.unique(array).tolist()),
        st.tuples(st.sampled_from(array.ravel().tolist()), bits).map(lambda pair: pair[0] ^ (1 << pair[1]) if pair[0] >= 0 else pair[0]),
        st.tuples(st.sampled_from(array.ravel().tolist()), st.integers(-2, 2)).map(sum),
    ).map(lambda value: min(max(value, int(info.min)), int(info.max)))


@examples(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data(), layout=st.sampled_from(["dense", "compact", "linked"]), name=st.sampled_from([*Tables.schema()]))
def test_what_is_loaded_keeps_its_bound(draw: st.DataObject, layout: str, name: str, good: Mapping[str, Tables], tmp_path: Path) -> None:
    """Tables with elements changed at random are refused; or no text yields more ids than bytes, and the kernel walks as it should."""
    array = getattr(good[layout], name).copy()
    flat = array.reshape(-1)
    for _ in range(draw.draw(st.integers(1, 2))):
        # Most characters are never read by the texts below: look where they are.
        last = 127 if name in ("pages", "blocks") and draw.draw(st.booleans()) else len(flat) - 1
        flat[draw.draw(st.integers(0, last))] = draw.draw(values_like(array))
    path = tmp_path / "fuzzed.npz"
    with_array(good[layout], name, array).save(path)
    try:
        tokenizer = fst.Tokenizer.load(path)
    except fst.TableError:
        return
    tables = load(path)
    for text in TEXTS:
        walk = Walk(tables)
        ids = walk.run(text)
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == ids
        assert located(tokenizer, text) in (None, (ids, walk.offsets, walk.words))
        assert all(0 <= place <= len(text) for pair in walk.offsets for place in pair)
        assert len(ids) <= len(text.encode())
        assert set(ids) <= set(tables.token_ids.tolist())


def located(tokenizer: fst.Tokenizer, text: str) -> tuple[list[int], list[tuple[int, int]], list[int]] | None:
    """Ids, offsets and words of a text, unless tokens of different lengths have one id."""
    try:
        found = tokenizer.encode_batch([text], add_special_tokens=False, offsets=True)
    except fst.UnsupportedError:
        return None
    assert found.offsets is not None
    assert found.words is not None
    return found.ids.tolist(), [(begin, end) for begin, end in found.offsets.tolist()], found.words.tolist()


@examples(200)
@given(
    layout=st.sampled_from(["dense", "compact", "linked"]),
    seed=st.integers(0, 1 << 30),
    cuts=st.sampled_from(["as they are", "all in the first", "all in the last", "anywhere"]),
    indicator=st.sampled_from(["", "##", "é", "#" * 5000]),
    longest=st.sampled_from([0, 1, 5, 100]),
)
def test_places_are_safe_whatever_length_tokens_have(
    layout: str, seed: int, cuts: str, indicator: str, longest: int, good: Mapping[str, Tables]
) -> None:
    """Places stay within their words where ids belong to other tokens than those that they stand for, of any length."""
    tables, chance = good[layout], np.random.default_rng(seed)
    size, count = len(tables.token_bytes), len(tables.token_ids)
    ends = {
        "as they are": tables.token_ends,
        "all in the first": np.full(count, size),
        "all in the last": np.append(np.zeros(count - 1, np.int64), size),
        "anywhere": np.append(np.sort(chance.integers(0, size, count - 1)), size),
    }[cuts]
    changed = replace(
        tables,
        about={**tables.about, "continuing_subword_prefix": indicator, "max_input_chars_per_word": longest},
        token_ids=chance.permutation(tables.token_ids),
        token_bytes=np.full(size, ord("a"), np.uint8),
        token_ends=ends.astype(np.int64),
    )
    for walked in (changed, without_words(changed)):
        for text in TEXTS:
            walk = Walk(walked)
            walk.run(text)
            assert located(fst.Tokenizer(walked), text) == (walk.ids, walk.offsets, walk.words)
            assert all(0 <= place <= len(text) for pair in walk.offsets for place in pair)


def without_words(tables: Tables) -> Tables:
    """Empty the table of words, so that all words go through the transducer."""
    return replace(tables, words=np.zeros(4, np.uint64), displacements=np.zeros(2, np.uint16))


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data(), layout=st.sampled_from(["dense", "compact", "linked"]))
def test_any_table_of_words_is_safe(draw: st.DataObject, layout: str, good: Mapping[str, Tables], tmp_path: Path) -> None:
    """Tables with many words changed at random are refused, or no text yields more ids than bytes, and all ids are known."""
    words, displacements = good[layout].words.copy(), good[layout].displacements.copy()
    for array in (words, displacements):
        for _ in range(draw.draw(st.integers(0, 6))):
            array[draw.draw(st.integers(0, len(array) - 1))] = draw.draw(values_like(array))
    highest = int(good[layout].token_ids.max())
    words[3::4] = np.where(draw.draw(st.booleans()) & (words[0::4] > 0), (1 << 32) + words[3::4] % np.uint64(highest + 1), words[3::4])
    path = tmp_path / "fuzzed.npz"
    with_array(with_array(good[layout], "words", words), "displacements", displacements).save(path)
    try:
        tokenizer = fst.Tokenizer.load(path)
    except fst.TableError:
        return
    for text in (*TEXTS, *good[layout].tokens):
        found = tokenizer.encode(text, add_special_tokens=False).tolist()
        assert found == tokenizer._table.run(text)
        assert len(found) <= len(text.encode())
        assert all(0 <= number <= highest for number in found)


@pytest.mark.parametrize("equal", [(), (0, 1), (7, 199_999)])
def test_equal_tokens_among_many_are_refused(equal: tuple[int, ...]) -> None:
    """Two equal tokens among so many that others have equal hashes are refused by name, and different ones are not."""
    names = [f"w{number:x}".encode() for number in range(200_000)]
    for number in equal:
        names[number] = b"the same, and longer than sixteen bytes"
    arrays = np.frombuffer(b"".join(names), np.uint8), np.cumsum([*map(len, names)]), np.arange(len(names), dtype=np.int32)
    refused = pytest.raises(fst.TableError, match=f"tokens {' and '.join(map(str, equal))} are both") if equal else nullcontext()
    with refused:
        Tokens(*arrays)
