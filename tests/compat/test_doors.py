"""All functions that take a tokenizer accept the same forms of it, and stand-in modules are imported like the modules of the libraries."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tiktoken
from support.sources.sentencepiece import CHARS, UNK, model_of
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.compile import bpe, keywords, tokenizer, wordpiece

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
SPECIAL = {"<|endoftext|>": 257}
TEXT = "ab ba"
WORDS = {"[UNK]": 0, "[SEP]": 1, "a": 2, "b": 3, "ab": 4}
DOCUMENT: dict[str, Any] = {"model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"}, "pre_tokenizer": {"type": "Whitespace"}}


def words(folder: Path) -> dict[str, Any]:
    """A tokenizer of words in every form."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], **DOCUMENT}), encoding="utf-8")
    live, table = Tokenizer.from_file(str(path)), tokenizer(path)
    table.save(folder / "table.npz")
    table.save(folder / "table.bin")
    found = fst.Tokenizer(table)
    paths = {"path": folder / "table.npz", "bin": str(folder / "table.bin"), "file": path, "name": str(path), "folder": folder}
    return {**paths, "table": table, "live": live, "tokenizer": found, "stand-in": fst.tokenizers(found), "sp": fst.sentencepiece(found)}


def ranks(folder: Path) -> dict[str, Any]:
    """An encoding of tiktoken in every form."""
    path = folder / "small.tiktoken"
    path.write_bytes(b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in RANKS.items()))
    table = bpe(path, pattern=r"\w+|\W+", special=SPECIAL)
    live = tiktoken.Encoding("small", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens=SPECIAL)
    return {"table": table, "live": live, "stand-in": fst.tiktoken(table), "tokenizer": fst.BpeTokenizer(table)}


def pieces(folder: Path) -> dict[str, Any]:
    """A model of SentencePiece in every form."""
    path = folder / "small.model"
    path.write_bytes(model_of([UNK, *CHARS], "unigram"))
    live = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return {"file": path, "name": str(path), "live": live, "stand-in": fst.sentencepiece(path), "tokenizer": fst.UnigramTokenizer(path)}


