"""Best paths of WeTextProcessing's taggers, compared with those that OpenFst found."""

from __future__ import annotations

import gzip
import json

import pytest
from support.machines.transducers import rewritten
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

from fst.compile.machines.best_path.compiler import best_path
from fst.machines.best_path.ties import ties

ORACLES = SHARED / "oracles" / "morphology"


@needs_shared
@pytest.mark.parametrize("name", ["zh_tn_tagger.fst", "zh_itn_tagger.fst", pytest.param("en_tn_tagger.fst", marks=pytest.mark.slow)])
def test_taggers(name: str) -> None:
    """The walk finds OpenFst's weights and the kernel the walk's texts, which are OpenFst's if one path is best; if several are, OpenFst's
    text is one of the ties.
    """
    with gzip.open(ORACLES / "wetext.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["fst"] == name]
    table, texts = best_path(ORACLES / f"{name}.gz"), [row["text"] for row in rows]
    table.prove()
    new = rewritten(table, texts)
    assert [text for row, text in zip(rows, new, strict=True) if not row["tied"]] == [row["output"] for row in rows if not row["tied"]]
    tied = sample([row for row in rows if row["tied"]], 6)
    assert all(row["output"].encode() in ties(table, row["text"].encode(), 2000) for row in tied)
    for row, text in sample([*zip(rows, new, strict=True)], 6):
        path = table.path(row["text"].encode())
        assert path
        assert table.output(path).decode() == text
        assert table.weight_of(path.weight) == pytest.approx(row["cost"], abs=1e-3)
