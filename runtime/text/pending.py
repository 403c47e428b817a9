"""Recognise pending raw text, which cannot be normalized yet because it has no border.

A stream stores pending text even if it is long, see `fst.runtime.front_end.Pending`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import Deferred
from fst.runtime.rows.texts import PAST_END, UNIT_TYPES, Units, units, units_or_none
from fst.text.arguments import NormalizerArguments

has_border, has_lag = (Deferred("fst.runtime.text.kernels.pending", name) for name in ("has_border", "has_lag"))
UTF_8 = UNIT_TYPES["utf-8"]


class PendingBorder:
    """A test for pending raw text, which cannot be normalized yet because it has no border.

    Args:
        normalizer: the kernel's arguments for normalization.
    """

    def __init__(self, normalizer: NormalizerArguments) -> None:
        self._normalizer, self._memo, self._noted = normalizer, np.zeros(3, np.uint64), np.zeros(3, np.uint64)
        self._reach = 2 * int(normalizer.scalars.reach + normalizer.scalars.longest) + 16  # more bytes than a border depends on
        self._before, self._has_lag = b"", False

    def begins(self, text: str) -> bool:
        """Start with text that the normalizer has not read, because it has no border. If a splitter cuts the text or spans may lag, no
        border follows later.

        Return True.
        """
        data = units(text, UTF_8)
        self._has_lag = len(self._normalizer.splitter.moves) > 0 or bool(has_lag.call(data, self._normalizer))
        self._before, self._noted[:] = b"", 0
        self._has_border(data)
        return True

    def go_on(self, text: str) -> bool:
        """Whether the pending text still has no border after `text` is appended."""
        data = units_or_none(text, UTF_8)
        return data is not None and (self._has_lag or not self._has_border(data))

    def _has_border(self, more: Units) -> bool:
        """Whether there is a border in new text or shortly before it."""
        size = len(self._before) + len(more)
        data = np.frombuffer(self._before + more.tobytes() + bytes(PAST_END), np.uint8)[:size]
        found = bool(has_border.call(data, np.uint64(max(size - self._reach, 0)), self._normalizer, self._memo, self._noted))
        place, covered, _ = self._noted.tolist()
        self._before, self._noted[1] = data[place:].tobytes(), max(covered - place, 0)
        return found
