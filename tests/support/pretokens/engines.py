"""Functions that find the matches of a pattern with the regex engines of `tokenizers` and `tiktoken`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from fst.text.splitter import Span

Matches = Callable[[str], list[str]]


def oniguruma(pattern: str) -> Matches:
    """A function that finds matches with Oniguruma, the engine of `tokenizers`."""
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]


def fancy_regex(pattern: str, characters: str, longest: int) -> Matches:
    """A function that finds matches with fancy-regex, the engine of `tiktoken`, in texts of `characters` with at most `longest` characters.

    The vocabulary contains all these strings, so each match becomes one token.
    """
    import tiktoken

    strings = ("".join(chars).encode() for length in range(1, longest + 1) for chars in product(characters, repeat=length))
    ranks = {string: rank for rank, string in enumerate(dict.fromkeys([*(bytes([byte]) for byte in range(256)), *strings]))}
    encoding = tiktoken.Encoding("engine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: [encoding.decode_single_token_bytes(token).decode() for token in encoding.encode_ordinary(text)]


def cut(text: str, spans: Sequence[Span]) -> list[str]:
    """Cut the spans of a splitter out of a text, to compare them with the matches of an engine."""
    return [text[start:end] for start, end in spans]
