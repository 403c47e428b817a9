"""What a host without Python needs of a tokenizer or a searcher: prepared calls of its kernels, and the bytes of its tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.prepared import PreparedCall
from fst.errors import UnsupportedError
from fst.pretokens.decoding import SIZE_BITS
from fst.runtime.encoder import Encoder
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.texts import PAST_END
from fst.runtime.run import Runner
from fst.runtime.short_texts import CALLS, plan
from fst.runtime.text.decoder import decoded
from fst.runtime.tokenizer import Tokenizer
from fst.tables.decoder_steps import ALL, STRIP, Steps
from fst.tables.decoder_steps import plan as decoder_plan
from fst.tables.header import SENTENCEPIECE, ByteLevelDecoder, StepsDecoder

Array = NDArray[Any]
# Flags of an id: no token has it; it is skipped with the special tokens; at the end of a text, its last byte is dropped; its token
# represents a byte.
UNKNOWN, SKIPPED, SHORTENED, BYTE = 1, 2, 4, 8


class Calls(NamedTuple):
    """The prepared calls for texts of at most `units` units.

    Attributes:
        units: the maximum number of units of a text.
        arrays: the arrays that a host reads or writes, by name.
        calls: the calls by name, those that find spans with the suffix ``_spans``; None for a call that is not made.
    """

    units: int
    arrays: dict[str, Array]
    calls: dict[str, PreparedCall | None]


def calls(encoder: Encoder, units: int) -> Calls:
    """Prepare the calls of an encoder.

    Args:
        encoder: a tokenizer, or the encoder of a searcher.
        units: the maximum number of units of a text.

    Raises:
        UnsupportedError: kernels cannot read single texts of this table.
    """
    runner, spans = encoder._ids_runner, _spans_runner(encoder)
    if not runner.can_be_short:
        raise UnsupportedError(f"{encoder._table.kind} tables whose texts can only be read in batches cannot be exported")
    workspace, starts = runner.workspaces.take(), np.zeros(2, np.int64)
    common = encoder._special_ids, workspace, np.zeros(units + PAST_END, runner.unit_type), starts, units
    if spans:  # kernels for spans find ids alone just as fast
        runner, own = copy(spans), runner.front_end
        runner.front_end = own
    ids = plan(runner, *common, with_spans=False)
    arrays = {"text": ids.text, "starts": starts, "state": ids.state, "ids": ids.ids}
    found = dict(zip(CALLS, ids.calls, strict=True))
    if spans:
        both = plan(spans, *common, with_spans=True)
        arrays |= {"ids_spans": both.ids, "offsets": both.offsets}
        found |= {f"{name}_spans": call for name, call in zip(CALLS, both.calls, strict=True)}
    return Calls(units, arrays, found)


def _spans_runner(encoder: Encoder) -> Runner | None:
    """The runner for spans; None if there is none, or if spans are changed after kernels have written them."""
    text = getattr(encoder._table.metadata, "text", None) if isinstance(encoder, PretokenTokenizer) else None
    is_changed = text is not None and (text.trimming is not None or text.reference.startswith(SENTENCEPIECE))
    if is_changed or getattr(encoder._table, "is_word_type", False):
        return None
    try:
        return encoder._spans_runner
    except UnsupportedError:
        return None


class Contents(NamedTuple):
    """The bytes of tokens. A text is the bytes of its tokens, one after another; in the first token with bytes, those of `first`.

    Attributes:
        contents: uint8[n].
        first, next: uint64[ids], the span of each token in `contents`, see `fst.pretokens.decoding`: as the first of a text, and elsewhere.
        flags: uint8[ids], bits of `UNKNOWN`, `SKIPPED`, `SHORTENED` and `BYTE`.
    """

    contents: Array
    first: Array
    next: Array
    flags: Array


def contents(tok: Tokenizer) -> Contents | None:
    """Find the bytes of a tokenizer's tokens.

    Returns:
        None if the decoder changes the text in a way that depends on more than the first and the last token.
    """
    names, decoder = tok._tokens_by_id, tok._settings.decoder
    if isinstance(decoder, ByteLevelDecoder):
        same = {number: tok.token_bytes(number) or b"" for number in names}  # type: ignore[attr-defined]  # of byte-level BPE
        return _laid_out({number: (content,) * 3 for number, content in same.items()}, tok._skipped, ())
    if isinstance(decoder, StepsDecoder):
        return _of_steps(names, decoder.steps, tok._skipped)
    known = {number: (decoded([name], decoder), decoded(["", name], decoder)) for number, name in names.items()}
    return _laid_out({number: (first.encode(), *(later.encode(),) * 2) for number, (first, later) in known.items()}, tok._skipped, ())


def _of_steps(names: Mapping[int, str], steps: Steps, skipped: Collection[int]) -> Contents | None:
    """The bytes of tokens that a decoder changes step by step."""
    by = decoder_plan(steps)
    strips = by.tail if by else ()
    is_covered = len(strips) <= 1 and all(step["type"] == STRIP and step["start"] <= 1 and not step["stop"] for step in strips)
    if by is None or not is_covered or any(step.get("leading") == ALL for step in steps):
        return None
    cut = strips[0]["content"].encode() if strips and strips[0]["start"] else b""
    found = {
        number: (by.content(name, is_first=True).removeprefix(cut), by.content(name), by.content(name, is_last=True))
        for number, name in names.items()
    }
    return _laid_out(found, skipped, {number for number, name in names.items() if isinstance(by.changed(name), int)})


def _laid_out(whole: Mapping[int, tuple[bytes, bytes, bytes]], skipped: Collection[int], are_bytes: Collection[int]) -> Contents | None:
    """Lay out the bytes of tokens.

    Args:
        whole: for each id, the bytes of its token as the first of a text, elsewhere, and as the last.
        skipped: the ids that are skipped with the special tokens.
        are_bytes: the ids of tokens that represent a byte, of which each is decoded to U+FFFD if a run of them is not UTF-8.

    Returns:
        None if the bytes of a token depend on other tokens in another way.
    """
    size = max(whole, default=-1) + 1
    firsts, nexts, flags = np.zeros(size, np.uint64), np.zeros(size, np.uint64), np.full(size, UNKNOWN, np.uint8)
    places: dict[bytes, int] = {}
    parts, end = [], 0
    for number, (first, following, last) in whole.items():
        if last not in (following, following[:-1]) or (first and not following):
            return None
        flags[number] = SKIPPED * (number in skipped) | SHORTENED * (last != following) | BYTE * (number in are_bytes)
        for spans, content in ((firsts, first), (nexts, following)):
            if content not in places:
                places[content], end = end, end + len(content)
                parts.append(content)
            spans[number] = places[content] << SIZE_BITS | len(content)
    return Contents(np.frombuffer(b"".join(parts), np.uint8), firsts, nexts, flags)
