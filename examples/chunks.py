"""Cut a text into overlapping chunks of at most n tokens, for a retrieval index.

The arguments are a source of a vocabulary and a text::

    python examples/chunks.py examples/english-uncased-8000.txt README.md --limit 256 --overlap 32

A chunk is a span of the raw text. It begins and ends between tokens, at whitespace where possible. Its number of tokens, including special
tokens, is the number that a model reads for this chunk alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import fst
from fst.compile import tokenizer


class Chunk(NamedTuple):
    """A span of characters, from `start` up to but not including `end`, and the number of tokens of its text."""

    start: int
    end: int
    tokens: int


def chunks(tok: fst.Tokenizer, text: str, limit: int, overlap: int = 0) -> Iterator[Chunk]:
    """Yield the chunks of a text. Together, the chunks cover the text.

    Args:
        tok: any tokenizer. It encodes the entire text once, and then each chunk, to count the tokens of the chunk.
        text: a text of any length.
        limit: the maximum number of tokens of a chunk, with special tokens.
        overlap: the maximum number of tokens that a chunk shares with the previous chunk, at most half of `limit`.

    Raises:
        ValueError: `limit` is too small for a single token.
    """
    spans: Any = tok.encode_batch([text], add_special_tokens=False, offsets=True).offsets
    inner = np.flatnonzero(spans[1:, 0] >= spans[:-1, 1]) + 1  # the tokens that begin after the end of the previous token
    first = np.r_[0, inner, len(spans)]  # the indices of tokens before which a chunk may begin or end
    cuts = np.r_[0, spans[inner - 1, 1], len(text)]  # the positions in the text at which a chunk may begin or end
    capacity, begin, last = limit - int(tok.count_tokens([""])[0]), 0, len(cuts) - 1
    while begin < last:
        most = int(np.searchsorted(first, first[begin] + capacity, side="right")) - 1
        end = at_white_space(text, cuts, range(most, (begin + most) // 2, -1))
        tokens = 0
        while end > begin and (tokens := int(tok.count_tokens([text[cuts[begin] : cuts[end]]])[0])) > limit:
            end -= 1  # a word at the beginning of a text may have more tokens than elsewhere
        if end <= begin:
            raise ValueError(f"a chunk of {limit} tokens is too small for the text at character {cuts[begin]}")
        yield Chunk(int(cuts[begin]), int(cuts[end]), tokens)
        if end == last:
            return
        least = int(np.searchsorted(first, first[end] - overlap))
        begin = at_white_space(text, cuts, range(max(least, begin + 1), end + 1))


def at_white_space(text: str, cuts: NDArray[np.int64], places: range) -> int:
    """The first of the given cuts that is at whitespace or at the end of the text, or else the first cut."""
    return next((place for place in places if text[cuts[place] : cuts[place] + 1].strip() == ""), places.start)


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("text", type=click.Path(exists=True, path_type=Path))
@click.option("--limit", default=256, show_default=True, help="The largest number of tokens of a chunk.")
@click.option("--overlap", default=32, show_default=True, help="The largest number of tokens that two chunks share.")
def main(source: Path, text: Path, limit: int, overlap: int) -> None:
    """Print the chunks of TEXT with the vocabulary SOURCE, and check their counts."""
    tok, read = fst.Tokenizer(tokenizer(source)), text.read_bytes().decode()
    found = list(chunks(tok, read, limit, overlap))
    for start, end, tokens in found:
        print(f"characters {start:6} to {end:6}  {tokens:4} tokens  {' '.join(read[start:end].split())[:40]}…")
    if [chunk.tokens for chunk in found] != [len(tok.encode(read[chunk.start : chunk.end])) for chunk in found]:
        raise SystemExit("a chunk has another number of tokens")
    print(f"{len(found)} chunks, of at most {max(chunk.tokens for chunk in found)} tokens; each count is that of tok.encode")


if __name__ == "__main__":
    main()
