"""A machine that is defined outside this package is compiled, saved, loaded, proven and run like the machines of this package."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines.documents import compiled
from support.toy_machine import Toy, toy

import fst
from fst.machines.wordpiece.table import WordPieceTable
from fst.registry import MACHINES, load
from fst.runtime.encoder import Encoder
from fst.runtime.rows import batch
from fst.tables import npz

KNOWN = ", ".join(map(repr, MACHINES))  # the kinds of tables in the package
STRINGS = {"un": 0, "é": 1, "世": 2}
TEXTS = ("", "un", "xununé", "世界 un", "u")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a toy table; the registry contains the toy kind until the test ends."""
    monkeypatch.setitem(MACHINES, "toy", "support.toy_machine.Toy")
    toy(STRINGS).save(tmp_path / "toy.npz")
    return tmp_path / "toy.npz"


def test_machine_of_a_test_is_loaded(path: Path) -> None:
    """A file of a registered kind is loaded as an instance of the registered class, with the same arrays, metadata and ids."""
    loaded, made = load(path), toy(STRINGS)
    assert type(loaded) is Toy
    assert loaded.header == made.header
    assert [loaded.run(text) for text in TEXTS] == [[], [0], [0, 0, 1], [2, 0], []]
    for name, array in made.arrays().items():
        found = getattr(loaded, name)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
        assert not found.flags.writeable


def test_machines_live_side_by_side(path: Path) -> None:
    """While the toy machine is registered, tables of other kinds are loaded as before."""
    compiled().save(path.with_name("wordpiece.npz"))
    other = load(path.with_name("wordpiece.npz"))
    assert type(other) is WordPieceTable
    assert other.dumps() == compiled().dumps()
    assert load(path).dumps() == toy(STRINGS).dumps()


def test_file_follows_the_schema(path: Path) -> None:
    """A file contains the metadata and the arrays of the class's schema, in the order of the schema and in numpy's format."""
    assert [*Toy.schema().items()] == [("transitions", ("<u2", 2, False)), ("ids", ("<i2", 1, False))]
    assert zipfile.ZipFile(path).namelist() == ["about.npy", "transitions.npy", "ids.npy"]
    with np.load(path) as arrays:
        assert np.array_equal(arrays["ids"], toy(STRINGS).ids)


def test_machine_is_pickled_as_its_file(path: Path) -> None:
    """A pickle contains the bytes of the file, and the unpickled table has the same bytes."""
    pickled = pickle.dumps(toy(STRINGS))
    assert path.read_bytes() in pickled
    assert pickle.loads(pickled).dumps() == path.read_bytes()


def test_pickle_needs_no_registry() -> None:
    """A pickle refers to its class, so it can be loaded even if the registry does not contain the kind."""
    assert "toy" not in MACHINES
    assert pickle.loads(pickle.dumps(toy(STRINGS))).run("un") == [0]


HARM: dict[str, tuple[Callable[[Toy], Toy], str]] = {
    "a state past the end": (lambda made: replace(made, transitions=np.full_like(made.transitions, 99)), "state 0 leads to a state past"),
    "a row less": (lambda made: replace(made, transitions=made.transitions[:-1]), "transitions are for"),
    "an axis more": (lambda made: replace(made, ids=made.ids[:, None]), "ids is an array of <i2 with 2 axes; expected <i2 with 1"),
    "an axis less": (lambda made: replace(made, transitions=made.transitions.ravel()), "transitions is an array of <u2 with 1 axes"),
    "another kind": (lambda made: replace(made, header={"kind": "tox"}), f"kind is 'tox'; this version reads {KNOWN}, 'toy'"),
    "no kind": (lambda made: replace(made, header={}), f"kind is None; this version reads {KNOWN}, 'toy'"),
}


@pytest.mark.parametrize(("harm", "fault"), HARM.values(), ids=HARM.keys())
def test_harmful_machine_is_refused(harm: Callable[[Toy], Toy], fault: str, path: Path) -> None:
    """The loader runs the proof of the table's class, and the error describes the fault."""
    harm(toy(STRINGS)).save(path)
    with pytest.raises(fst.TableError, match=fault) as error:
        load(path)
    assert str(path) in str(error.value)
    with pytest.raises(fst.TableError):
        pickle.loads(pickle.dumps(harm(toy(STRINGS))))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1])
def test_damaged_machine_is_refused(share: float, path: Path) -> None:
    """A flipped bit in a file is detected before the arrays are proven."""
    data = bytearray(path.read_bytes())
    data[int(share * (len(data) - 1))] ^= 1
    path.write_bytes(data)
    with pytest.raises(fst.TableError, match="damaged"):
        load(path)


