"""The part of the fuzzer that runs the kernels of exported tables."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of
from support.core.drives import WORDS, words

import fst
from fst.errors import UnsupportedError
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import Calls, calls
from fst.runtime.exporting.contents import contents
from fst.runtime.exporting.export import export_of

# Tables whose exports run kernels that the exports of drawn vocabularies do not run.
SAMPLES = ("wordpiece auto", "unigram words", "unigram model and bytes")
REWRITERS = ("rules in a cascade", "rules of many strings in a cascade", "best path over bytes")
OF_REWRITERS = ("text", "starts", "new_text", "new_starts", "new_spans")


def drive_samples(draw: random.Random, texts: list[str]) -> None:
    """Pass texts to the exports of `SAMPLES`, and of a model of words with byte fallback."""
    for tok in (*(fst.Tokenizer(table_of(name)) for name in SAMPLES), words(draw.sample(WORDS, 30), byte_fallback=True)):
        drive_exports(tok, texts, draw)
    for name in REWRITERS:
        check_rewriter(fst.Rewriter(table_of(name)), [text[:100] for text in draw.sample(texts, 3)])
    check_guide(fst.Guide(table_of("guide of characters")))


def check_guide(guide: fst.Guide) -> None:
    """Follow every token with the calls of a host, and check masks, states and ends."""
    made = export_of(guide).calls(100)
    numbers, mask = made.arrays["numbers"], made.arrays["mask"]

    def ask(name: str, *given: int) -> Any:
        numbers[: len(given)] = given
        call = made.calls[name]
        assert call is not None
        assert call.kernel.call(*call.arguments) == 0
        return numbers.tolist()

    start, size, end_id, states = ask("describe")
    assert (start, size, end_id) == (guide.start, guide.size, -1 if guide.end_id is None else guide.end_id)
    for state in range(-1, states):
        assert (ask("mask", state), mask[0].tolist())[1] == guide.mask(state).tolist()
        assert bool(ask("check_final", state)[1]) == guide.is_final(state)
        assert [ask("step", state, number)[0] for number in range(size)] == [guide.step(state, number) for number in range(size)]


def drive_exports(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Build the arrays of images, and encode short texts with the calls of a host."""
    for call in builds(tok, contents(tok)):
        *arguments, expected = call.arguments
        built = np.zeros_like(expected)
        call.kernel.call(*arguments, built)
        assert np.array_equal(built, expected)
    try:
        made = calls(tok, 400)
    except UnsupportedError:
        return
    check_calls(tok, made, [text[:100] for text in draw.sample(texts, 3)])
    if made.calls["path"]:
        made.calls["path"].kernel.call(*made.calls["path"].arguments)


def check_rewriter(rewriter: fst.Rewriter, texts: list[str]) -> None:
    """Rewrite texts with the calls of a host, as `fst_rewrite` does, and check that new texts and spans are those of a rewriter."""
    made = export_of(rewriter).calls(4000)
    calls, (text, starts, new, new_starts, spans) = [*made.calls.values()], (made.arrays[name] for name in OF_REWRITERS)
    for each in (*texts, "", "aéb世c"):
        data = np.frombuffer(each.encode(), np.uint8)
        text[: len(data)], starts[1] = data, len(data)
        for sequence in (calls[: len(calls) // 2], calls[len(calls) // 2 :]):
            results = [call.kernel.call(*call.arguments) for call in sequence if call]
        if any(results):
            with pytest.raises(fst.TextError):
                rewriter.apply(each)
            continue
        expected = rewriter.align_batch([each])
        places = np.cumsum([0, *(len(character.encode()) for character in each)])
        sizes = [len(character.encode()) for character in expected.texts[0]]
        assert new[: new_starts[1]].tobytes() == expected.texts[0].encode()
        assert spans[: 2 * new_starts[1]].tolist() == places[np.repeat(expected.offsets, sizes, axis=0)].ravel().tolist()


def check_calls(tok: fst.Tokenizer, made: Calls, texts: list[str]) -> None:
    """Encode texts with the calls of a host, as `fst.h` does, and check that the ids and the spans are those of a tokenizer."""
    suffix = "_spans" if "encode_spans" in made.calls else ""
    unit, expected = made.arrays["text"].dtype, tok.encode_batch(texts, offsets=bool(suffix))
    run = {name.removesuffix(suffix): call for name, call in made.calls.items() if call and name.endswith(suffix)}
    for text, (begin, end) in zip(texts, pairwise(expected.row_splits.tolist()), strict=True):
        units = np.frombuffer(text.encode("utf-8" if unit.itemsize == 1 else "utf-16-le"), unit)
        made.arrays["text"][: len(units)], made.arrays["starts"][1] = units, len(units)
        state: Any = made.arrays["state"]
        state.fill(0)
        if "is_unchanged" in run and run["is_unchanged"].kernel.call(*run["is_unchanged"].arguments) != 1:
            continue
        for name in ("encode", "trim"):
            if name in run:
                run[name].kernel.call(*run[name].arguments)
        count = int(state.count)
        assert made.arrays["ids_spans" if suffix else "ids"][:count].tolist() == expected.ids[begin:end].tolist()
        if expected.offsets is not None:
            assert made.arrays["offsets"][: 2 * count].tolist() == expected.offsets[begin:end].ravel().tolist()
