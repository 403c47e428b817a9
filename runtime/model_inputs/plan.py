"""The constants of row plans, which `fst.runtime.model_inputs.call` and its kernels share."""

from __future__ import annotations

# Truncation strategies.
KEEP, LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND = range(4)

# Fields of `cut`, the truncation of samples, in order: the strategy; the maximum number of ids of one text, and of a pair; the number of
# ids that consecutive windows share; whether ids are cut off on the left; whether all windows become rows, or only the first; the number of
# special tokens around one text, and around a pair; whether the second text of a pair comes before the first.
STRATEGY, CAPACITY, PAIR_CAPACITY, STRIDE, CUT_LEFT, WINDOWS, ADDED, PAIR_ADDED, REVERSED = range(9)

# Fields of a sample, and of a row in a plan: the start and the end of the first text, the start and the end of the second text, and whether
# there is a second text. In a sample, starts and ends are indices of texts; in a row, starts and ends are indices of ids. A row has two
# more fields: the index of its sample, and its length without padding.
FIRST_BEGIN, FIRST_END, SECOND_BEGIN, SECOND_END, PAIRED, SAMPLE, LENGTH = range(7)
PLAN_FIELDS = 7
