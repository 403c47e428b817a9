"""How parts of kernels are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import typeof

from fst.core.jit import has_private_parts, inlined, part
from fst.runtime.kernels.intrinsics import DISABLED


@part
def called(number: Any) -> Any:
    """A part that only an inlined function calls."""
    return number + np.uint64(1)


@inlined
def calls(number: Any) -> Any:
    """An inlined function that calls a part."""
    return called(number)


@pytest.mark.skipif(DISABLED or not has_private_parts(), reason="kernels are compiled without their own passes")
def test_parts_that_inlined_functions_call() -> None:
    """A part is not inlined because the function that calls it is inlined."""
    compiled: list[Any] = [called, calls]
    compiled[1].compile((typeof(np.uint64(1)),))  # this call also compiles the part
    assert [[result.fndesc.inline for result in function.overloads.values()] for function in compiled] == [[False], [True]]
