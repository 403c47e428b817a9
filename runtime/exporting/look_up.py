"""Exports of look-up: the pieces of all analyses of a word, which hosts join."""

from __future__ import annotations

from functools import partial

import numpy as np

from fst.core.prepared import PreparedCall
from fst.machines.lookup.layout import MAX_ANALYSES, MAX_FOUND
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import Calls
from fst.runtime.exporting.contents import contents_of
from fst.runtime.exporting.export import Export
from fst.runtime.machines.lookup.lookup import Lookup
from fst.runtime.rows.texts import PAST_END
from fst.runtime.run import NO_MORE, Runner
from fst.runtime.workspace import NO_SPECIAL_IDS
from fst.tables.kernel_call import SLACK, IdsOutput

MOST_PIECES = MAX_FOUND + MAX_ANALYSES + SLACK  # the pieces that a kernel finds for a word, and their weights


def of_lookup(lookup: Lookup) -> Export:
    """Export a look-up, in both directions if its table has both. Ids are pieces, see `fst.machines.lookup.layout`."""
    tokens = contents_of(map(str.encode, lookup._pieces))
    has_both = lookup._table.metadata.settings.generator is not None
    runners = [each._encoder._ids_runner for each in (lookup, *([lookup.inverted()] if has_both else []))]
    return Export(partial(lookup_calls, runners, lookup._table.is_weighted), tokens, builds(lookup._encoder, tokens), "lookup")


def lookup_calls(runners: list[Runner], is_weighted: bool, units: int) -> Calls:
    """Prepare the calls of a look-up.

    Args:
        runners: of analysis, and of generation if the table has it.
        is_weighted: whether a weight follows each analysis; then there is an array "weighted".
        units: the maximum number of units of a word.
    """
    work, text, starts = runners[0].workspaces.take().work, np.zeros(units + PAST_END, np.uint16), np.zeros(2, np.int64)
    pieces = np.zeros(MOST_PIECES, np.int32)
    output = IdsOutput(*NO_SPECIAL_IDS, pieces, np.zeros(1, np.int64))
    calls: list[PreparedCall | None] = [
        PreparedCall(runner._rows, text, starts, NO_MORE, runner.arguments, output, work) for runner in runners
    ]
    arrays = {"text": text, "starts": starts, "state": work.state, "pieces": pieces, "found": work.state}
    if is_weighted:
        arrays["weighted"] = np.zeros(1, np.uint8)
    return Calls(units, arrays, dict(zip(("analyse", "generate"), calls, strict=False)))
