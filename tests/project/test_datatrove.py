"""`examples/datatrove_step.py` gives the files of datatrove's own writer."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.shared_data import EXAMPLES

import fst
from fst.compile import wordpiece

tokens = pytest.importorskip("datatrove.pipeline.tokens.tokenizer", reason="datatrove is not installed: pip install datatrove")

TEXTS = [["the cat", "unaffable"], ["a house"]]

# datatrove and its packages leave files to the garbage collector, and call deprecated functions.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.mark.slow
def test_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task writes its documents, with the appended token, as `TokenizedFile` does, and the step counts the tokens."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    wordpiece(EXAMPLES / "english-uncased-8000.txt").save(tmp_path / "t.npz")
    tokenizer = fst.Tokenizer.load(tmp_path / "t.npz")
    for name in ("in", "out"):
        Path(name).mkdir()
    for number, texts in enumerate(TEXTS):
        Path("in", f"{number}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    words = ["t.npz", "in", "out", "--append", "[SEP]", "--tasks", "2"]
    done = CliRunner().invoke(importlib.import_module("datatrove_step").main, words, catch_exceptions=False)
    assert done.exit_code == 0
    for number, texts in enumerate(TEXTS):
        file = tokens.TokenizedFile(str(tmp_path), "x.ds", tokenizer_name_or_path="t.npz", save_final_metadata=True)
        for text in texts:
            file.write([*tokenizer.encode(text, add_special_tokens=False).tolist(), tokenizer.get_vocab()["[SEP]"]], None)
        file.close()
        for ending in ("", ".index", ".metadata"):
            assert Path("out", f"{number:05}.ds{ending}").read_bytes() == Path(f"x.ds{ending}").read_bytes()
