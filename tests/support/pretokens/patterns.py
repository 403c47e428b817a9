"""Patterns of well-known vocabularies."""

from __future__ import annotations

from fst.compile.sources.tiktoken import ENCODINGS

CL100K, O200K = ENCODINGS["cl100k_base"].pattern, ENCODINGS["o200k_base"].pattern
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ANY = r"|[\s\S]"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
MANY_CLASSES = "|".join(first + second for first, second in zip(LETTERS, LETTERS[1:] + "a", strict=True)) + ANY
