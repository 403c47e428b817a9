"""The base of every machine: a table of arrays that can be saved, loaded, proven and walked.

A machine declares its kind, its text unit, the module of its kernels and its arrays. Its stored form, its pickles and the order of proofs
follow from these declarations here, so that a new machine adds a class and one line to `fst.registry.MACHINES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from fst.core.threads import thread_count
from fst.errors import TableError, quoted
from fst.tables import npz

MAX_THREADS = 4  # a loader with more waits for memory
MEMBER = "member"  # key of a field's metadata

Each = Callable[..., Iterable[Any]]  # `map`, or the `map` of an executor
Loaded = TypeVar("Loaded", bound="Table")


def member(dtype: str, axes: int = 1) -> Any:
    """A field of a table class that is an array of the file.

    Args:
        dtype: as `numpy.dtype` takes it, with its byte order.
        axes: 1 or 2.
    """
    return field(metadata={MEMBER: npz.Member(np.dtype(dtype).str, axes)})


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """A compiled machine: immutable arrays, and the metadata of the file.

    A machine is a frozen dataclass without ``eq`` that derives from this one. Its class attributes and its fields made by `member` declare
    it; the fields' order is the order in the file.

    Attributes:
        about: the JSON of the file: ``kind``, and all other metadata of the machine.
        kind: the machine's name, as in ``about["kind"]``.
        unit: the code units that its kernels read.
        kernel: the dotted name of the module of its kernels; nothing imports it here.
        public_class: the dotted name of the class that `fst.load` returns, which takes the table; nothing imports it here.
        has_bounded_ids: whether `ids_per_unit` holds for every text. If not, the kernels count the ids for which they have no room.
        has_tokens: whether the machine encodes texts as the ids of tokens, so that its public class is a `fst.Tokenizer`.
    """

    kind: ClassVar[str]
    unit: ClassVar[Literal["utf-8", "utf-16"]]
    kernel: ClassVar[str]
    public_class: ClassVar[str]
    has_bounded_ids: ClassVar[bool] = True
    has_tokens: ClassVar[bool] = True

    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    @classmethod
    def schema(cls) -> npz.Schema:
        """The dtype and the number of axes of each array, by its name, in the order of the file."""
        return {declared.name: declared.metadata[MEMBER] for declared in fields(cls) if MEMBER in declared.metadata}

    def arrays(self) -> dict[str, Any]:
        """The arrays by their names."""
        return {name: getattr(self, name) for name in self.schema()}

    @property
    def summary(self) -> Mapping[str, Any]:
        """Size and options of a table without tokens, as JSON has them."""
        return self.about

    @property
    @abstractmethod
    def ids_per_unit(self) -> int:
        """The capacity for ids per code unit of text: for its most ids, which `prove` shows for every text, and for the intermediate values
        of kernels.
        """

    @abstractmethod
    def run(self, text: str) -> list[int]:
        """The token ids of a text, computed in slow and plain Python: the specification of the kernels."""

    @abstractmethod
    def arguments(self) -> Any:
        """The kernels' argument ``table``: a NamedTuple of arrays, of the same dtypes for all tables of the kind."""

    @abstractmethod
    def work(self) -> Any:
        """The kernels' argument ``work``: a NamedTuple like `fst.tables.kernel_call.Work`, for one thread."""

    def prove(self, each: Each = map) -> None:  # noqa: ARG002 - for machines with many entries
        """Prove that kernels, which check no bounds, are safe on this table. A machine calls this first, and then proves its own rules.

        Args:
            each: `map`, or the `map` of an executor, which then proves several parts at the same time.

        Raises:
            TableError: the message states the fault.
        """
        need_kind(self.about, [self.kind])
        for name, (dtype, axes) in self.schema().items():
            array = getattr(self, name)
            if array.ndim != axes or array.dtype != dtype:
                found, expected = f"{array.dtype.str} with {array.ndim} axes", f"{dtype} with {axes}"
                raise TableError(f"{name} is an array of {found}; expected {expected}")

    def save(self, path: str | Path) -> None:
        """Write the file that `fst.load` reads; the same table always gives the same bytes.

        The file appears only when it is complete: it is written under another name next to ``path`` and then moved. A URL is sent by
        fsspec.

        Raises:
            UnsupportedError: fsspec, or its plug-in for the URL, is not installed.
            OSError: ``path`` cannot be written.
        """
        npz.save(path, self.about, self.arrays(), self.schema())

    def dumps(self) -> bytes:
        """The bytes that `save` writes."""
        return npz.dumps(self.about, self.arrays(), self.schema())

    @classmethod
    def loads(cls: type[Loaded], data: bytes) -> Loaded:
        """A table of this kind from the bytes of a file, proven as by `fst.load`.

        Raises:
            TableError: they are damaged, of another kind or version, or not safe to run.
        """
        try:
            return cls.proven(npz.Stored(npz.copied(data)))
        except TableError as error:
            raise TableError(f"a pickled table: {error}; pickle it again, with the version that reads it") from None

    @classmethod
    def proven(cls: type[Loaded], stored: npz.Stored) -> Loaded:
        """The table of a file, proven safe.

        The proof runs while checksums are computed: both release Python's lock, and neither relies on the other. Damage is reported before
        the faults that it causes.

        Raises:
            TableError: the file is damaged, of another kind, or not safe to run.
        """
        from concurrent.futures import ThreadPoolExecutor

        need_kind(stored.about, [cls.kind])
        places = stored.places(cls.schema())
        with ThreadPoolExecutor(min(thread_count(), MAX_THREADS)) as pool:
            whole = pool.submit(stored.verify, places)
            try:
                table = cls(stored.about, **stored.arrays(places))
                table.prove(pool.map)
            finally:
                whole.result()
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        """The bytes of the file: equal tables pickle to equal bytes, and an unpickled table is proven like a loaded one."""
        return type(self).loads, (self.dumps(),)


def need_kind(about: Mapping[str, Any], kinds: Collection[str]) -> str:
    """The kind that a file states.

    Raises:
        TableError: it is unknown.
    """
    kind = about.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise TableError(f"kind is {quoted(kind)}; this version reads {', '.join(map(repr, kinds))}")
    return kind
