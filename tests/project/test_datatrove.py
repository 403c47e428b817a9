"""Steps for datatrove: `examples/datatrove_step.py` gives the files of datatrove's own writer, and words are those of one process."""

from __future__ import annotations

import importlib
import json
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.shared_data import EXAMPLES

import fst
from fst import train
from fst.compile import wordpiece
from fst.errors import UnsupportedError

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


def test_documents_of_a_list(tmp_path: Path) -> None:
    """A list of documents, with which a pipeline may begin, is encoded once."""
    from datatrove.data import Document

    from fst.cluster.datatrove import Encode

    wordpiece(EXAMPLES / "english-uncased-8000.txt").save(tmp_path / "t.npz")
    documents = [Document(text, id="") for text in TEXTS[0]]
    assert [*islice(Encode(str(tmp_path / "t.npz"), str(tmp_path)).run(documents), 3)] == documents
    assert (tmp_path / "00000.ds").exists()


def test_wrong_arguments(tmp_path: Path) -> None:
    """A format that the step cannot write, and a token that is not in the vocabulary, are refused."""
    from fst.cluster.datatrove import Encode

    for form in ("mds", "x"):
        with pytest.raises(UnsupportedError, match=f"form is '{form}'; expected 'npy', "):
            Encode("t.npz", str(tmp_path), form=form)
    wordpiece(EXAMPLES / "english-uncased-8000.txt").save(tmp_path / "t.npz")
    with pytest.raises(UnsupportedError, match=r"append is '\[EOS\]'; expected a token of the vocabulary"):
        next(Encode(str(tmp_path / "t.npz"), str(tmp_path), append="[EOS]").run(iter(())))


@pytest.mark.slow
def test_counted_words(tmp_path: Path) -> None:
    """The merged files of all tasks contain the words of one process."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader

    from fst.cluster.datatrove import CountWords

    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    for number, texts in enumerate(TEXTS):
        (tmp_path / f"in/{number}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    pipeline = [JsonlReader(str(tmp_path / "in")), CountWords(str(tmp_path / "out"), splitter="bert")]
    LocalPipelineExecutor(pipeline, tasks=2, workers=1, logging_dir=str(tmp_path / "logs")).run()
    train.merge_words(sorted((tmp_path / "out").iterdir(), reverse=True), tmp_path / "words.parquet")
    words, whole = train.words(tmp_path / "words.parquet"), train.words([text for texts in TEXTS for text in texts], splitter="bert")
    assert ([*words], words.counts.tolist()) == ([*whole], whole.counts.tolist())
