"""What a host without Python needs of a tokenizer or a searcher: prepared calls of its kernels, and the bytes of its tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.errors import UnsupportedError
from fst.machines.bpe.arguments import MergeArguments
from fst.pretokens.short_words import shift_of
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
# represents a byte; and `fst.runtime.kernels.unpacking.WORD`.
UNKNOWN, SKIPPED, SHORTENED, BYTE, WORD = 1, 2, 4, 8, 16
MOST_DROPS = 15
LOWEST_32 = (1 << 32) - 1

build_spans, build_words, build_short_words, build_pairs, build_made = (
    Deferred("fst.runtime.kernels.unpacking", f"build_{name}") for name in ("spans", "words", "short_words", "pairs", "made")
)


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
    """The bytes of tokens, one after another in the order of ids. A text is the bytes of its tokens without their first few bytes.

    Attributes:
        contents: uint8[n].
        sizes: uint16[ids], the number of bytes of each token.
        flags: uint8[ids], bits of `UNKNOWN`, `SKIPPED`, `SHORTENED`, `BYTE` and `WORD`.
        drops: uint8[ids], the number of bytes to drop from a token that is the first with bytes in a text; and, times 16, from others.
        spans: uint64[ids], the span of each token, see `fst.pretokens.decoding`.
    """

    contents: Array
    sizes: Array
    flags: Array
    drops: Array
    spans: Array


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
    ids = max(whole, default=-1) + 1
    sizes, flags, drops = np.zeros(ids, np.uint16), np.full(ids, UNKNOWN, np.uint8), np.zeros(ids, np.uint8)
    parts: dict[int, bytes] = {}
    for number, (first, following, last) in whole.items():
        longer = max(first, following, key=len)
        cut, later = len(longer) - len(first), len(longer) - len(following)
        are_ends = longer.endswith(first) and longer.endswith(following) and cut <= MOST_DROPS and later <= MOST_DROPS
        if not are_ends or last not in (following, following[:-1]) or (first and not following):
            return None
        parts[number], sizes[number], drops[number] = longer, len(longer), cut | later << 4
        flags[number] = SKIPPED * (number in skipped) | SHORTENED * (last != following) | BYTE * (number in are_bytes)
    data = np.frombuffer(b"".join(parts[number] for number in sorted(parts)), np.uint8)
    spans = np.zeros(ids, np.uint64)
    build_spans.call(sizes, spans)
    return Contents(data, sizes, flags, drops, spans)


def builds(encoder: Encoder, tokens: Contents | None) -> list[PreparedCall]:
    """The calls that build arrays of a table from smaller ones, in their order; the last argument of each is the array.

    Args:
        encoder: as in `calls`.
        tokens: the bytes of its tokens, whose flags `WORD` are set.
    """
    if tokens is None:
        return []
    found, arguments = [PreparedCall(build_spans, tokens.sizes, tokens.spans)], encoder._ids_runner.arguments
    shared = getattr(arguments, "shared", None)
    if shared is not None and hasattr(shared, "short_words"):
        values = shared.words[3::4]
        tokens.flags[(values[values > 0] & np.uint64(LOWEST_32)).astype(np.int64)] |= WORD
        common = tokens.contents, tokens.spans, tokens.flags
        shift = np.array([shift_of(shared.short_words.reshape(-1, 2))], np.uint64)
        found.append(PreparedCall(build_words, *common, shared.displacements, shared.params, shared.words))
        found.append(PreparedCall(build_short_words, *common, shift, shared.short_words))
    if isinstance(arguments, MergeArguments):
        left, right, made = (_planes(encoder._table.merges[:, column]) for column in range(3))
        found += [PreparedCall(build_pairs, left, right, arguments.pairs), PreparedCall(build_made, made, arguments.made)]
    return [call for call in found if _is_exact(call)]


def _planes(numbers: Array) -> Array:
    """uint8[3, n], the lowest three bytes of each number; such rows are compressed better than the numbers."""
    return np.stack([numbers >> shift & 0xFF for shift in (0, 8, 16)]).astype(np.uint8)


def _is_exact(call: PreparedCall) -> bool:
    """Whether a call builds the array that a table has."""
    *arguments, expected = call.arguments
    built = np.zeros_like(expected)
    call.kernel.call(*arguments, built)
    return np.array_equal(built, expected)
