"""Random merge lists, including lists for which no automaton gives the exact tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import product

from hypothesis import strategies as some
from support.machines.bpe import Small, small
from support.machines.documents import Merges

from fst.compile.pretokens.splits import GPT2

LATE: Merges = [(b"ab", b"c"), (b"aa", b"a"), (b"a", b"b"), (b"b", b"c"), (b"a", b"a"), (b"abc", b"abc"), (b"aa", b"aa")]
NO_COMPONENTS = {"decoder": None, "normalizer": None, "post_processor": None}
ONE_PIECE = r"[\s\S]+"


def strings(letters: str, longest: int) -> list[str]:
    """All strings over some letters up to a length."""
    return ["".join(text) for length in range(longest + 1) for text in product(letters, repeat=length)]


@some.composite
def lists(draw: some.DrawFn, letters: Sequence[bytes]) -> Merges:
    """A strategy for lists of merges in random order; some merges are repeated, and some have parts that no merge makes."""
    tokens, merges = [*letters], list[tuple[bytes, bytes]]()
    for _ in range(draw(some.integers(1, 8))):
        merges.append((draw(some.sampled_from(tokens)), draw(some.sampled_from(tokens))))
        tokens.append(b"".join(merges[-1]))
    return draw(some.permutations(merges + merges[: draw(some.integers(0, 2))]))


@cache
def shuffled() -> Small:
    """A vocabulary with merges in random order, for words and special tokens."""
    merges: list[tuple[bytes, bytes]] = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"\xc3", b"\xa9"), (b"x", b"x"), (b"xx", b"x")]
    merges += [(b"xxx", b"xx"), (b" ", b" "), (b"1", b"2"), (b"12", b"12"), (b"\xe4", b"\xb8"), (b"\xe4\xb8", b"\x96"), (b"the", b"12")]
    return small(GPT2, random.Random(3).sample(merges, len(merges)), (), ("<s>", "é世"))
