"""The merges that tables without an automaton need, which are those that the slow walk executes."""

from __future__ import annotations

import random
from base64 import b64encode
from pathlib import Path

import pytest

from fst.compile import bpe
from fst.compile.machines.bpe.canonical_tokens import executed_merges
from fst.machines.bpe.merge_list import ranks_of, steps


@pytest.mark.parametrize("seed", range(4))
def test_only_executed_merges_are_needed(seed: int, tmp_path: Path) -> None:
    """For a vocabulary of ranks, the slow walk executes only needed merges on all texts, and executes each of them on its own token."""
    draw = random.Random(seed)
    tokens = sorted({"".join(draw.choices("abc", k=draw.randrange(2, 6))) for _ in range(60)})
    draw.shuffle(tokens)
    names = [*(bytes([byte]) for byte in range(256)), *(token.encode() for token in tokens)]
    source = tmp_path / "small.tiktoken"
    source.write_text("".join(f"{b64encode(name).decode()} {rank}\n" for rank, name in enumerate(names)))
    table = bpe(source, pattern=r"\w+|\W+", special={})
    ranks, rows = ranks_of(table.merges), {tuple(row) for row in executed_merges(table).tolist()}
    texts = [name.decode() for name in names[256:]] + ["".join(draw.choices("abc", k=30)) for _ in range(200)]
    executed = {rank for text in texts for rank, _, _ in steps(ranks, table.merges, table.atoms_of(text.encode()))}
    assert {tuple(table.merges[rank].tolist()) for rank in executed} == rows
    assert len(rows) < len(table.merges)
