"""Tokenizers of other libraries, with which `fst bench --against` and tests/bench compare the speed of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.cli.peers.references import SentencePiece, Tiktoken, Tokenizers, kind, library
from fst.compile.files import contents
from fst.compile.sources.inputs import DOCUMENT, PIECES, RANKS
from fst.errors import FstError, UnsupportedError, VocabularyError, reason

KINDS = {DOCUMENT: "a tokenizer.json", RANKS: "a file of tiktoken's ranks", PIECES: "a model of sentencepiece"}


class Peer(NamedTuple):
    """A tokenizer of another library, which puts no special tokens around a text."""

    encode: Callable[[list[str]], Any]  # encodes a list of texts, with the fastest method of the library
    rows: Callable[[Any], Iterable[Any]] = iter  # extracts the ids of each text from the result of `encode`


def tokenizers(path: Path, _threads: int) -> Peer:
    """A tokenizer of the library `tokenizers`. Environment variables set its number of threads; see `settings`."""
    tokenizer = Tokenizers(path).tokenizer
    return Peer(partial(tokenizer.encode_batch_fast, add_special_tokens=False), lambda batch: (encoding.ids for encoding in batch))


def tiktoken(path: Path, threads: int) -> Peer:
    """A tokenizer of `tiktoken`. Like a table, it recognizes special tokens in texts."""
    return Peer(partial(Tiktoken(path).encoding.encode_batch, num_threads=threads, allowed_special="all"))


def sentencepiece(path: Path, threads: int) -> Peer:
    """A tokenizer of `sentencepiece`, from a ``.model``."""
    return Peer(partial(SentencePiece(path).processor.encode, num_threads=threads))


def gigatoken(path: Path, threads: int) -> Peer:
    """A tokenizer of `gigatoken`. Its fastest method returns an array of the library `awkward`."""
    reads = {DOCUMENT: _of_document, RANKS: _of_ranks, PIECES: _of_model}
    tokenizer = reads[kind(path)](library("gigatoken").Tokenizer, path)
    return Peer(partial(tokenizer.encode_batch, parallel=threads > 1), _of_awkward)


def _of_document(tokenizer: Any, path: Path) -> Any:
    return tokenizer.from_json(contents(path))


def _of_model(tokenizer: Any, path: Path) -> Any:
    return tokenizer.from_sentencepiece(contents(path))


def _of_ranks(tokenizer: Any, path: Path) -> Any:
    """A tokenizer of `gigatoken` from an unpacked file of ranks, whose name determines the encoding."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / path.name.removesuffix(".gz")
        file.write_bytes(contents(path))
        return tokenizer.from_tiktoken(file)


def _of_awkward(batch: Any) -> Iterable[Any]:
    awkward = library("awkward")
    ids, ends = awkward.to_numpy(awkward.flatten(batch)), accumulate(awkward.num(batch).tolist(), initial=0)
    return (ids[begin:end] for begin, end in pairwise(ends))


class Library(NamedTuple):
    """A library of tokenizers."""

    make: Callable[[Path, int], Peer]  # a function from a file and a number of threads to a tokenizer
    # the kinds of files that the library reads, as values of `fst.cli.peers.references.kind`; the preferred kind comes first
    reads: tuple[str, ...]
    is_caching: bool  # whether the library caches encoded text


LIBRARIES: Mapping[str, Library] = {
    "tokenizers": Library(tokenizers, (DOCUMENT,), is_caching=True),
    "tiktoken": Library(tiktoken, (RANKS,), is_caching=False),
    "sentencepiece": Library(sentencepiece, (PIECES,), is_caching=False),
    "gigatoken": Library(gigatoken, (DOCUMENT, RANKS, PIECES), is_caching=True),
}


def readable(name: str, sources: Mapping[str, Path]) -> Path:
    """Choose the file that a library reads. `name`: a key of `LIBRARIES`. `sources`: kind of a file → file."""
    if find_spec(name) is None:
        library(name)
    reads = LIBRARIES[name].reads
    found = [sources[one] for one in reads if one in sources]
    if not found:
        given = " and ".join(map(str, sources.values()))
        raise UnsupportedError(f"{name} does not read {given}; name {' or '.join(map(KINDS.__getitem__, reads))} with --source")
    return found[0]


def settings(threads: int) -> dict[str, str]:
    """The environment variables that set the number of threads of libraries in Rust."""
    return {"TOKENIZERS_PARALLELISM": str(threads > 1).lower(), "RAYON_NUM_THREADS": str(threads)}


class Worker:
    """A tokenizer and the texts that it encodes, in a `Process` with the environment variables of `settings`. `name`: a key of `LIBRARIES`.
    `path`: the input file of the library. `threads`: the number of threads.
    """

    def __init__(self, name: str, path: Path, threads: int) -> None:
        self._name, self._path, self._threads = name, path, threads
        self._texts: list[str] = []

    def load(self, texts: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Store texts, and return their ids: int64[n], the ids of all texts in order; int64[texts], the number of ids of each text."""
        self._texts, peer = texts, self._made()
        try:
            rows = [np.asarray(row, np.int64) for row in peer.rows(peer.encode(texts))]
        except Exception as error:  # libraries raise exceptions of any class
            raise UnsupportedError(f"{self._called()} cannot encode these texts ({reason(error)})") from None
        self._peer = peer
        return np.concatenate([np.empty(0, np.int64), *rows]), np.array([*map(len, rows)], np.int64)

    def time(self, at_least: float) -> tuple[float, float | None]:
        """Encode all texts, and return the time in seconds; if the library has a cache, encode all texts again, and return both times.

        A library with a cache gets a new tokenizer first, so its cache is empty in the first pass.

        Args:
            at_least: the minimum seconds of a measurement. Passes are repeated for at least this time, except a pass with an empty cache.
        """
        if not LIBRARIES[self._name].is_caching:
            return seconds(self._pass, at_least), None
        self._peer = self._made()
        return seconds(self._pass, 0), seconds(self._pass, at_least)

    def _pass(self) -> Any:
        return self._peer.encode(self._texts)

    def _made(self) -> Peer:
        try:
            return LIBRARIES[self._name].make(self._path, self._threads)
        except FstError:
            raise
        except Exception as error:  # libraries raise exceptions of any class
            raise VocabularyError(f"{self._path}: {self._called()} cannot read it ({reason(error)})") from None

    def _called(self) -> str:
        return f"{self._name} {version(self._name)}"


def seconds(function: Callable[[], Any], at_least: float, before: Callable[[], object] = lambda: None) -> float:
    """Call a function repeatedly, and return the mean seconds of a call, without the time to free its result. `function`: the function to
    time. `at_least`: the minimum seconds of all calls together; 0: one call. `before`: a function that is called before each call, without
    being timed.
    """
    spent, calls = 0.0, 0
    while calls == 0 or spent < at_least:
        before()
        begun = perf_counter()
        result = function()
        spent += perf_counter() - begun
        calls += 1
        del result
    return spent / calls
