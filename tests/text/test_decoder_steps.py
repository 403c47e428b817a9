"""Decoders of several steps give the same texts as `tokenizers`, in single calls, in batches and in streams."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support import kept
from support.shared_data import SHARED, needs_shared
from support.tiers import examples
from tokenizers import Tokenizer as Reference
from tokenizers.decoders import DecodeStream as ReferenceStream

import fst
from fst.compile.sources.tokenizer_json import of_document
from fst.tables.decoder_steps import Step, joined, plan
from fst.tables.header import StepsDecoder

Json = dict[str, Any]
TOKENS = ["a", "b", "▁", "▁a", "a▁b", "▁▁", "▁▁▁a▁▁", " ", "é", "##", "b##", "x", "<0x41>", "<0x0a>", "<0x+F>", "<0xZZ>", "東▁"]
BYTES = [f"<0x{byte:02X}>" for byte in (*"é東😺".encode(), 0x80, 0xFF, 0xED, 0xA0)]
VOCABULARY = [*dict.fromkeys([*TOKENS, *BYTES])]
ADDED = ["<s>", "▁<t>"]


def strip(content: str, start: int, stop: int) -> Json:
    """Make a decoder step that strips characters."""
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def replace(string: str, content: str) -> Json:
    """Make a decoder step that replaces a string."""
    return {"type": "Replace", "pattern": {"String": string}, "content": content}


def replaced(pattern: str, content: str) -> Json:
    """Make a decoder step that replaces the matches of a pattern."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def metaspace(scheme: str) -> Json:
    """Make a decoder step that replaces the symbol for spaces."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


SPACES, FALLBACK, FUSE, SUFFIX = replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "BPEDecoder", "suffix": "##"}
DECODERS: dict[str, Sequence[Json]] = {
    "llama": [SPACES, FALLBACK, FUSE, strip(" ", 1, 0)],
    "gemma": [SPACES, FALLBACK, FUSE],
    "metaspace": [metaspace("always")],
    "metaspace never": [metaspace("never"), FALLBACK],
    "metaspace and bytes": [FALLBACK, metaspace("first")],
    "suffix": [SUFFIX],
    "suffix and blanks": [metaspace("first"), SUFFIX, FALLBACK, FUSE, strip("a", 2, 0), strip(" ", 1, 0)],
    "late": [FUSE, FALLBACK, SPACES],
    "each": [strip("a", 1, 0), replace("b", "▁"), SPACES],
    "runs": [replaced("▁+", " "), replaced("b", "▁"), FALLBACK, FUSE],
    "tail": [SPACES, FALLBACK, FUSE, replace("a b", "!"), strip(" ", 0, 1)],
}
STREAMED = ["llama", "gemma", "metaspace", "metaspace never", "suffix", "suffix and blanks", "each", "runs"]
some_ids = some.lists(some.integers(0, len(VOCABULARY) + len(ADDED) + 1), max_size=12)


def document(decoders: Sequence[Json]) -> Json:
    """Make a tokenizer.json with the given decoders."""
    vocabulary = {token: number for number, token in enumerate(VOCABULARY)}
    added = [
        {"id": len(VOCABULARY) + place, "content": content, **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)}
        for place, content in enumerate(ADDED)
    ]
    parts = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor"))
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    decoder = {"type": "Sequence", "decoders": [*decoders]}
    return {"version": "1.0", **parts, "added_tokens": [{**token, "special": True} for token in added], "decoder": decoder, "model": model}


@cache
def small(name: str) -> tuple[fst.Tokenizer, Reference]:
    """Load a small vocabulary with a decoder in this package and in `tokenizers`."""
    source = document(DECODERS[name])
    return fst.Tokenizer(kept.assemble(of_document(source, Path("tokenizer.json")), "auto")), Reference.from_str(json.dumps(source))


@cache
def steps(name: str) -> Sequence[Step]:
    """The steps that a table contains."""
    decoder = of_document(document(DECODERS[name]), Path("tokenizer.json")).settings.decoder
    assert isinstance(decoder, StepsDecoder)
    return decoder.steps


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", DECODERS)
@given(ids=some_ids, skip=some.booleans())
@examples(300, deadline=None)
def test_text_is_that_of_the_reference(name: str, ids: list[int], skip: bool) -> None:
    """Ids decode to the same text as in `tokenizers` and in the naive implementation, both in single calls and in a batch."""
    ours, reference = small(name)
    known = [number for number in ids if number < len(VOCABULARY) or (number < len(VOCABULARY) + len(ADDED) and not skip)]
    expected = reference.decode(ids, skip_special_tokens=skip) if known else ""  # `tokenizers` fails on BPEDecoder if there are no tokens
    assert ours.decode(ids, skip_special_tokens=skip) == expected
    assert ours.decode_batch([ids, [], ids[:1]], skip)[0] == expected
    if known:
        assert joined(steps(name), [[*VOCABULARY, *ADDED][number] for number in known]) == expected


@pytest.mark.parametrize("name", STREAMED)
@given(ids=some_ids, sizes=some.lists(some.integers(1, 3), min_size=12, max_size=12))
@examples(200, deadline=None)
def test_streams(name: str, ids: list[int], sizes: list[int]) -> None:
    """The parts that a stream returns join to the text of all ids, except for bytes that are not UTF-8."""
    ours, _ = small(name)
    stream, parts, at = ours.decode_stream(), [], 0
    for size in sizes:
        parts.append(stream.write(ids[at : at + size]))
        at += size
    text, expected = "".join([*parts, stream.close()]), ours.decode(ids)
    if "\ufffd" in expected:
        assert len(text) <= len(expected)
    else:
        assert text == expected


def test_stream_of_a_malformed_run() -> None:
    """If the bytes of tokens are not UTF-8, a stream returns the complete characters, and each byte after them as U+FFFD."""
    ours, _ = small("llama")
    ids = [VOCABULARY.index(f"<0x{byte:02X}>") for byte in (0xC3, 0xA9, 0xFF, 0xC3, 0xA9)]
    stream = ours.decode_stream()
    assert [stream.write([number]) for number in ids] + [stream.close()] == ["", "é", "\ufffd", "\ufffd", "\ufffd", ""]
    assert ours.decode(ids) == "\ufffd" * 5


@pytest.mark.parametrize("name", sorted(DECODERS.keys() - {*STREAMED}))
def test_text_that_changes_as_a_whole_is_not_streamed(name: str) -> None:
    """A stream is refused if the beginning of the decoded text depends on all ids."""
    ours, _ = small(name)
    with pytest.raises(fst.UnsupportedError, match="decode_stream: the decoder changes the text as a whole"):
        ours.decode_stream()


@pytest.mark.parametrize("decoders", [[FUSE, replaced("▁+", " ")], *([replaced(each, "")] for each in ("▁{2,}", "[a▁]+", "a▁"))])
def test_patterns_that_are_not_replaced(decoders: Sequence[Json]) -> None:
    """A Replace of a pattern is refused, except of a character, or of runs of one character in tokens of the vocabulary."""
    with pytest.raises(fst.UnsupportedError, match=r"decoder Replace of .* expected a String, or as the first decoder a run of one char"):
        of_document(document(decoders), Path("tokenizer.json"))


def test_a_long_run() -> None:
    """A run in an added token of more than 1 << 16 characters is replaced as a whole."""
    source = document([replaced("▁+", " ")])
    long = "▁" * (1 + (1 << 16))
    source["added_tokens"].append({**source["added_tokens"][0], "id": len(VOCABULARY) + len(ADDED), "content": long})
    decoder = of_document(source, Path("tokenizer.json")).settings.decoder
    assert isinstance(decoder, StepsDecoder)
    assert joined(decoder.steps, ["a", long]) == Reference.from_str(json.dumps(source)).decoder.decode(["a", long]) == "a "


def test_plan() -> None:
    """`plan` divides a decoder into steps for single tokens, the decoding of bytes, and steps for the entire text."""
    assert plan(DECODERS["late"]) == ([], False, [FALLBACK, SPACES])
    assert plan(DECODERS["llama"]) == ([SPACES], True, [strip(" ", 1, 0)])
    assert plan(DECODERS["metaspace and bytes"]) is None


@needs_shared
@pytest.mark.parametrize("name", [pytest.param("mistral01", marks=pytest.mark.slow), "sqlpilot", "hw_doc_summarizer"])
@given(draw=some.data(), skip=some.booleans())
@examples(300, deadline=None)
def test_real_vocabularies(name: str, draw: Any, skip: bool) -> None:
    """With real vocabularies, ids decode to the same text as in `tokenizers`, and streams return the same parts."""
    ours, reference = real(name)
    highest = reference.get_vocab_size() - 1
    ids = draw.draw(some.lists(some.integers(4, min(highest, 300)) | some.integers(4, highest), min_size=1))
    text = reference.decode(ids, skip_special_tokens=skip)
    assert ours.decode(ids, skip_special_tokens=skip) == text
    stream, others = ours.decode_stream(skip_special_tokens=skip), ReferenceStream(skip_special_tokens=skip)
    parts = [stream.write([number]) for number in ids]
    if "\ufffd" not in text and name == "mistral01":
        assert [part or None for part in parts] == [others.step(reference, number) for number in ids]


@cache
def real(name: str) -> tuple[fst.Tokenizer, Reference]:
    """Load a real vocabulary in this package and in `tokenizers`."""
    path = SHARED / "vocab_bpe" / name / "tokenizer.json"
    return fst.Tokenizer(kept.bpe(path)), Reference.from_file(str(path))
