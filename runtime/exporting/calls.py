"""The prepared calls of an encoder."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.errors import UnsupportedError
from fst.machines.bpe.arguments import BpeArguments
from fst.machines.unigram.arguments import UnigramArguments
from fst.machines.wordpiece.arguments import Arguments as WordPieceArguments
from fst.runtime.encoder import Encoder
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.texts import PAST_END
from fst.runtime.run import MORE, NO_MORE, Runner
from fst.runtime.short_texts import Plan, plan
from fst.runtime.workspace import Workspace
from fst.tables.header import SENTENCEPIECE

Array = NDArray[Any]
MOST_STEPS = 1 << 10  # the maximum number of steps of a path
PARTS = {
    f"fst.runtime.machines.{module}": Deferred("fst.runtime.exporting.kernels.parts", f"{name}_part")
    for module, name in {
        "bpe.kernels.encode": "bpe",
        "bpe.kernels.merge_queue": "merges",
        "unigram.kernels.encode": "unigram",
        "unigram.kernels.text_scope": "text_scope",
        "unigram.kernels.word_type": "word_type",
    }.items()
}
TRIM = Deferred("fst.runtime.exporting.kernels.trimming", "trim")
OF_BPE, OF_UNIGRAM, OF_WORDPIECE = (
    Deferred("fst.runtime.exporting.kernels.paths", f"{machine}_path") for machine in ("bpe", "unigram", "wordpiece")
)


class Calls(NamedTuple):
    """The prepared calls for texts of at most `units` units.

    Attributes:
        units: the maximum number of units of a text.
        arrays: the arrays that a host reads or writes, by name.
        calls: the calls by name; None for a call that is not made. Names of calls that find spans end with ``_spans``. The call
            "encode_part" encodes a text that continues in the next call. Before a call that finds spans, ``state.before`` is the number
            of characters of earlier calls.
    """

    units: int
    arrays: dict[str, Array]
    calls: dict[str, PreparedCall | None]


def calls(encoder: Encoder, units: int) -> Calls:
    """Prepare the calls of an encoder.

    Args:
        encoder: the encoder of a machine that writes ids.
        units: the maximum number of units of a text.

    Raises:
        UnsupportedError: the kernels of this table cannot read single texts, or some texts have no ids.
    """
    runner, spans = encoder._ids_runner, _spans_runner(encoder)
    if not runner.encodes_all:
        raise UnsupportedError("unk_id is missing; expected the id of an unknown token, because exports report no unknown characters")
    if not runner.can_be_short:
        raise UnsupportedError(f"a {encoder._table.kind} table reads texts only in batches; expected a table that reads single texts")
    workspace, starts = runner.workspaces.take(), np.zeros(2, np.int64)
    common = encoder._special_ids, workspace, np.zeros(units + PAST_END, runner.unit_type), starts, units
    if spans:  # without spans, kernels for spans are as fast as kernels for ids
        front_end, runner = runner.front_end, copy(spans)
        runner.front_end = front_end
    ids = plan(runner, *common, with_spans=False)
    arrays = {"text": ids.text, "starts": starts, "state": ids.state, "ids": ids.ids}
    found = of_plan(ids, workspace, "")
    if spans:
        with_spans = plan(spans, *common, with_spans=True)
        earlier = np.zeros(1, np.uint64)
        arrays |= {"ids_spans": with_spans.ids, "offsets": with_spans.offsets, "earlier": earlier}
        found |= of_plan(with_spans, workspace, "_spans")
        found["trim_spans"] = trim_of(encoder, with_spans.ids, with_spans.offsets, ids.state, earlier)
    path, rewritten = np.zeros(3 * MOST_STEPS, np.int32), ids.calls["encode_rewritten"]
    found["path"] = path_of(runner.arguments, ids.text, starts, workspace.work, path)
    found["path_rewritten"] = rewritten and path_of(runner.arguments, rewritten.arguments[0], rewritten.arguments[1], workspace.work, path)
    if found["path"]:
        arrays["path"] = path
    if rewritten:
        arrays["rewritten"] = rewritten.arguments[0]
    return Calls(units, arrays, found)


def of_plan(ids: Plan, workspace: Workspace, suffix: str) -> dict[str, PreparedCall | None]:
    """The calls for whole texts and for parts; their names end with `suffix`. The calls `encode` and `encode_part` encode all texts, or
    only those for which `is_unchanged` returns 1.
    """
    is_unchanged = None if ids.calls["rewrite"] else ids.calls["is_unchanged"]
    encode, encode_part = (part_of(ids, more, workspace) for more in (NO_MORE, MORE))
    return {f"is_unchanged{suffix}": is_unchanged, f"encode{suffix}": encode, f"encode_part{suffix}": encode_part}


def part_of(ids: Plan, more: Any, workspace: Workspace) -> PreparedCall | None:
    """The call that encodes a text or a part of a text, after rewriting it if necessary.

    Args:
        ids: the calls for whole texts.
        more: `MORE` or `NO_MORE`, whether the text continues in the next call.
        workspace: the workspace of the kernels.
    """
    encode, rewrite, rewritten = (ids.calls[name] for name in ("encode", "rewrite", "encode_rewritten"))
    if not encode:
        return None
    text, starts, _, table, output, work = encode.arguments
    output = output._replace(ends=output.ends[:0]) if more else output  # an unfinished text is not a row yet
    if not rewrite or not rewritten:
        return PreparedCall(encode.kernel, text, starts, more, table, output, work)
    marked, normalizing = rewritten.arguments[3], rewrite.arguments[-3:]
    kernel = PARTS[encode.kernel.module]
    return PreparedCall(kernel, text, starts, more, table, marked, output, work, workspace.state, *normalizing)


def path_of(table: Any, text: Array, starts: Array, work: Any, path: Array) -> PreparedCall | None:
    """The call that writes the path of a text through an automaton; None without an automaton.

    Args:
        table, text, starts, work: arguments of the kernel that encodes.
        path: see `fst.runtime.exporting.kernels.paths`.
    """
    if isinstance(table, BpeArguments):
        return PreparedCall(OF_BPE, text, starts, table.entries, path)
    if isinstance(table, UnigramArguments) and len(table.ends.steps):
        return PreparedCall(OF_UNIGRAM, text, starts, table.ends, path)
    return PreparedCall(OF_WORDPIECE, text, starts, table, work, path) if isinstance(table, WordPieceArguments) else None


def trim_of(encoder: Encoder, ids: Array, offsets: Array, state: Array, earlier: Array) -> PreparedCall | None:
    """The call that changes spans after the kernels; None if the table does not need this call.

    Args:
        encoder: as in `calls`.
        ids, offsets, state: the output of the kernels, and their state.
        earlier: see `fst.runtime.exporting.kernels.trimming`.
    """
    if not isinstance(encoder, PretokenTokenizer):
        return None
    text, none = encoder._table.metadata.text, np.zeros(0, np.int32)
    spaces, continues = (none, none), none.astype(np.bool_)
    in_words = isinstance(encoder, UnigramTokenizer) and encoder._table.is_word_type
    if text.trimming is not None and isinstance(encoder, BpeTokenizer):
        spaces = encoder._spaces
    if in_words or text.reference.startswith(SENTENCEPIECE):
        continues = encoder._continues
    before = np.uint64(len(encoder._special_ids[0]))
    if not len(spaces[0]) and not continues.any():
        return None
    return PreparedCall(TRIM, ids, offsets, state, earlier, before, np.uint64(bool(text.trimming)), *spaces, continues, np.uint64(in_words))


def _spans_runner(encoder: Encoder) -> Runner | None:
    """The runner for spans; None if the encoder has no spans."""
    try:
        return encoder._spans_runner
    except UnsupportedError:
        return None
