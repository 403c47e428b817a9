"""Exported rewriters in C and in JavaScript write the texts of Python."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.conformance.samples import BEST_PATHS, SAMPLES
from support.hosts import FstError, Rewriting, folder_of, in_utf_16, needs_c, needs_node, node

import fst
from fst.compile import best_path

pytestmark = pytest.mark.slow

LONG, OTHER = -5, -6  # errors of fst.h
ODD = ("世" * 1364, "é" * 9000, "", " ", "\0", "😀" * 9, "a" * 3000, "abc" * 900, "e\u0301 \ufeff", "\U0010ffff\ud7ff\ue000")
KINDS = (
    *("rules in a cascade", "rules of many strings in a cascade", "best path over bytes"),
    *("best path with a cycle of ε-arcs", "best path with late outputs", "best path that copies"),
)


class Machine(NamedTuple):
    """A rewriter, the folder of its export, and texts."""

    rewriter: fst.Rewriter
    folder: Path
    texts: list[str]


@pytest.fixture(scope="module", params=KINDS)
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A rewriter and its export."""
    folder, draw, copies = tmp_path_factory.mktemp("rewriter"), random.Random(50), request.param == "best path that copies"
    sample = SAMPLES["best path over bytes" if copies else request.param]
    table = best_path(BEST_PATHS[1], unknown="copy") if copies else sample.make(folder)
    parts = ["".join(draw.choices(sample.parts, k=draw.randrange(40))) for _ in range(300)]
    return Machine(fst.Rewriter(table), folder_of(table, folder / "export"), [*ODD, *parts])


def aligned(rewriter: fst.Rewriter, text: str) -> tuple[str, list[list[int]]] | None:
    """The new text and the span of each of its characters; None for a text that cannot be rewritten."""
    try:
        found = rewriter.align_batch([text])
    except fst.TextError:
        return None
    return found.texts[0], found.offsets.tolist()


@needs_c
def test_c_writes_the_texts_of_python(machine: Machine) -> None:
    """In C, new texts are those of Python, and each byte has the span in bytes of its character; the same texts are errors."""
    host, errors = Rewriting(machine.folder), 0
    for text in machine.texts:
        expected = aligned(machine.rewriter, text)
        if expected is None:
            with pytest.raises(FstError, match=str(OTHER)):
                host.rewrite(text.encode(), offsets=True)
            errors += 1
            continue
        new, spans = expected
        places = np.cumsum([0, *(len(character.encode()) for character in text)])
        by_bytes = [places[span].tolist() for span, character in zip(spans, new, strict=True) for _ in character.encode()]
        assert host.rewrite(text.encode()) == (new.encode(), [])
        assert host.rewrite(text.encode(), offsets=True) == (new.encode(), by_bytes)
    assert errors < len(machine.texts)


@needs_node
def test_javascript_writes_the_texts_of_python(machine: Machine) -> None:
    """In JavaScript, new texts are those of Python, and each unit has the span in units of its character; the same texts are errors."""
    answers = node(machine.folder, [["rewriteWithOffsets", text] for text in machine.texts], "rewriter")
    plain = node(machine.folder, [["rewrite", text] for text in machine.texts], "rewriter")
    for text, answer, new in zip(machine.texts, answers, plain, strict=True):
        expected = aligned(machine.rewriter, text)
        if expected is None:
            assert answer.startswith("RangeError: the text has no path")
            assert new == answer
            continue
        places = in_utf_16(text, range(len(text) + 1))
        spans = [span for span, character in zip(expected[1], expected[0], strict=True) for _ in range(units(character))]
        assert answer == {"text": expected[0], "offsets": [places[place] for span in spans for place in span]}
        assert new == expected[0]


@needs_c
def test_texts_that_become_too_long_are_errors(machine: Machine) -> None:
    """In C, a text that is longer than the memory, or becomes longer, is an error, and the next text is rewritten."""
    host = Rewriting(machine.folder, most=10)
    for text in ("a" * 11, "世世世"):
        if (expected := aligned(machine.rewriter, text)) and max(len(text.encode()), len(expected[0].encode())) > 10:
            with pytest.raises(FstError, match=str(LONG)):
                host.rewrite(text.encode())
    assert host.rewrite(b" ")[0].decode() == machine.rewriter.apply(" ")


def units(text: str) -> int:
    """The number of units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2
