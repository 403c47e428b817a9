r"""Read the vocabulary of RWKV's World models, ``rwkv_vocab_v20230424.txt``: a greedy longest match over bytes.

A line contains an id, a token, and the number of the token's bytes: ``33 ' ' 1`` or ``129 b'\x80' 1``. The token is a literal of Python, of
str (in UTF-8) or of bytes. The file has no special tokens: the id 0, which ends a text in training, has no line.

Source: ``rwkv_tokenizer.py`` of rwkv 0.8.32.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens.splits import BYTES
from fst.compile.sources.numbered_lines import distinct
from fst.compile.sources.templates import BARE
from fst.compile.text.source import NO_SETTINGS, RWKV, Source, TextPipeline
from fst.errors import VocabularyError, quoted
from fst.tables.header import BYTE_LEVEL, AddedTokens

LINE = re.compile(r"""(\d{1,10}) (b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*") (\d{1,10})""", re.ASCII)
INPUTS = ["input_ids", "attention_mask"]


def is_vocabulary(text: str) -> bool:
    """Whether a text begins like a vocabulary of RWKV."""
    return LINE.fullmatch(text.partition("\n")[0].rstrip("\r")) is not None


def of_text(text: str, path: Path) -> Source[BpeModel]:
    """Make a source from the text of a file."""
    return of_tokens(_tokens(text, path))


def of_tokens(tokens: dict[bytes, int]) -> Source[BpeModel]:
    """Make a source from tokens and their ids."""
    added = AddedTokens({}, contextual={}, context=None, skipped=(), normalized=())
    settings = replace(NO_SETTINGS, decoder=BYTE_LEVEL, model_input_names=INPUTS)
    return Source(BpeModel.of_longest_match(tokens), TextPipeline((), (BYTES,)), added, BARE, settings, reference=RWKV)


def _tokens(text: str, path: Path) -> dict[bytes, int]:
    lines = ((number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    return distinct(((number, *_token(line, f"{path}, line {number}")) for number, line in lines), path, "id")


def _token(line: str, where: str) -> tuple[bytes, int]:
    """The token and the id of a line."""
    found = LINE.fullmatch(line)
    if not found:
        raise VocabularyError(f"{where} is {quoted(line)}; expected an id, a literal of str or bytes, and its number of bytes")
    number, literal, size = found.groups()
    try:
        value = ast.literal_eval(literal)
        token: bytes = value.encode() if isinstance(value, str) else value
    except (ValueError, SyntaxError) as error:
        raise VocabularyError(f"{where}: the token {quoted(literal)} is not a literal of Python: {error}") from None
    if len(token) != int(size) or not token:
        raise VocabularyError(f"{where}: the token {quoted(literal)} has {len(token)} bytes; expected {size}, and at least 1")
    return token, int(number)
