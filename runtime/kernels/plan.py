"""Plans of rows for a model: the numbers that `fst.runtime.transformers.call` and its kernels share."""

from __future__ import annotations

# Strategies of truncation.
KEEP, LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND = range(4)

# Fields of `cut`, how samples are truncated: the strategy; room for one text and for two; the ids that a window shares with the one before
# it; whether ids are cut off on the left; whether there is a row for each window, or for the first alone; the ids that a template adds to
# one text and to two; whether the second text of a pair stands before the first.
STRATEGY, ROOM, PAIR_ROOM, STRIDE, CUT_LEFT, WINDOWS, ADDED, PAIR_ADDED, REVERSED = range(9)

# Fields of a sample, in texts, and of a row of a plan, in ids: where each text begins and ends, and whether there is a second one. A row
# also has the number of its sample and its length without padding.
BEGIN, END, SECOND_BEGIN, SECOND_END, PAIRED, SAMPLE, LENGTH = range(7)
SAMPLE_FIELDS, PLAN_FIELDS = 5, 7
