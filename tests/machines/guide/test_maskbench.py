"""The comparison of engines of token masks, `tests/bench/maskbench.py`, on a small sample and a vocabulary of single bytes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import SHARED, TESTS, needs_shared

BENCH = TESTS / "bench"
# Schemas; then for each value whether the schema allows it, and the number of bytes that the mask allows before it refuses one, or -1.
SAMPLE: list[tuple[str, Any, list[tuple[bool, Any, int]]]] = [
    ("number", {"type": "integer", "minimum": 30, "maximum": 39}, [(True, 31, -1), (False, 3, 1), (False, 41, 0), (False, "3", 0)]),
    ("object", {"properties": {"a": {"type": "null"}}, "required": ["a"], "type": "object"}, [(False, {}, 1), (True, {"a": None}, -1)]),
    ("wrong", {"type": "string"}, [(False, "x", -1), (True, 1, 0), (True, "x", -1)]),  # its instances are marked wrongly
    ("special", {"type": "string"}, [(True, "<|endoftext|>", -1)]),  # followed by its bytes, not by the special token
    ("refused", {"type": "array", "uniqueItems": True}, [(True, [], 0)]),
]


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    """The module of the comparison."""
    sys.path.append(str(BENCH))
    import maskbench

    yield maskbench
    sys.path.remove(str(BENCH))


def written(folder: Path) -> list[Path]:
    """The sample as lines, as packed lines, and as a folder of files."""
    cases = [
        {"case_id": name, "schema": schema, "tests": [{"valid": valid, "data": data} for valid, data, _ in tests]}
        for name, schema, tests in SAMPLE
    ]
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    (folder / "files").mkdir()
    for case in cases:
        (folder / "files" / f"{case['case_id']}.json").write_text(json.dumps(case))
    (folder / "lines.jsonl").write_text(lines)
    (folder / "lines.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return [folder / "lines.jsonl", folder / "lines.jsonl.gz", folder / "files"]


def test_samples_are_read_in_each_form(bench: Any, tmp_path: Path) -> None:
    """Lines, packed lines and a folder of MaskBench's files give the same cases."""
    tok = bench.single_bytes(tmp_path)
    found = [sorted(bench.schemas(tok, path)) for path in written(tmp_path)]
    assert found[0] == found[1] == found[2]
    assert [case.id for case in found[0]] == sorted(name for name, _, _ in SAMPLE)


def test_walks_end_at_the_first_token_that_is_not_allowed(bench: Any, tmp_path: Path) -> None:
    """Each instance is followed to the end of the text or to its first token that the mask refuses, and a refused schema has a reason."""
    from mask_engines import Own, measured

    tok = bench.single_bytes(tmp_path)
    vocabulary = bench.vocabulary(tok, tmp_path / "table.npz")
    engine, found = Own(vocabulary, "schema"), {}
    for case in bench.schemas(tok, written(tmp_path)[0]):
        found[case.id] = measured(engine, vocabulary.end_id, case.kind, case.source, case.walks)
        assert bench.outcome(case, found[case.id]) == {"wrong": "wrong", "refused": "refused"}.get(case.id, "passes")
    assert {name: each.get("stops") for name, each in found.items()} == {
        name: None if name == "refused" else [stop for _, _, stop in tests] for name, _, tests in SAMPLE
    }
    assert bench.reason_of(found["refused"]["refused"]) == "uniqueItems"
    assert len(found["number"]["masks"]) == 2  # after each byte of 31, the only valid instance


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("#/definitions/format is recursive; pass a depth, or write it out", "recursive"),
        ("#/properties/a/uniqueItems is not supported for items other than a few strings", "uniqueItems"),
        ("#/properties/states: a combination of schemas has more than 400 alternatives", "combination of schemas"),
        ('Unimplemented keys: ["not"]', 'Unimplemented keys: ["not"]'),
        ("Unknown format: byte", "format"),
        ("no such 12 reason\nin two lines", "no such n reason"),
    ],
)
def test_refusals_are_counted_by_reason(bench: Any, message: str, reason: str) -> None:
    """The reason of a refusal is a keyword or a cause, without the path and the numbers of the schema."""
    assert bench.reason_of(message) == reason


@needs_shared
@pytest.mark.slow
def test_engines_are_compared(bench: Any, tmp_path: Path) -> None:
    """The table contains the outcomes of all installed engines, and the differences name the instance."""
    sample = written(tmp_path)[0]
    options: list[str | Path] = ["--tokenizer", SHARED / "vocab_bpe" / "gpt2", "--json", tmp_path / "all.json"]
    options += ["--only", "fst,llguidance", "--memory"]
    done = subprocess.run([sys.executable, BENCH / "maskbench.py", sample, *options], capture_output=True, text=True, check=True)
    rows = dict(line.strip("| ").split(" | ", 1) for line in done.stdout.splitlines() if line.startswith("| "))
    found = json.loads((tmp_path / "all.json").read_text())["found"]
    assert [*found] == [*filter(bench.is_installed, ["fst", "llguidance"])]
    assert [rows[outcome].split(" | ")[0] for outcome in ("passes", "refused", "wrong", "failed")] == ["3", "1", "1", "0"]
    assert rows["wrong"]
    assert "| wrong | 0 | no | accepts" in done.stdout
    assert all(each["memory"] > 0 for each in found["fst"].values() if "memory" in each)
