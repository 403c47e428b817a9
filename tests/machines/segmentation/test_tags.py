"""Parts of speech: walk and kernel give the words and tags of `jieba.posseg`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import call, written
from support.machines.lattices import refused
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.compile import lattice
from fst.runtime.machines.segmentation.lattice import JiebaSegmenter

TAGGED = [("研究", 5, "vn"), ("研究生", 3, "n"), ("生命", 4, "vn"), ("命", 0, "g"), ("命", 2, "ng")]
LETTERS = "杭研大厦命後著a1.%-+#&_。 \r\n\u3000𠮷鿕"  # the model of jieba.posseg does not list the states of 後 and 著


@pytest.fixture
def posseg() -> Iterator[Any]:
    """The module of jieba, without the forced boundaries that other tests have set."""
    yield pytest.importorskip("jieba.posseg")
    pytest.importorskip("jieba.finalseg").Force_Split_Words.clear()


def tagged_by(posseg: Any, path: Path, user: list[tuple[str, int, str]], folder: Path) -> Any:
    """A tokenizer of `jieba.posseg` with a dictionary and words of a user."""
    tokenizer = posseg.jieba.Tokenizer(str(path))
    tokenizer.tmp_dir = str(folder)
    found = posseg.POSTokenizer(tokenizer)
    for word, frequency, tag in user:
        tokenizer.add_word(word, frequency, tag or None)
    return found


@pytest.mark.parametrize("hmm", [False, True])
def test_random_dictionaries(hmm: bool, posseg: Any, tmp_path: Path) -> None:
    """With random dictionaries and words of a user, walk and kernel give the words and tags of `jieba.posseg`, with and without a model."""
    draw = random.Random(hmm)
    for number in range(1 if hmm else 3):
        words = {"".join(draw.choices("杭研大厦命a1.", k=draw.randint(1, 4))): draw.randint(0, 9) for _ in range(15)} | {"命": 1}
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{word} {frequency} {draw.choice('nvx')}\n" for word, frequency in words.items()), encoding="utf-8")
        user = [("大厦", 0, "nz"), ("杭研", 0, ""), ("杭研", 2, "t"), ("a命", 3, ""), ("大", 0, "a")]
        theirs, table = tagged_by(posseg, path, user, tmp_path), lattice.jieba(path, user=user, hmm=hmm, tags=True)
        table.prove()
        segmenter = JiebaSegmenter(table)
        for _ in range(50):
            text = "".join(draw.choices(LETTERS, k=draw.randint(0, 24)))
            expected = [tuple(pair) for pair in theirs.lcut(text, HMM=hmm)]
            assert segmenter.tag(text) == table.tagged(text) == expected, (words, text)


def test_characters_of_the_model(posseg: Any, tmp_path: Path) -> None:
    """Texts of any Chinese characters, most of them unknown, have the words and tags of `jieba.posseg`."""
    path, draw = written(tmp_path / "dict.txt", "龥 1 n\n".encode()), random.Random(2)
    theirs, segmenter = tagged_by(posseg, path, [], tmp_path), JiebaSegmenter(lattice.jieba(path, hmm=True, tags=True))
    for _ in range(6):
        text = "".join(chr(draw.randint(0x4E00, 0x9FD5)) for _ in range(draw.randint(2, 5)))
        assert segmenter.tag(text) == [tuple(pair) for pair in theirs.lcut(text)]


@needs_shared
@pytest.mark.slow
def test_documents(posseg: Any, tmp_path: Path) -> None:
    """With jieba's dictionary, documents have the words and tags of `jieba.posseg`."""
    path = SHARED / "dict" / "jieba_dict.txt"
    theirs, segmenter = tagged_by(posseg, path, [], tmp_path), JiebaSegmenter(lattice.jieba(path, hmm=True, tags=True))
    for text in sample((SHARED / "corpora" / "docs_zh.md").read_text(encoding="utf-8").splitlines(keepends=True), 80):
        assert segmenter.tag(text) == [tuple(pair) for pair in theirs.lcut(text)]


def test_dictionaries_without_tags() -> None:
    """A word of the dictionary without a tag is refused, and so is a request for tags that the table does not contain."""
    with pytest.raises(fst.VocabularyError, match=r"^entry 1: '命' has no part of speech; expected one such as n; add it, or"):
        lattice.jieba([("研究", 5, "vn"), ("命", 1)], tags=True)
    with pytest.raises(fst.VocabularyError, match=r"^entry 0, '研究': the part of speech is 7; expected a string"):
        lattice.jieba([("研究", 5, 7)])  # type: ignore[list-item]
    with pytest.raises(fst.UnsupportedError, match="the table has no parts of speech; expected"):
        JiebaSegmenter(lattice.jieba(TAGGED)).tag("研究")


def test_command(tmp_path: Path) -> None:
    """`fst segment --format posseg` writes each token with its tag, except whitespace."""
    source = written(tmp_path / "dict.txt", "".join(f"{word} {frequency} {tag}\n" for word, frequency, tag in TAGGED).encode())
    call("compile", "jieba", source, "--tags", "-o", tmp_path / "zh.npz")
    text = written(tmp_path / "a.txt", "研究生命 ok。\n\n".encode())
    assert call("segment", tmp_path / "zh.npz", text, "--format", "posseg").stdout == "研究/vn 生命/vn ok/eng 。/x\n\n"
    call("compile", "jieba", source, "-o", tmp_path / "bare.npz")
    message = call("segment", tmp_path / "bare.npz", text, "--format", "posseg", code=1).stderr
    assert "bare.npz has no parts of speech; expected a table of `fst compile jieba --tags`" in message


HARM: dict[str, tuple[str, Any, Any, str]] = {
    "a tag past the last": ("tags", 1, 999, "word 1 has the tag 999; there are"),
    "names that are not UTF-8": ("tag_bytes", 0, 0xFF, "the names of tags are not UTF-8 at byte 0"),
    "a letter that is none": ("tag_states", (2, 0), 4, "state 2 of tags is "),
    "a step that is none": ("tag_steps", (0, 1), np.nan, "step 1 of tags is nan"),
    "an emission that is too probable": ("tag_emits", 3, 1.0, "emission 3 of tags is 1.0"),
    "an emission of no state": ("tag_emitting", 0, 256, "emission 0 is of state 256; there are 256"),
    "states that end early": ("tag_ranges", 1, 1 << 20, "the states of character 1 end before they begin"),
    "states in no order": ("tag_emitting", 1, 0, "emission 1 is not of a later state"),
}


@pytest.fixture(scope="module")
def complete() -> Any:
    """A table with a model of tags."""
    pytest.importorskip("jieba")
    return lattice.jieba(TAGGED, hmm=True, tags=True)


@pytest.mark.parametrize("name", HARM)
def test_damaged_tables_are_refused(name: str, complete: Any) -> None:
    """A table of tags with an index out of range, or a number that is not a logarithm of a probability, is refused."""
    refused(complete, *HARM[name])
