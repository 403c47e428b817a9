"""A machine is a class of table: a kind that only this file knows is saved, loaded, proven, refused, walked and pickled like any other."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from machines import compiled

import fst
from fst import npz
from fst.machines import MACHINES, load
from fst.machines.wordpiece import Tables
from fst.proof import need, need_none
from fst.rows import Array
from fst.table import Each, Table, member


@dataclass(frozen=True, eq=False)
class Toy(Table):
    """Marks the bytes at which one of some strings ends: an automaton over bytes with 16-bit transitions.

    Attributes:
        transitions: uint16[states, 256], the next state for each byte.
        ids: int16[states], the id that a state emits; -1 is none.
    """

    kind: ClassVar[str] = "toy"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "test_registry"

    transitions: Array = member("<u2", axes=2)
    ids: Array = member("<i2")

    @property
    def ids_per_unit(self) -> int:
        """At most one id for each byte."""
        return 1

    def run(self, text: str) -> list[int]:
        """The id of each byte at which a string ends."""
        state, found = 0, []
        for byte in text.encode():
            state = int(self.transitions[state, byte])
            found.append(int(self.ids[state]))
        return [number for number in found if number >= 0]

    def prove(self, each: Each = map) -> None:
        """Prove that transitions lead to states."""
        super().prove(each)
        states, found = len(self.ids), self.transitions.shape
        need(found == (states, 256), f"transitions are for {found} states and bytes; expected {states} × 256")
        need_none(np.any(self.transitions >= states, axis=1), lambda state: f"state {state} leads to a state past the last, {states - 1}")


def toy(strings: Mapping[str, int]) -> Toy:
    """Make the automaton of strings that do not overlap."""
    edges: list[dict[int, int]] = [{}]
    ids = [-1]
    for string, number in strings.items():
        state = 0
        for byte in string.encode():
            if byte not in edges[state]:
                edges[state][byte] = len(edges)
                edges.append({})
                ids.append(-1)
            state = edges[state][byte]
        ids[state] = number
    rows = [[row.get(byte, edges[0].get(byte, 0)) for byte in range(256)] for row in edges]
    return Toy({"kind": "toy", "note": "été"}, np.array(rows, np.uint16), np.array(ids, np.int16))


STRINGS = {"un": 0, "é": 1, "世": 2}
TEXTS = ("", "un", "xununé", "世界 un", "u")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toy's file, while the registry knows its kind."""
    monkeypatch.setitem(MACHINES, "toy", Toy)
    toy(STRINGS).save(tmp_path / "toy.npz")
    return tmp_path / "toy.npz"


def test_machine_of_a_test_is_loaded(path: Path) -> None:
    """A file of a registered kind is loaded as a table of its class, with the same arrays, JSON and ids."""
    loaded, made = load(path), toy(STRINGS)
    assert type(loaded) is Toy
    assert loaded.about == made.about
    assert [loaded.run(text) for text in TEXTS] == [[], [0], [0, 0, 1], [2, 0], []]
    for name, array in made.arrays().items():
        found = getattr(loaded, name)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)
        assert not found.flags.writeable


def test_machines_live_side_by_side(path: Path) -> None:
    """A table of another kind is loaded as before beside it."""
    compiled().save(path.with_name("wordpiece.npz"))
    other = load(path.with_name("wordpiece.npz"))
    assert type(other) is Tables
    assert other.dumps() == compiled().dumps()
    assert load(path).dumps() == toy(STRINGS).dumps()


def test_file_follows_the_schema(path: Path) -> None:
    """The members of a file are the JSON and the class's arrays in their order, as numpy reads them."""
    assert [*Toy.schema().items()] == [("transitions", ("<u2", 2)), ("ids", ("<i2", 1))]
    assert zipfile.ZipFile(path).namelist() == ["about.npy", "transitions.npy", "ids.npy"]
    with np.load(path) as arrays:
        assert np.array_equal(arrays["ids"], toy(STRINGS).ids)


def test_machine_is_pickled_as_its_file(path: Path) -> None:
    """A pickle holds the bytes of the file, and the unpickled table those again."""
    pickled = pickle.dumps(toy(STRINGS))
    assert path.read_bytes() in pickled
    assert pickle.loads(pickled).dumps() == path.read_bytes()


def test_pickle_needs_no_registry() -> None:
    """A pickle names its class, so that it is read without the registry."""
    assert "toy" not in MACHINES
    assert pickle.loads(pickle.dumps(toy(STRINGS))).run("un") == [0]


HARM: dict[str, tuple[Callable[[Toy], Toy], str]] = {
    "a state past the end": (lambda made: replace(made, transitions=np.full_like(made.transitions, 99)), "state 0 leads to a state past"),
    "a row less": (lambda made: replace(made, transitions=made.transitions[:-1]), "transitions are for"),
    "an axis more": (lambda made: replace(made, ids=made.ids[:, None]), "ids is an array of <i2 with 2 axes; expected <i2 with 1"),
    "an axis less": (lambda made: replace(made, transitions=made.transitions.ravel()), "transitions is an array of <u2 with 1 axes"),
    "another kind": (lambda made: replace(made, about={"kind": "tox"}), "kind is 'tox'; this version reads 'wordpiece', 'toy'"),
    "no kind": (lambda made: replace(made, about={}), "kind is None; this version reads 'wordpiece', 'toy'"),
}


@pytest.mark.parametrize(("harm", "fault"), HARM.values(), ids=HARM.keys())
def test_harmful_machine_is_refused(harm: Callable[[Toy], Toy], fault: str, path: Path) -> None:
    """The loader proves a machine by its class, and says what is wrong."""
    harm(toy(STRINGS)).save(path)
    with pytest.raises(fst.TableError, match=fault) as error:
        load(path)
    assert str(path) in str(error.value)
    with pytest.raises(fst.TableError):
        pickle.loads(pickle.dumps(harm(toy(STRINGS))))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1])
def test_damaged_machine_is_refused(share: float, path: Path) -> None:
    """A flipped bit is noticed before the array that it is in is proven."""
    data = bytearray(path.read_bytes())
    data[int(share * (len(data) - 1))] ^= 1
    path.write_bytes(data)
    with pytest.raises(fst.TableError, match="damaged"):
        load(path)


def test_unknown_machine_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its line in the registry, a file is refused by the name of its kind, whatever its members are."""
    monkeypatch.delitem(MACHINES, "toy")
    with pytest.raises(fst.TableError, match="kind is 'toy'; this version reads 'wordpiece'"):
        load(path)


def test_members_of_another_machine_are_refused(path: Path) -> None:
    """A file that states one kind and holds the arrays of another is refused."""
    made = toy(STRINGS)
    npz.save(path, {**made.about, "kind": "wordpiece"}, made.arrays(), made.schema())
    with pytest.raises(fst.TableError, match="no array 'pages' at byte"):
        load(path)


def test_pickle_of_another_machine_is_refused() -> None:
    """A class reads only bytes of its own kind."""
    with pytest.raises(fst.TableError, match="a pickled table: kind is 'wordpiece'; this version reads 'toy'"):
        Toy.loads(compiled().dumps())


@pytest.mark.parametrize("kind", [Toy, Tables])
def test_machine_declares_itself(kind: Any) -> None:
    """A machine names its text unit and the module of its kernels, and bounds its ids."""
    assert kind.unit in ("utf-8", "utf-16")
    assert kind.kernel.isascii()
    assert (toy(STRINGS) if kind is Toy else compiled()).ids_per_unit >= 1
