"""Plans of rows for a model: the constants that `fst.runtime.model_inputs.call` and its kernels share."""

from __future__ import annotations

# Strategies of truncation.
KEEP, LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND = range(4)

# Fields of `cut`, the truncation of samples, in order: the strategy; the room for the ids of one text, and of two; the ids that consecutive
# windows share; whether ids are cut off on the left; whether each window gets a row, or only the first; the ids that a template adds to one
# text, and to two; whether the second text of a pair comes before the first.
STRATEGY, ROOM, PAIR_ROOM, STRIDE, CUT_LEFT, WINDOWS, ADDED, PAIR_ADDED, REVERSED = range(9)

# Fields of a sample and of a row in a plan: begin and end of the first text and of the second one, as indices of texts in a sample, and of
# ids in a row; and whether there is a second text. A row also has the index of its sample and its length without padding.
FIRST_BEGIN, FIRST_END, SECOND_BEGIN, SECOND_END, PAIRED, SAMPLE, LENGTH = range(7)
PLAN_FIELDS = 7
