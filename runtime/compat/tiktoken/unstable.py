"""Completions of a text, as in ``tiktoken.Encoding.encode_with_unstable``: rows of ids that may follow the stable ids.

The last pre-token of a text is unstable, as is the whitespace before this pre-token. For each position in this unstable text, the search
replaces the bytes after the position by each token that begins with these bytes, and encodes the result. The search follows ``tiktoken``
0.14.0, which misses some completions.

Source: ``tiktoken`` 0.14.0, ``src/lib.rs``, ``_encode_unstable_native``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile

SPACES = b" \n\t"  # tokens that consist only of these bytes may be unstable, too
NO_SPACES = "\x1c\x1d\x1e\x1f"  # whitespace in Python, but not in ``tiktoken``

Row = tuple[int, ...]


def with_spaces(contents: Sequence[bytes | None], count: int) -> int:
    r"""Count the unstable tokens: the tokens of the last pre-token and, if the first of them is whitespace, the whitespace tokens before
    the pre-token.

    Args:
        contents: the bytes of the tokens of a text; None for special tokens.
        count: the number of tokens of the last pre-token, at least 1.

    Examples:
        >>> with_spaces([b"a", b"\n", b" ", b" b"], 1), with_spaces([b"a", b"\n", b" ", b"  "], 1)
        (1, 3)
    """
    rest = contents[len(contents) - count :: -1]
    spaces = sum(1 for _ in takewhile(lambda content: content is not None and not content.strip(SPACES), rest))
    return max(count, count + spaces - 1)


class Completions:
    """A search for the completions of unstable text.

    Args:
        ranks: a mapping from token to id; tokens with lower ids are merged earlier.
        encode: a function that encodes texts without special tokens.
    """

    def __init__(self, ranks: Mapping[bytes, int], encode: Callable[[list[str]], Iterable[Sequence[int]]]) -> None:
        self._ranks, self._encode, self._sorted = ranks, encode, sorted(ranks)
        self._sizes = {number: len(token) for token, number in ranks.items()}

    def of(self, unstable: bytes) -> set[Row]:
        """Find the completions of the bytes of unstable tokens. A completion is a row of ids."""
        found: set[Row] = {(self._ranks[token],) for token in self._beginning_with(unstable)}
        for place in range(1, len(unstable)):
            tried = [unstable[:place] + token for token in self._beginning_with(unstable[place:])]
            found |= {self._cut(ids, len(unstable)) for ids in self._encoded(tried)}
        last = unstable.decode()[-1]
        if last.isspace() and last not in NO_SPACES and last.encode() != unstable:
            found.add((*self._merged(unstable[: -len(last.encode())]), *self._merged(last.encode())))
        return found

    def _beginning_with(self, beginning: bytes) -> Iterator[bytes]:
        first = bisect_left(self._sorted, beginning)
        return takewhile(lambda token: token.startswith(beginning), (self._sorted[at] for at in range(first, len(self._sorted))))

    def _encoded(self, tried: list[bytes]) -> Iterator[Sequence[int]]:
        """Encode byte strings: valid UTF-8 as a text, other bytes as one pre-token."""
        texts = {content: content.decode(errors="replace") for content in tried}
        valid = [text for content, text in texts.items() if text.encode() == content]
        yield from self._encode(valid)
        yield from (self._merged(content) for content, text in texts.items() if text.encode() != content)

    def _merged(self, piece: bytes) -> list[int]:
        """Encode a pre-token by repeatedly merging the two adjacent tokens for which the merged token has the lowest id."""
        ends = [*range(len(piece) + 1)]
        while True:
            pairs = [(self._ranks.get(piece[ends[at] : ends[at + 2]]), at + 1) for at in range(len(ends) - 2)]
            known = [(number, at) for number, at in pairs if number is not None]
            if not known:
                return [self._ranks[piece[start:end]] for start, end in pairwise(ends)]
            del ends[min(known)[1]]

    def _cut(self, ids: Sequence[int], size: int) -> Row:
        """Return the shortest prefix of `ids` with at least `size` bytes."""
        for count, number in enumerate(ids, 1):
            size -= self._sizes[number]
            if size <= 0:
                return tuple(ids[:count])
        return tuple(ids)
