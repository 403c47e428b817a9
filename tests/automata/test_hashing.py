"""Tables of hashes."""

from __future__ import annotations

import numpy as np
import pytest

from fst.automata.hashing import slots_of


@pytest.mark.parametrize(("count", "size"), [(0, 0), (4, 4), (4, 12), (5, 4)])
def test_sizes_without_free_slots_are_refused(count: int, size: int) -> None:
    """A size that is not a power of two above the number of hashes is refused: a search might not end."""
    with pytest.raises(ValueError, match=f"the size is {size}; expected a power of two above {count}"):
        slots_of(np.arange(count, dtype=np.uint64), size)


def test_every_hash_has_a_slot() -> None:
    """Each item is in the slot of its hash, or in the next free slot."""
    assert slots_of(np.array([1, 1, 7], np.uint64), 8).tolist() == [0, 1, 2, 0, 0, 0, 0, 3]
