"""The base class of all tables: arrays that can be saved, loaded, proven and used by kernels.

A machine declares its kind, its text unit, the module of its kernels and its arrays. This module derives the file format, pickles and the
order of proofs from these declarations. So a new machine adds only a class and one line in `fst.registry.MACHINES`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from fst.core import remote
from fst.core.regular_files import need_regular
from fst.core.threads import thread_count
from fst.errors import TableError, quoted
from fst.tables import npz

if TYPE_CHECKING:
    from fst.automata.picture import Picture


def digest_of(directory: bytes) -> str:
    """The digest of a table: SHA-256 of the directory at the end of the table's file. The directory contains the name, the size and the
    CRC-32 of each array. So the digest needs no array: whenever a file is loaded, the whole file is read and compared with its directory.
    """
    return sha256(directory).hexdigest()


class Origin(NamedTuple):
    """The file that a table comes from.

    Attributes:
        place: an absolute path, or a URL.
        digest: the digest of the table, see `digest_of`.
        size: the number of bytes of the directory.
    """

    place: str
    digest: str
    size: int

    @classmethod
    def of(cls, path: str | Path, directory: bytes) -> Origin:
        """The origin of a table that was loaded from a path or a URL; `directory` is the directory at the end of the file."""
        place = remote.plain(str(path))
        return cls(place if remote.is_remote(place) else str(Path(place).absolute()), digest_of(directory), len(directory))

    @property
    def is_current(self) -> bool:
        """Whether the file still has the digest of the table; True for a URL, which is not read."""
        if remote.is_remote(self.place):
            return True
        with suppress(OSError, TableError):
            path = Path(self.place)
            need_regular(path, TableError)
            with path.open("rb") as file:
                file.seek(-self.size, os.SEEK_END)
                return digest_of(file.read(self.size)) == self.digest
        return False

MAX_THREADS = 4  # more threads make loading no faster, because loading then waits for memory, not for processors
MEMBER = "member"  # the key under which the metadata of a field contains its `npz.Member`

Each = Callable[..., Iterable[Any]]  # `map`, or the `map` of an executor
Loaded = TypeVar("Loaded", bound="Table")


def member(dtype: str, axes: int = 1, *, optional: bool = False) -> Any:
    """Declare a field of a table class that contains an array of the file.

    Args:
        dtype: an argument of `numpy.dtype`, with a byte order.
        axes: the number of axes, 1 or 2.
        optional: whether the array may be missing, which means the same as an empty array. The file never contains an empty optional array.
    """
    metadata = {MEMBER: npz.Member(np.dtype(dtype).str, axes, optional)}
    return field(metadata=metadata, kw_only=True, default_factory=lambda: np.empty(0, dtype)) if optional else field(metadata=metadata)


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """A compiled machine: immutable arrays, and the metadata of the file.

    A machine is a frozen dataclass without ``eq`` that derives from this class. A machine is declared by class attributes, and by fields
    made with `member`. The order of the fields is the order of the arrays in the file.

    Attributes:
        header: the JSON in the file, which contains ``kind`` and all other metadata of the machine.
        origin: the file that the table was loaded from; None for any other table, even if it is derived from a loaded table.
        kind: the machine's name, as in ``header["kind"]``.
        unit: the code units that the kernels read.
        kernel: the dotted name of the module of the kernels, which is not imported here. Its entry point is `encode_rows` if `has_tokens`,
            else `run_rows`, see `fst.tables.kernel_call`.
        public_class: the dotted name of the public class, whose argument is the table; the class is not imported here.
        picture: the dotted name of a function that returns a `fst.automata.picture.Picture`, from the table, and a text or None.
        has_bounded_ids: whether `ids_per_unit` is a bound for every text. If False, kernels report the number of ids that do not fit into
            the output.
        encodes_all: whether every text has ids. If False, kernels write negative ids, for which the public class raises an error.
        has_tokens: whether the machine encodes texts as ids of tokens; its public class is then a `fst.Tokenizer`.
    """

    kind: ClassVar[str]
    unit: ClassVar[Literal["utf-8", "utf-16"]]
    kernel: ClassVar[str]
    public_class: ClassVar[str]
    picture: ClassVar[str]
    has_bounded_ids: ClassVar[bool] = True
    encodes_all: ClassVar[bool] = True
    has_tokens: ClassVar[bool] = True

    header: Mapping[str, Any]
    origin: ClassVar[Origin | None] = None  # `proven` sets it for one table; it is no field, so a derived table has no origin

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):  # otherwise `dataclass` makes a `__repr__` with the elements of all arrays
            cls.__repr__ = Table.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        size = sum(array.nbytes for array in self.arrays().values())
        return f"<{type(self).__name__}, {size:,} bytes>"

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    @classmethod
    def schema(cls) -> npz.Schema:
        """The dtype and the number of axes of each array, by name, in the order of the file."""
        return {declared.name: declared.metadata[MEMBER] for declared in fields(cls) if MEMBER in declared.metadata}

    def arrays(self) -> dict[str, Any]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self.schema()}

    @property
    def summary(self) -> Mapping[str, Any]:
        """A summary for users of a table without tokens: its size and its options, as JSON."""
        return self.header

    @property
    @abstractmethod
    def ids_per_unit(self) -> int:
        """The capacity for ids per code unit of text. This capacity is enough for all ids, as `prove` shows, and for intermediate values of
        kernels.
        """

    @abstractmethod
    def run(self, text: str) -> list[int]:
        """The token ids of a text by the slow walk, which is the specification of the kernels."""

    @abstractmethod
    def arguments(self) -> Any:
        """The kernels' argument ``table``: a NamedTuple of arrays, with the same dtypes for all tables of a kind."""

    @abstractmethod
    def work(self) -> Any:
        """The kernels' argument ``work``: a NamedTuple like `fst.tables.kernel_call.Work`, for one thread."""

    @classmethod
    def folder(cls) -> str:
        """The name of the machine's folder, which is the same in each layer."""
        return cls.__module__.split(".")[-2]

    @classmethod
    def companion(cls, pattern: str) -> ModuleType | None:
        """The module of the machine in another folder, such as ``fst.compile.machines.{}.last_tokens``; None if there is no such module.

        Args:
            pattern: the dotted name of the module, with ``{}`` for `folder`.
        """
        name = pattern.format(cls.folder())
        try:
            return import_module(name) if find_spec(name) else None
        except ModuleNotFoundError:  # the layer has no folder for the machine
            return None

    def draw(self, around: str | None = None) -> str:
        """The table in the language DOT; see `fst.Tokenizer.draw`."""
        picture: Picture = resolve_name(self.picture)(self, around)
        return picture.dot()

    def prove(self, each: Each = map) -> None:  # noqa: ARG002 - `each` is used by machines with many entries
        """Prove that kernels, which check no bounds, are safe on this table. The method of a subclass first calls this method, and then
        proves the rules of its machine.

        Args:
            each: `map`, or the `map` of an executor, which then proves several parts at the same time.

        Raises:
            TableError: the message states the fault.
        """
        need_kind(self.header, [self.kind])
        for name, (dtype, axes, _) in self.schema().items():
            array = getattr(self, name)
            if array.ndim != axes or array.dtype != dtype:
                found, expected = f"{array.dtype.str} with {array.ndim} axes", f"{dtype} with {axes}"
                raise TableError(f"{name} is an array of {found}; expected {expected}")

    def save(self, path: str | Path) -> None:
        """Write the file that `fst.load` reads; the same table always gives the same bytes.

        The file appears only when it is complete: it is written under a different name next to ``path`` and then moved. For a URL, fsspec
        sends the file.

        Raises:
            UnsupportedError: fsspec, or its plug-in for the URL, is not installed.
            OSError: ``path`` cannot be written.
        """
        npz.save(path, self.header, self.arrays(), self.schema())

    def dumps(self) -> bytes:
        """The bytes that `save` writes."""
        return npz.dumps(self.header, self.arrays(), self.schema())

    @classmethod
    def loads(cls: type[Loaded], data: bytes) -> Loaded:
        """Make a table of this kind from the bytes of a file, with the same proof as in `fst.load`.

        Raises:
            TableError: the bytes are damaged, have a different kind or version, or are not safe to run.
        """
        try:
            return cls.proven(npz.Stored(npz.copied(data)))
        except TableError as error:
            raise TableError(f"a pickled table: {error}; pickle it again, with the version that reads it") from None

    @classmethod
    def restored(cls: type[Loaded], place: str, digest: str) -> Loaded:
        """Load a table of this kind from its file, with the same proof as in `fst.load`, if the file has a digest.

        Args:
            place: the path or the URL of the file.
            digest: as in `fst.tables.table.Origin`.

        Raises:
            TableError: the file is missing or cannot be read, has another digest, or is not a safe table of this kind.
        """
        remedy = "put this table there, or pickle fst.load(bytes_of_the_file), whose pickle contains the whole table"
        try:
            table = cls.proven(npz.Stored(npz.mapped(place)), place)
        except OSError as error:
            raise TableError(f"a pickled table: {place} cannot be read ({error.strerror}); expected digest {digest}; {remedy}") from None
        except TableError as error:
            raise TableError(f"a pickled table: {place}: {error}; expected digest {digest}; {remedy}") from None
        assert table.origin is not None
        if table.origin.digest != digest:
            raise TableError(f"a pickled table: {place} has digest {table.origin.digest}; expected {digest}; {remedy}")
        return table

    @classmethod
    def proven(cls: type[Loaded], stored: npz.Stored, place: str | Path | None = None) -> Loaded:
        """Make the table of a file, and prove that it is safe.

        Args:
            stored: the file.
            place: the path or the URL of the file, which becomes the table's `origin`; None: the table has no origin.

        The proof and the checksums run at the same time, because they are independent, and both release the interpreter's lock. If both
        fail, the error is about the checksum, because damage also causes faults in the proof.

        Raises:
            TableError: the file is damaged, has a different kind, or is not safe to run.
        """
        from concurrent.futures import ThreadPoolExecutor

        need_kind(stored.header, [cls.kind])
        places = stored.places(cls.schema())
        with ThreadPoolExecutor(min(thread_count(), MAX_THREADS)) as pool:
            whole = pool.submit(stored.verify, places)
            try:
                table = cls(stored.header, **stored.arrays(places))
                table.prove(pool.map)
            finally:
                whole.result()
        if place is not None:
            object.__setattr__(table, "origin", Origin.of(place, stored.directory))
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path and the digest of the table's file; or, if there is no file, or it is missing or has changed, the bytes of the
        table. Equal bytes pickle to equal bytes. Unpickling proves the table again.
        """
        if self.origin is not None and self.origin.is_current:
            return type(self).restored, (self.origin.place, self.origin.digest)
        return type(self).loads, (self.dumps(),)

    def __copy__(self: Loaded) -> Loaded:
        """Return the same object, because it is immutable."""
        return self

    def __deepcopy__(self: Loaded, memo: Any) -> Loaded:
        return self


def need_kind(header: Mapping[str, Any], kinds: Collection[str]) -> str:
    """The kind in the metadata of a file."""
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise TableError(f"kind is {quoted(kind)}; this version reads {', '.join(map(repr, kinds))}")
    return kind
