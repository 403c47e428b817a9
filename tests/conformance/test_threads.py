"""Threads that share one object get the results of one thread, for every kind of table; see `support.core.shared`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.core.shared import save, shared

from fst.registry import MACHINES


@pytest.mark.slow
def test_threads_share_objects(tmp_path: Path) -> None:
    """Eight threads that call a tokenizer, searcher, segmenter, look-up, rewriter or guide at once, from its first call on, get the results
    of one thread.
    """
    save(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.npz")} == set(MACHINES)
    assert [shared(tmp_path) for _ in range(3)] == [[]] * 3
