r"""Longest match as llama.cpp runs it, the kind rwkv.

At each byte, the longest token is taken. Tokens are escaped: ``\t``, ``\n``, ``\r`` and ``\x41`` are bytes, and any other character after a
backslash is itself. Special tokens are cut out of the text before; no ids are added around it.

At the end of a text, llama.cpp reads a zero byte, so a token that contains one after other bytes would be found where it does not occur.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens.splits import BYTES
from fst.compile.sources.gguf.metadata import KEY, SPECIAL, Vocabulary, added
from fst.compile.sources.rwkv import INPUTS
from fst.compile.sources.templates import BARE
from fst.compile.text.added_tokens import added_tokens
from fst.compile.text.source import LLAMA_CPP, NO_SETTINGS, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.tables.header import BYTE_LEVEL

ESCAPED = re.compile(rb"\\(?:x([0-9a-f]{2})|([^x]))", re.DOTALL)
CONTROL = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def source(of: Vocabulary) -> Source[BpeModel]:
    """Make a source from a vocabulary of the kind rwkv.

    Raises:
        VocabularyError: two tokens have the same bytes, or the escapes of a token are damaged.
        UnsupportedError: a token contains a zero byte after other bytes.
    """
    tokens: dict[bytes, int] = {}
    for number, (token, kind) in enumerate(zip(of.tokens, of.types, strict=True)):
        if kind not in SPECIAL:
            data = unescaped(token)
            if data in tokens:
                raise VocabularyError(f"{KEY}tokens contains {quoted(data)} twice; expected each token once")
            if b"\0" in data[1:]:
                raise UnsupportedError(f"token {quoted(data)} contains a zero byte after other bytes, and llama.cpp reads one after a text")
            tokens[data] = number
    model = BpeModel.of_longest_match(tokens)
    settings = replace(NO_SETTINGS, decoder=BYTE_LEVEL, model_input_names=INPUTS)
    special = added(of)
    specials = added_tokens(special, {token["content"]: token["id"] for token in special})
    return Source(model, TextPipeline((), (BYTES,)), specials, BARE, settings, reference=LLAMA_CPP)


def unescaped(token: str) -> bytes:
    r"""The bytes of an escaped token.

    Examples:
        >>> unescaped(r"\xc3\xa9\n'\'")
        b"\xc3\xa9\n''"
    """
    data = token.encode(errors="surrogateescape")
    found = ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()) if match[1] else CONTROL.get(match[2], match[2]), data)
    if ESCAPED.sub(b"", data).count(b"\\"):
        raise VocabularyError(f"{KEY}tokens contains {quoted(token)}; expected escapes such as \\n and \\x41")
    return found
