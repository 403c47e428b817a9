"""Constants for kernels, as unsigned numbers. Signed constants would make indices signed, and numba would test every index for a negative
value.

Other modules, such as `fst.automata.rows`, define most of the values.
"""

from __future__ import annotations

import numpy as np

from fst.automata import rows

U0, U1, U2, U3, U4, U6, U7, U8, U10, U11 = (np.uint64(number) for number in (0, 1, 2, 3, 4, 6, 7, 8, 10, 11))
U12, U15, U16, U18, U21, U32, U42, U48, U54, U63, U64 = (np.uint64(number) for number in (12, 15, 16, 18, 21, 32, 42, 48, 54, 63, 64))
LOW_7, LOW_10 = np.uint64((1 << 7) - 1), np.uint64((1 << 10) - 1)
HALF, LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)  # a shift and a mask for 64-bit numbers that contain two 32-bit numbers

# Fields of entries and records, see `fst.automata.rows`.
NEXT, OUTPUT = np.uint64(rows.MAX_NEXT), np.uint64(rows.MAX_OUTPUT)
KIND_SHIFT, OUTPUT_SHIFT, LABEL_SHIFT = np.uint64(rows.KIND_SHIFT), np.uint64(rows.OUTPUT_SHIFT), np.uint64(rows.LABEL_SHIFT)
MANY, FAIL, LIST = np.uint64(rows.MANY), np.uint64(rows.FAIL), np.uint64(rows.LIST)
RARE = np.uint64((rows.MANY & rows.FAIL) << rows.KIND_SHIFT)  # the bit that MANY and FAIL share
LAST_OUTPUT = np.uint64(rows.LAST_OUTPUT)
FENCE = OUTPUT << OUTPUT_SHIFT  # the record of a fence has exactly these bits
ROOT, LINK = np.uint64(rows.ROOT), np.uint64(rows.LINK)
STARTS_SPECIAL, HAS_MARKS, CONTINUES_RUN = np.uint64(rows.STARTS_SPECIAL), np.uint64(rows.HAS_MARKS), np.uint64(rows.CONTINUES_RUN)
HASH_MULTIPLIER = np.uint64(rows.MULTIPLIERS[0])
