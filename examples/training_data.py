"""Encode a text with one document per line into the files of Megatron-LM, and read them back.

The arguments are a source of a vocabulary, a text, and the prefix of the output files::

    python examples/training_data.py examples/english-uncased-8000.txt README.md -o train

The output is ``train.npz``, the table; ``train.bin``, the ids; and ``train.idx``, the index.
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


def encode(source: str, text: str, prefix: str) -> fst.Tokenizer:
    """Write the table, the ids and the index; return the tokenizer."""
    tokenizer(source).save(f"{prefix}.npz")
    command = [sys.executable, "-m", "fst", "encode", f"{prefix}.npz", text, "--format", "megatron", "-o", f"{prefix}.bin"]
    subprocess.run(command, check=True)
    return fst.Tokenizer.load(f"{prefix}.npz")


def window(ids: NDArray[Any], length: int, chance: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A random training example in the style of nanoGPT: a run of ids, and the run of equal length that begins one id later."""
    begin = chance.integers(len(ids) - length)
    return ids[begin : begin + length].astype(np.int64), ids[begin + 1 : begin + 1 + length].astype(np.int64)


def read_index(prefix: str) -> list[NDArray[Any]]:
    """Map the ids into memory, and find the ids of each sequence by the index, as Megatron-LM does."""
    index = Path(f"{prefix}.idx").read_bytes()
    magic, version, code, sequences, _ = HEADER.unpack_from(index)
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"{prefix}.idx is no index of Megatron-LM")
    lengths = np.frombuffer(index, "<i4", sequences, HEADER.size)
    places = np.frombuffer(index, "<i8", sequences, HEADER.size + lengths.nbytes)
    ids = np.memmap(f"{prefix}.bin", TYPES[code], "r")
    begins = places // ids.itemsize
    return [ids[begin : begin + length] for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)]


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
    sequences = read_index(prefix)
    if not same(sequences, [row for row in documents if len(row)]):
        raise SystemExit(f"{prefix}.idx leads to other ids than tok.encode gives")
    print(f"{prefix}.idx: {len(sequences)} sequences, as tok.encode gives them")
    ids = np.fromfile(f"{prefix}.bin", sequences[0].dtype)
    print(f"{prefix}.bin: {len(ids):,} ids of type {ids.dtype} in {len(documents)} documents")
    given, following = window(ids, 8, np.random.default_rng(1))
    print(f"an example of 8 ids: {given.tolist()}, and those that follow: {following.tolist()}")


if __name__ == "__main__":
    main()
