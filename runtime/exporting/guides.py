"""Exports of guides: a table's masks, and the steps between its states. A guide that makes masks late has no table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.runtime.exporting.calls import Calls
from fst.runtime.exporting.export import Export
from fst.runtime.machines.guide.guide import Guide
from fst.runtime.rows.texts import PAST_END
from fst.tables.kernel_call import State

NUMBERS = 4  # see `fst.runtime.exporting.kernels.guides.describe`

describe, write_mask, step, check_final = (
    Deferred("fst.runtime.exporting.kernels.guides", name) for name in ("describe", "write_mask", "step", "check_final")
)


def of_guide(guide: Guide) -> Export:
    """Export a guide of a table."""
    table: Any = guide._table
    return Export(partial(guide_calls, table.automaton(), table.tokens(), table.masks()), host="guide")


def guide_calls(automaton: Any, tokens: Any, masks: Any, units: int) -> Calls:
    """Prepare the calls of a guide, which reads no text. The arguments are those of its kernels."""
    numbers, mask = np.zeros(NUMBERS, np.int64), np.zeros((1, masks.rows.shape[1]), np.uint32)
    arrays: dict[str, Any] = {"text": np.zeros(units + PAST_END, np.uint8), "starts": np.zeros(2, np.int64), "state": State()}
    calls: dict[str, PreparedCall | None] = {
        "describe": PreparedCall(describe, numbers, automaton, tokens),
        "mask": PreparedCall(write_mask, numbers, masks, mask),
        "step": PreparedCall(step, numbers, automaton, tokens, masks),
        "check_final": PreparedCall(check_final, numbers, automaton),
    }
    return Calls(units, {**arrays, "numbers": numbers, "mask": mask}, calls)
