"""Checkpoints of training runs: the state of a trainer in an ``.npz``, from which a run resumes with identical results.

A checkpoint contains a digest of the words and options; runs with other words or options cannot resume from it. A checkpoint also contains
a digest of its arrays, because an array that was changed in the file might pass the proof of the state.
"""

from __future__ import annotations

import errno
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fst.counting.words import Words
from fst.errors import VocabularyError
from fst.tables.npz import need_writable, replacing

DIGEST, SEAL = "digest", "seal"  # names in a checkpoint: the digest of words and options, and the digest of the state

State = TypeVar("State", bound=tuple[Any, ...])  # a NamedTuple of arrays


def need_checkpoint(path: str | Path) -> None:
    """Try before a run whether a checkpoint can be written to a path."""
    if Path(path).exists():
        with _blaming(path), zipfile.ZipFile(_regular(path)) as file:
            if not {f"{name}.npy" for name in (DIGEST, SEAL)} <= {*file.namelist()}:
                raise ValueError("no digest")
    need_writable(path)


def write(path: str | Path, state: State, digest: str) -> None:
    """Write the state of a run; the file appears only when it is complete. `digest`: the result of `digest_of`."""
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **members_of(digest, cast(Any, state)._asdict()))


def resumed(path: str | Path, first: State, digest: str, prove: Callable[[State], None]) -> State:
    """The state in a checkpoint.

    Args:
        path: an existing file.
        first: the first state of the run, whose fields have the same names, dtypes and numbers of axes.
        digest: the digest of the run's words and options.
        prove: see `fst.train.control.Control.run`.
    """
    arrays = _read(Path(path))
    found, seal = (str(arrays.pop(name, "")) for name in (DIGEST, SEAL))
    forms = {name: (array.dtype, array.ndim) for name, array in arrays.items()}
    if found != digest or forms != {name: (part.dtype, part.ndim) for name, part in cast(Any, first)._asdict().items()}:
        raise VocabularyError(
            f"{path} is a checkpoint of other words or options, or of another version of fst; expected those of this run; "
            "repeat the run that wrote it, or name another file"
        )
    if seal != _seal_of(digest, arrays):
        raise VocabularyError(f"{path} is damaged; expected the arrays written by a run; remove it and start again")
    read = type(first)(**arrays)
    prove(read)
    return read


def digest_of(words: Words, options: Mapping[str, object]) -> str:
    """A digest of words and of all options that determine a vocabulary; a checkpoint with another digest is refused. `words`: the words
    with their counts and first occurrences. `options`: the name of the trainer and its options, as values for `json.dumps`.
    """
    facts = {**options, "split": words.split, "min_count": words.min_count, "bytes": len(words.text), "words": len(words)}
    hashed = sha256(json.dumps(facts, sort_keys=True, default=int).encode())  # `default=int` converts NumPy's integers
    for part in (words.text, words.ends, words.counts, words.first):
        hashed.update(np.ascontiguousarray(part).data)
    return hashed.hexdigest()


def members_of(digest: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The arrays of a checkpoint file, by name. `arrays`: the fields of the state."""
    return {DIGEST: np.array(digest), SEAL: np.array(_seal_of(digest, arrays)), **arrays}


def _seal_of(digest: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """A digest of a state's fields and of the run's digest, to find damaged checkpoints."""
    hashed = sha256(digest.encode())
    for name, array in sorted(arrays.items()):
        hashed.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Read the arrays of a checkpoint. Compressed members are refused, so the arrays need no more memory than the size of the file."""
    with _blaming(path):
        with zipfile.ZipFile(_regular(path)) as file:
            if any(member.compress_type != zipfile.ZIP_STORED for member in file.infolist()):
                raise ValueError("compressed members")
        with np.load(path, allow_pickle=False) as stored:
            return {name: _owned(stored[name]) for name in stored.files}


def _regular(path: str | Path) -> str | Path:
    if not Path(path).is_file():  # reading a device such as /dev/zero may never end
        raise ValueError("no regular file")
    return path


@contextmanager
def _blaming(path: str | Path) -> Iterator[None]:
    """Turn the errors of a damaged file into one error with the name of the file."""
    try:
        yield
    except (ValueError, KeyError, EOFError, MemoryError, OverflowError, RuntimeError, TypeError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a seek to a position before the start of the file raises EINVAL
            raise
        raise VocabularyError(f"{path} is damaged or not a checkpoint; expected an .npz of a training run; name another file") from error


def _owned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of an array. The copy owns its data, so trainers can resize the copy in place.

    Arrays with elements of 0 bytes are refused, since they can have any length.
    """
    if not np.asarray(array).dtype.itemsize:
        raise ValueError("elements of 0 bytes")
    return np.array(array)