Searcher: Any = fst.Searcher  # without types, because some arguments are wrong on purpose
Lookup: Any = fst.Lookup
FORMS = {"words": words, "ranks": ranks, "pieces": pieces}
DOORS: dict[str, Callable[[Any], Any]] = {
    "Tokenizer": lambda given: fst.Tokenizer(given).encode(TEXT).tolist(),
    "hf": lambda given: fst.hf(given)(TEXT)["input_ids"],
    "tokenizers": lambda given: fst.tokenizers(given).encode(TEXT).ids,
    "sentencepiece": lambda given: fst.sentencepiece(given).encode(TEXT),
    "Guide": lambda given: fst.Guide(given, regex="ab|a").allowed(0).tolist(),
    "guide": lambda given: fst.Guide(fst.compile.guide(given, regex="ab|a")).allowed(0).tolist(),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_every_form(door: str, kind: str, tmp_path: Path) -> None:
    """A function gives the same result for all forms of a tokenizer."""
    if door in ("hf", "tokenizers") and kind == "pieces":
        pytest.skip("a .model is no tokenizer.json")
    if door == "hf":
        pytest.importorskip("transformers")
    forms = FORMS[kind](tmp_path)
    found = {name: DOORS[door](given) for name, given in forms.items()}
    assert found == dict.fromkeys(forms, found["tokenizer"])


def test_tiktoken_takes_every_form(tmp_path: Path) -> None:
    """A stand-in for an encoding is made from all forms of byte-level BPE."""
    forms = ranks(tmp_path)
    assert {name: fst.tiktoken(given).encode(TEXT) for name, given in forms.items()} == dict.fromkeys(forms, forms["live"].encode(TEXT))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("train", [fst.train.trim, fst.train.extend, fst.train.like])
def test_trainers_take_every_form(train: Any, tmp_path: Path) -> None:
    """A trainer takes the old tokenizer in all forms."""
    forms = words(tmp_path)
    results = {name: train(given, {"ab": 3, "b": 1, "c": 5}, 4) for name, given in forms.items()}
    found = {name: dict(getattr(result, "trained", result).vocabulary) for name, result in results.items()}
    assert found == dict.fromkeys(forms, found["tokenizer"])


def test_trained_vocabularies_and_lists_are_tokenizers() -> None:
    """A trained vocabulary, and a list of tokens, are forms of a tokenizer."""
    trained = fst.train.wordlevel(["a rose"], splitter="whitespace", special_tokens=["<unk>"], vocab_size=3)
    assert fst.tokenizers(trained).encode("a rose").ids == trained.tokenizer().encode("a rose").tolist()
    assert fst.Tokenizer(["[UNK]", "a"]).encode("a b").tolist() == [1, 0]


def test_settings_of_a_processor_are_kept(tmp_path: Path) -> None:
    """A stand-in for a sentencepiece processor, or for another stand-in, has the settings of that object unless arguments replace them."""
    path = tmp_path / "small.model"
    path.write_bytes(model_of([UNK, *CHARS], "unigram"))
    live = sentencepiece.SentencePieceProcessor(model_file=str(path), reverse=True, out_type=str)
    ours = fst.sentencepiece(live)
    assert ours.encode(TEXT) == fst.sentencepiece(ours).encode(TEXT) == live.encode(TEXT)
    assert fst.sentencepiece(live, reverse=False, out_type=int).encode(TEXT) == live.encode(TEXT, reverse=False, out_type=int)


def test_processors_with_other_ids_are_refused(tmp_path: Path) -> None:
    """A processor of sentencepiece that encodes in another way than its model is refused."""

    class Marked(sentencepiece.SentencePieceProcessor):
        def encode(self, *arguments: Any, **options: Any) -> Any:
            return [1, *super().encode(*arguments, **options)]

    path = tmp_path / "small.model"
    path.write_bytes(model_of([UNK, *CHARS], "unigram"))
    with pytest.raises(fst.UnsupportedError, match="encodes in another way than its model"):
        fst.Tokenizer(Marked(model_file=str(path)))


@pytest.mark.slow
def test_from_pretrained_keeps_its_table(tmp_path: Path) -> None:
    """`from_pretrained` compiles a folder once, a changed folder again, and its pickle contains the path of the kept table."""
    words(tmp_path)
    first, again = (fst.Tokenizer.from_pretrained(tmp_path) for _ in range(2))
    assert first._table.origin == again._table.origin is not None
    assert len(pickle.dumps(first)) < 600
    assert pickle.loads(pickle.dumps(first)).encode(TEXT).tolist() == [4, 0]
    (tmp_path / "tokenizer.json").write_text(json.dumps({**DOCUMENT, "model": {**DOCUMENT["model"], "vocab": {**WORDS, "ba": 5}}}))
    assert fst.Tokenizer.from_pretrained(str(tmp_path)).encode(TEXT).tolist() == [4, 5]


def test_pickles_of_live_tokenizers_contain_the_table(tmp_path: Path) -> None:
    """The pickle of a compiled live tokenizer contains the table, because other machines lack the stored table."""
    live = words(tmp_path)["live"]
    assert {len(pickle.dumps(fst.Tokenizer(live))) > 1000 for _ in range(2)} == {True}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fst.tokenizers(5), TypeError, r"^fst\.tokenizers is called with int; expected a fst\.Tokenizer, a table, a path"),
        (lambda: fst.Tokenizer({"a": 1}), TypeError, r"^fst\.Tokenizer is called with dict; expected"),
        (lambda: fst.tiktoken(fst.Tokenizer), TypeError, r"^fst\.tiktoken is called with the class Tokenizer; expected"),
        (lambda: fst.sentencepiece(None), TypeError, r"^fst\.sentencepiece is called with NoneType; expected"),
        (lambda: fst.train.like(5, ["a"], 9), TypeError, r"^fst\.train\.like is called with int; expected"),
        (lambda: fst.Guide(5, regex="a"), TypeError, r"^fst\.Guide is called with int; expected"),
        (lambda: fst.compile.guide(5, regex="a"), TypeError, r"^fst\.compile\.guide is called with int; expected"),
        (lambda: fst.tokenizers(keywords(["a"])), fst.UnsupportedError, r"of kind 'keywords'.*pass it to fst\.Searcher"),
        (lambda: fst.Guide(fst.Searcher(keywords(["a"])), regex="a"), fst.UnsupportedError, "'keywords'; expected that of a tokenizer"),
        (lambda: Searcher(["a"]), TypeError, r"table is list; .*call fst\.Searcher\(fst\.compile\.keywords\(…\)\)"),
        (lambda: Lookup("a.npz"), TypeError, r"table is str; .*to load a file, call fst\.Lookup\.load"),
        (lambda: Searcher(wordpiece(["[UNK]"])), fst.UnsupportedError, r"of kind 'wordpiece'.*pass it to fst\.Tokenizer$"),
        (lambda: fst.load(Path(__file__).parent), IsADirectoryError, r"fst\.Tokenizer\.from_pretrained compiles"),
        (lambda: fst.Tokenizer("nowhere.npz"), FileNotFoundError, "nowhere.npz"),
    ],
)
def test_wrong_objects_are_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """The error for an object of a wrong type contains this type, and the call that works."""
    with pytest.raises(error, match=message):
        call()


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "code",
    thinned(
        [
            "import fst; fst.compile.keywords(['a']); assert 'compile' in dir(fst) and 'compile' not in fst.__all__",
            "import fst.tiktoken as tiktoken; tiktoken.Encoding, tiktoken.get_encoding; import fst; assert fst.tiktoken is tiktoken",
            "from fst.tiktoken import Encoding; import fst; assert fst.tiktoken.Encoding is Encoding",
            "import fst; assert callable(fst.tiktoken) and callable(fst.sentencepiece); fst.tiktoken.Encoding",
            "import fst.sentencepiece as spm; spm.SentencePieceProcessor",
            "from fst.outlines import Guide, Index; import fst; assert fst.outlines.Index is Index",
            "from fst.compile.lattice import jieba, mecab; from fst.compile import lattice; assert lattice.jieba is jieba",
            "from fst.train import bpe; import fst; assert fst.train.bpe is bpe",
            "import fst; from fst import *; assert compile('1', '', 'eval')",
        ],
        3,
    ),
)
def test_modules_are_imported_as_usual(code: str) -> None:
    """Each form of an import works as the first import of a process, and gives the same objects."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
