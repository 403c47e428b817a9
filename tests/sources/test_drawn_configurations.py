"""Drawn configurations of `tokenizers` give the same results in each way, or one of their components is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sources.crossing import COMPILED, REFUSED, crossed
from support.tiers import thinned

REFUSED_CALLS = ("offsets: ", "decode_stream: the decoder changes the text as a whole")


@pytest.mark.parametrize("seed", thinned(range(2000), 400))
def test_drawn_configuration(seed: int, tmp_path: Path) -> None:
    """All ids, offsets, decoded texts, streams and truncated rows equal those of `tokenizers`, unless a message names what is refused."""
    for outcome, message in crossed(seed, tmp_path):
        assert outcome in (COMPILED, REFUSED) or message.startswith(REFUSED_CALLS), (outcome, message)
