"""Unigram as llama.cpp runs it, the kind t5.

As in `sentencepiece`, a charsmap replaces strings, spaces become ▁, and the path with the greatest sum of scores is found in a whole part
between special tokens; sums are float64. The differences are:

- Where a text contains the beginning of a user-defined token, this beginning is kept, and no other string is replaced.
- User-defined tokens have the score 0, and tokens of the type UNUSED occur in texts.
- With `remove_extra_whitespaces`, ▁ is also added before texts without `add_space_prefix`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources.gguf.metadata import KEY, Vocabulary, added, around, decoder, template
from fst.compile.sources.sentencepiece.model_file import NORMAL, UNUSED, USER_DEFINED
from fst.compile.sources.templates import of_post_processor
from fst.compile.text.added_tokens import added_tokens
from fst.compile.text.edits.charsmaps import of_bytes
from fst.compile.text.edits.double_arrays import charsmap
from fst.compile.text.sentencepiece import CHARSMAP, SPACES, SYMBOL
from fst.compile.text.source import LLAMA_CPP, NO_SETTINGS, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.unigram.viterbi import PENALTY
from fst.tables.header import StepsDecoder
from fst.text.charsmap import LONGEST
from fst.text.whitespace import SPACE


def source(of: Vocabulary) -> Source[UnigramModel]:
    """Make a source from a vocabulary of the kind t5.

    Raises:
        UnsupportedError: a component is not supported; the message contains its name.
    """
    model = _model(of)
    ids = around(of, adds_eos=True, eos=1)
    settings = replace(
        NO_SETTINGS, decoder=StepsDecoder(tuple(decoder(strips=True))), named_tokens={"unk_token": of.tokens[of.id("unknown", 2)]}
    )
    tokens = added_tokens(added(of), model.tokens)
    return Source(model, TextPipeline(_normalizers(of), ()), tokens, of_post_processor(template(of, *ids)), settings, reference=LLAMA_CPP)


def _model(of: Vocabulary) -> UnigramModel:
    scores = [0.0 if kind == USER_DEFINED else score for score, kind in zip(of.required_scores(), of.types, strict=True)]
    normal = [score for score, kind in zip(scores, of.types, strict=True) if kind == NORMAL]
    if not normal or not all(map(isfinite, scores)):
        raise VocabularyError(f"{KEY}scores has no finite score of a token of the type NORMAL; download the file again")
    unknown = float(np.float32(min(normal)) - np.float32(PENALTY))
    listed = [*zip(of.tokens, scores, of.types, strict=True)]
    types = [kind if _may_win(token, score, unknown) else 0 for token, score, kind in listed]
    for token, score, kind in zip(of.tokens, scores, types, strict=True):
        if kind == UNUSED and score < unknown:
            raise UnsupportedError(f"token {quoted(token)} has a lower score than an unknown character; expected at least {unknown}")
    return UnigramModel(
        of.tokens, scores, of.id("unknown", 2), types=[NORMAL if kind in IN_TEXT else 0 for kind in types], unknown_score=unknown
    )


IN_TEXT = (NORMAL, USER_DEFINED, UNUSED)


def _may_win(token: str, score: float, unknown: float) -> bool:
    """Whether the best path may contain a token, because its characters, if unknown, do not have a greater sum of scores."""
    return len(token) == 1 or score >= len(token) * unknown


def _normalizers(of: Vocabulary) -> tuple[dict[str, Any], ...]:
    merges, adds = of.flag("remove_extra_whitespaces", False), of.flag("add_space_prefix", False)
    if adds and not merges:
        raise UnsupportedError(
            f"{KEY}add_space_prefix without remove_extra_whitespaces: llama.cpp adds no space to a text of spaces, such as '  '"
        )
    own = [token for token, kind in zip(of.tokens, of.types, strict=True) if kind == USER_DEFINED]
    data = _charsmap(of.bytes("precompiled_charsmap"), own)
    replaced = [{"type": CHARSMAP, "precompiled_charsmap": b64encode(data).decode(), "manner": LONGEST}] if data else []
    spaces = [{"type": SPACES, "add_dummy_prefix": True, "remove_extra_whitespaces": True, "symbol": SPACE}] if merges else []
    return *replaced, *spaces, {"type": "Replace", "pattern": {"String": SPACE}, "content": SYMBOL}


def _charsmap(data: bytes, own: Sequence[str]) -> bytes:
    """The charsmap, which keeps the beginnings of user-defined tokens."""
    wrong = next((token for token in own if not token.isascii()), None)
    if wrong:
        other = quoted(chr(ord(next(char for char in wrong if not char.isascii())) ^ 1))
        raise UnsupportedError(f"user-defined token {quoted(wrong)} is not ASCII: llama.cpp splits other characters, such as {other}")
    if not data:
        return data
    given = of_bytes(data, LONGEST).strings
    kept = {token[:size] for token in own for size in range(1, len(token) + 1)}
    return charsmap({string: string for string in kept}, given) if kept else data