def test_unknown_machine_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose kind is not in the registry is refused, and the message contains the kind."""
    monkeypatch.delitem(MACHINES, "toy")
    with pytest.raises(fst.TableError, match=f"kind is 'toy'; this version reads {KNOWN}"):
        load(path)


def test_members_of_another_machine_are_refused(path: Path) -> None:
    """A file is refused if it has the kind of one machine and the arrays of another machine."""
    made = toy(STRINGS)
    npz.save(path, {**made.header, "kind": "wordpiece"}, made.arrays(), made.schema())
    with pytest.raises(fst.TableError, match="no array 'pages' at byte"):
        load(path)


def test_pickle_of_another_machine_is_refused() -> None:
    """`loads` of a table class refuses the bytes of a table of another kind."""
    with pytest.raises(fst.TableError, match="a pickled table: kind is 'wordpiece'; this version reads 'toy'"):
        Toy.loads(compiled().dumps())


@pytest.mark.parametrize("kind", [Toy, WordPieceTable])
def test_machine_declares_itself(kind: Any) -> None:
    """A table class declares its text unit, the module of its kernels, and the maximum number of ids per unit."""
    assert kind.unit in ("utf-8", "utf-16")
    assert kind.kernel.isascii()
    assert (toy(STRINGS) if kind is Toy else compiled()).ids_per_unit >= 1


@pytest.fixture
def encoder(path: Path) -> Encoder:
    """Make an encoder of the toy table."""
    found = fst.load(path)
    assert type(found) is Encoder
    return found


LINES = [*TEXTS, "unx" * 1000, "世é" * 70_000, "", *("é un " * number for number in range(300))]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [str, bytes])
def test_toy_encodes_batches(kind: type, threads: int, encoder: Encoder) -> None:
    """Batches of str and of bytes get the same ids from the kernel as from the walk, on any number of threads."""
    rows: Any = LINES if kind is str else [line.encode() for line in LINES]
    batch = encoder.encode_batch(rows, threads=threads)
    assert [ids.tolist() for ids in batch] == [toy(STRINGS).run(line) for line in LINES]
    assert encoder.count_tokens(rows).tolist() == np.diff(batch.row_splits).tolist()
    assert encoder.encode(rows[2]).tolist() == [0, 0, 1]


def test_toy_encodes_a_row_in_pieces(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is read in parts gets the same ids as a row that is read at once, and `max_length` limits their number."""
    monkeypatch.setattr(batch, "BLOCK", 64)
    assert [ids.tolist() for ids in encoder.encode_batch(LINES, threads=1)] == [toy(STRINGS).run(line) for line in LINES]
    assert encoder.encode_batch(["世 un " * 50_000], max_length=3).ids.tolist() == [2, 0, 2]


def test_toy_encodes_columns(encoder: Encoder) -> None:
    """The rows of an Arrow column get the same ids from the kernel as from the walk, and a null text gets a null."""
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array([*LINES, None])
    assert encoder.encode_arrow(column).to_pylist() == [*(toy(STRINGS).run(line) for line in LINES), None]
    with pytest.raises(ValueError, match="padding is True; expected False, because toy tables have no padding token"):
        encoder.encode_arrow(column, padding=True, max_length=4)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("size", [1, 2, 5, 40_000])
@pytest.mark.parametrize("kind", [str, bytes])
def test_toy_streams(size: int, kind: type, encoder: Encoder) -> None:
    """A stream, cut anywhere, gets the same ids from the kernel as from the walk."""
    text = "世é un unun " * 4000
    whole: Any = text if kind is str else text.encode()
    stream, found = encoder.stream(), []
    for begin in range(0, len(whole), size):
        stream.write(whole[begin : begin + size])
        if begin % 7 == 0:
            found += stream.read().ids.tolist()
    assert found + stream.close().ids.tolist() == toy(STRINGS).run(text)


@pytest.mark.parametrize("row", ["a\ud800b", b"a\xffb", b"\xe4\xb8"], ids=ascii)
def test_toy_refuses_what_is_not_text(row: str | bytes, encoder: Encoder) -> None:
    """A row that is not text is refused with the row number, or its malformed parts are replaced on request."""
    plain: Any = "a" if isinstance(row, str) else b"a"
    rows: Any = [plain, row, plain]
    with pytest.raises(fst.TextError, match="row 1, position"):
        encoder.encode_batch(rows)
    assert encoder.encode_batch(rows, errors="replace").row_splits.tolist() == [0, 0, 0, 0]


def test_toy_has_ids_alone(encoder: Encoder) -> None:
    """If a machine does not support offsets, a request for them is refused, and the message contains the machine's kind."""
    with pytest.raises(fst.UnsupportedError, match="offsets are not available for toy tables"):
        encoder.encode_batch(["un"], offsets=True)


def test_kinds_take_turns(encoder: Encoder) -> None:
    """Two tables of kinds with different dtypes and text units can be used alternately in one process."""
    tables = compiled()
    tokenizer = fst.Tokenizer(tables)
    for text in ("unaffable", "un 世", "abab<s>", "é!"):
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == tables.run(text)
        assert encoder.encode(text).tolist() == toy(STRINGS).run(text)


def test_encoder_of_a_toy_is_pickled(encoder: Encoder) -> None:
    """An encoder that is pickled and loaded gives the same ids as before."""
    assert pickle.loads(pickle.dumps(encoder)).encode("un 世").tolist() == [0, 2]


def test_package_does_not_know_the_toy() -> None:
    """No file of this package mentions the toy machine, because a machine needs only an entry in the registry."""
    for module in ("fst", "fst.runtime", "fst.compile", "fst.cli"):
        for path in Path(files(module).__str__()).rglob("*.py"):
            assert "toy" not in path.read_text(encoding="utf-8").lower().split(), path


def test_picture() -> None:
    """The picture around a text contains the states that the text passes."""
    assert '1 -> 2 [label="b:7", color' in toy({"ab": 7}).draw("ab")
    assert '0 -> 1 [label="a"]' in toy({"a": -1}).draw()
