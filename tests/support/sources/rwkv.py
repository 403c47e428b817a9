"""Small vocabularies in the format of RWKV's World models, and their tokenizer by its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

BYTES = tuple(bytes([byte]) for byte in range(256))


def vocabulary(tokens: Iterable[bytes]) -> dict[bytes, int]:
    """The ids of all bytes and of further tokens, from 1."""
    return {token: number for number, token in enumerate(dict.fromkeys([*BYTES, *tokens]), 1)}


def text_of(ids: Mapping[bytes, int]) -> str:
    """The text of a file with these tokens. Tokens that are text are literals of str, all others of bytes."""
    return "".join(f"{number} {_literal(token)} {len(token)}\n" for token, number in ids.items())


def written(folder: Path, tokens: Iterable[bytes]) -> Path:
    """A file with all bytes and further tokens."""
    path = folder / "rwkv_vocab.txt"
    path.write_text(text_of(vocabulary(tokens)), encoding="utf-8", newline="\n")
    return path


def longest_match(ids: Mapping[bytes, int], text: bytes) -> list[int]:
    """The ids of a text by definition: the longest token at each position."""
    found, start, longest = list[int](), 0, max(map(len, ids))
    while start < len(text):
        end = max(end for end in range(start + 1, min(start + longest, len(text)) + 1) if text[start:end] in ids)
        found.append(ids[text[start:end]])
        start = end
    return found


def _literal(token: bytes) -> str:
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)
