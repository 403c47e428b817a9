"""Exported segmenters in C and in JavaScript cut texts as Python does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.conformance.samples import SAMPLES
from support.hosts import C, folder_of, in_utf_16, needs_c, needs_node, node

import fst
from fst.runtime.machines.segmentation.lattice import MecabSegmenter

pytestmark = pytest.mark.slow

ODD = ("", " ", "\0", "😀" * 9, "a" * 3000, "研究生命" * 900, "e\u0301 \ufeff", "\U0010ffff\ud7ff\ue000")


class Machine(NamedTuple):
    """A segmenter, the folder of its export, and texts."""

    segmenter: Any
    folder: Path
    texts: list[str]


@pytest.fixture(scope="module", params=["maxmatch", "maxmatch backward", "maxmatch rules", "jieba", "mecab"])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A segmenter and its export."""
    folder, draw, sample = tmp_path_factory.mktemp("segmenter"), random.Random(50), SAMPLES[request.param]
    table = sample.make(folder)
    parts = ["".join(draw.choices(sample.parts, k=draw.randrange(40))) for _ in range(300)]
    return Machine(fst.Segmenter(table), folder_of(table, folder / "export"), [*ODD, *parts])


@needs_c
def test_c_has_the_words_of_python(machine: Machine) -> None:
    """In C, the ids of words and their spans in bytes are those of Python."""
    host, found = C(machine.folder), machine.segmenter.segment_batch(machine.texts, offsets="bytes")
    for row, text in enumerate(machine.texts):
        part = slice(found.row_splits[row], found.row_splits[row + 1])
        spans = [[start, end] for start, end in zip(found.starts[part].tolist(), found.ends[part].tolist(), strict=True)]
        assert host.encode_offsets(text.encode()) == (found.ids[part].tolist(), spans)
        assert host.encode(text.encode()).tolist() == found.ids[part].tolist()


@needs_node
def test_javascript_has_the_words_of_python(machine: Machine) -> None:
    """In JavaScript, the words, their ids, and their spans in units of UTF-16 are those of Python."""
    found = machine.segmenter.segment_batch(machine.texts, offsets=True)
    answers = node(machine.folder, [["segmentWithOffsets", text] for text in machine.texts], "segmenter")
    for row, (text, answer) in enumerate(zip(machine.texts, answers, strict=True)):
        part = slice(found.row_splits[row], found.row_splits[row + 1])
        spans = [place for span in zip(found.starts[part].tolist(), found.ends[part].tolist(), strict=True) for place in span]
        assert answer == {"words": found[row], "ids": found.ids[part].tolist(), "offsets": in_utf_16(text, spans)}
    assert node(machine.folder, [["segment", text] for text in machine.texts], "segmenter") == [*found]


@needs_node
def test_lone_surrogates_are_replaced(machine: Machine) -> None:
    """In JavaScript, a lone surrogate is read as U+FFFD."""
    texts = ["a\ud800b", "\udc00研究", "\ude00\ud83d"]
    expected = [machine.segmenter.segment(text, errors="replace") for text in texts]
    assert node(machine.folder, [["segment", text] for text in texts], "segmenter") == expected


@needs_c
@needs_node
def test_features_are_those_of_python(machine: Machine) -> None:
    """The features of MeCab's words are decoded from ids; other segmenters have none."""
    features = machine.segmenter.features if isinstance(machine.segmenter, MecabSegmenter) else []
    numbers = range(-1, len(features) + 1)
    expected = [features[number] if 0 <= number < len(features) else None for number in numbers]
    assert node(machine.folder, [["features", number] for number in numbers], "segmenter") == expected
    if features:
        assert [C(machine.folder).decode([number]) for number in numbers] == [(each or "").encode() for each in expected]
