"""Encode a text with one document per line into raw ids for training, and write the index of Megatron-LM.

The arguments are a source of a vocabulary, a text, and the prefix of the output files::

    python examples/training_data.py examples/english-uncased-8000.txt README.md -o train

The output is ``train.npz``, the table; ``train.bin``, the ids; ``train.splits.npy``, the begin and end of each document; and ``train.idx``,
the index.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import fst
from fst.compile import tokenizer

# The index of Megatron-LM's IndexedDataset is a header and three arrays. The first array has the length of each sequence in tokens (int32);
# the second has the position of its first byte in the .bin (int64); the third has the number of each document's first sequence, and at the
# end the number of all sequences (int64). All numbers are little-endian.
HEADER = struct.Struct("<9sQBQQ")  # magic, version, type of the ids, sequences, documents + 1
MAGIC, VERSION = b"MMIDIDX\x00\x00", 1
TYPES: dict[int, type[np.integer[Any]]] = {4: np.int32, 8: np.uint16}
CODES = {2: 8, 4: 4}  # key: bytes per id; ids are below 2**31, so uint32 and int32 are equivalent


def encode(source: str, text: str, prefix: str) -> fst.Tokenizer:
    """Write the table, the ids, and the beginning and end of each document; return the tokenizer."""
    tokenizer(source).save(f"{prefix}.npz")
    command = [sys.executable, "-m", "fst", "encode", f"{prefix}.npz", text, "-o", f"{prefix}.bin"]
    subprocess.run(command, check=True)
    return fst.Tokenizer.load(f"{prefix}.npz")


def read_ids(prefix: str, largest: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Map the file of ids into memory, and read the index of each document's first id, followed by the end of the last document."""
    ids = np.memmap(f"{prefix}.bin", np.uint16 if largest < 1 << 16 else np.uint32, "r")
    return ids, np.load(f"{prefix}.splits.npy")


def window(ids: NDArray[Any], length: int, chance: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A random training example in the style of nanoGPT: a run of ids, and the run of equal length that begins one id later."""
    begin = chance.integers(len(ids) - length)
    return ids[begin : begin + length].astype(np.int64), ids[begin + 1 : begin + 1 + length].astype(np.int64)


def write_index(path: str, splits: NDArray[np.int64], width: int) -> None:
    """Write Megatron-LM's index of documents. A document is one sequence, or no sequence if it has no ids.

    Args:
        path: the file, with the ending ``.idx``.
        splits: int64[documents + 1], the first index of each document in the ids, and the end of the last document.
        width: the number of bytes per id, 2 or 4.
    """
    lengths = np.diff(splits)
    kept = lengths > 0
    with Path(path).open("wb") as file:
        file.write(HEADER.pack(MAGIC, VERSION, CODES[width], np.count_nonzero(kept), len(splits)))
        file.write(lengths[kept].astype("<i4").tobytes())
        file.write((splits[:-1][kept] * width).astype("<i8").tobytes())
        file.write(np.cumsum([0, *kept]).astype("<i8").tobytes())


def read_index(prefix: str) -> list[NDArray[Any]]:
    """Read the ids of each sequence by the index, as Megatron-LM does."""
    index, ids = Path(f"{prefix}.idx").read_bytes(), Path(f"{prefix}.bin").read_bytes()
    magic, version, code, sequences, _ = HEADER.unpack_from(index)
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"{prefix}.idx is no index of Megatron-LM")
    lengths = np.frombuffer(index, "<i4", sequences, HEADER.size)
    places = np.frombuffer(index, "<i8", sequences, HEADER.size + lengths.nbytes)
    return [np.frombuffer(ids, TYPES[code], int(length), int(place)) for length, place in zip(lengths, places, strict=True)]


def same(rows: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> bool:
    """Whether the rows of ids are equal to the expected ones."""
    return len(rows) == len(expected) and all(map(np.array_equal, rows, expected))


@click.command()
@click.argument("source", type=click.Path(exists=True))
@click.argument("text", type=click.Path(exists=True))
@click.option("-o", "--output", "prefix", required=True, help="The prefix of the files to write.")
def main(source: str, text: str, prefix: str) -> None:
    """Encode TEXT with the vocabulary SOURCE, and check all output files."""
    tok = encode(source, text, prefix)
    documents = [tok.encode(line) for line in Path(text).read_bytes().removesuffix(b"\n").split(b"\n")]
    ids, splits = read_ids(prefix, max(tok.get_vocab().values()))
    if not same(np.split(ids, splits[1:-1]), documents):
        raise SystemExit(f"{prefix}.bin has other ids than tok.encode gives")
    print(f"{prefix}.bin: {len(ids):,} ids of type {ids.dtype} in {len(documents)} documents, as tok.encode gives them")
    given, following = window(ids, 8, np.random.default_rng(1))
    print(f"an example of 8 ids: {given.tolist()}, and those that follow: {following.tolist()}")
    write_index(f"{prefix}.idx", splits, ids.itemsize)
    sequences = read_index(prefix)
    if not same(sequences, [row for row in documents if len(row)]):
        raise SystemExit(f"{prefix}.idx leads to other ids than tok.encode gives")
    print(f"{prefix}.idx: {len(sequences)} sequences, as tok.encode gives them")


if __name__ == "__main__":
    main()
