"""Splits that need a splitter of their own cut as in `tokenizers`, with tables of each machine: UnicodeScripts, and patterns with gaps."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support import kept
from support.sources.drawn_parts import SMILES, split
from support.sources.families import LINES, trained
from support.tiers import examples
from tokenizers import Tokenizer as Reference
from tokenizers.pre_tokenizers import UnicodeScripts

import fst
from fst.compile.pretokens.scripts import split_of_scripts
from fst.compile.sources.tokenizer_json import of_document
from fst.compile.text.characters import reference
from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import LETTERS
from fst.runtime.compat.transformers import bpe_document

FIRSTS = [chr(first) for first, _, _ in reference.properties()["script"]]
SCRIPTS, BYTES = {"type": "UnicodeScripts"}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
DIGITS, WHITE = {"type": "Digits", "individual_digits": True}, {"type": "WhitespaceSplit"}
WORDPIECE = {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
MODELS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "bytes": ({"type": "BPE", "unk_token": None}, [SCRIPTS, BYTES]),
    "characters": ({"type": "BPE", "unk_token": "<unk>"}, [SCRIPTS]),
    "unigram": ({"type": "Unigram", "unk_id": 0}, [SCRIPTS]),
    "wordpiece": (WORDPIECE, [WHITE, SCRIPTS]),
    "gaps in bytes": ({"type": "BPE", "unk_token": None}, [split(Regex=SMILES), DIGITS, BYTES]),
    "gaps in characters": ({"type": "BPE", "unk_token": "<unk>"}, [split(Regex=SMILES)]),
    "gaps in unigram": ({"type": "Unigram", "unk_id": 0}, [split(Regex=SMILES), WHITE]),
    "digits": ({"type": "WordLevel", "unk_token": "<unk>"}, [DIGITS, SCRIPTS]),
}
CHARACTERS = [*FIRSTS, *"[[]]BrCl%%0", *" \t\u0378\ue000\u30fc\u3042\u30a2", *"".join(LINES)]
texts = some.text(some.sampled_from(CHARACTERS) | some.characters(), max_size=20)


@given(text=texts)
@examples(1_000)
def test_splits(text: str) -> None:
    """The two splits cut a text, one after the other, where `tokenizers` cuts it."""
    rows, columns = map(split_of_scripts, (0, 1))
    found = [(begin + first, begin + last) for begin, end in rows.pretokens(text) for first, last in columns.pretokens(text[begin:end])]
    assert found == [span for _, span in UnicodeScripts().pre_tokenize_str(text)]


@cache
def made(name: str) -> tuple[fst.Tokenizer, Reference]:
    """A small vocabulary in this package and in `tokenizers`."""
    model, parts = MODELS[name]
    empty: dict[str, Any] = {"vocab": [["<unk>", 0.0]] if model["type"] == "Unigram" else {"<unk>": 0}}
    document: dict[str, Any] = {
        "version": "1.0",
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder")),
        "added_tokens": [],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": parts},
        "model": {**model, **empty, **({"merges": []} if model["type"] == "BPE" else {})},
    }
    document = trained(document, vocab_size=500)
    return fst.Tokenizer(kept.assemble(of_document(document, Path("tokenizer.json")), "auto")), Reference.from_str(json.dumps(document))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", MODELS)
@given(text=texts)
@examples(200, deadline=None)
def test_tables(name: str, text: str) -> None:
    """Ids and spans are those of `tokenizers`, in single calls and in streams."""
    ours, theirs = made(name)
    expected = theirs.encode(text)
    batch = ours.encode_batch([text], offsets=True)
    assert batch.offsets is not None
    assert (ours.encode(text).tolist(), [*map(tuple, batch.offsets.tolist())]) == (expected.ids, expected.offsets)
    stream = ours.stream()
    for char in text:
        stream.write(char)
    assert stream.close().ids.tolist() == expected.ids


def test_a_table_has_the_document_of_its_source() -> None:
    """The tokenizer.json of a byte-level table contains UnicodeScripts as one component, and compiles again."""
    letters = {letter: number for number, letter in enumerate(LETTERS.values())}
    parts = {"type": "Sequence", "pretokenizers": [SCRIPTS, BYTES]}
    document = {"pre_tokenizer": parts, "model": {"type": "BPE", "vocab": letters, "merges": []}}
    source = of_document(document, Path("tokenizer.json"))
    table = source.table()
    assert isinstance(table, BpeTable)
    found = bpe_document.document(table)
    assert found["pre_tokenizer"]["pretokenizers"][0] == SCRIPTS
    assert of_document(found, Path("tokenizer.json")).text == source.text


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([split(Regex="ab+c|b", behavior="Removed"), BYTES], "whether a match begins, as in 'a'"),
        ([DIGITS, split(Regex="a[^1]+1|b"), BYTES], "whether a match begins, as in 'a"),
        ([split(Regex="a[^1]+1|b"), SCRIPTS, BYTES], "whether a match begins, as in 'a"),
        ([split(Regex="[0-9]{1,3}"), split(Regex="[0-9]"), BYTES], "where the first cannot begin again, as in '0000'"),
        ([SCRIPTS, {**BYTES, "use_regex": True}], "where the first cannot begin again, as in '! A'"),
    ],
)
def test_a_refusal_contains_a_text(parts: list[dict[str, Any]], message: str) -> None:
    """The message contains a shortest text on which the splits cannot be run."""
    letters = {letter: number for number, letter in enumerate(LETTERS.values())}
    model = {"type": "BPE", "vocab": letters, "merges": []}
    with pytest.raises(fst.UnsupportedError, match=re.escape(message)):
        of_document({"pre_tokenizer": {"type": "Sequence", "pretokenizers": parts}, "model": model}, Path("tokenizer.json")).table()


def test_a_symbol_before_each_script_is_refused() -> None:
    """UnicodeScripts before Metaspace is refused by name, with a text."""
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}
    parts = {"type": "Sequence", "pretokenizers": [SCRIPTS, metaspace]}
    with pytest.raises(fst.UnsupportedError, match="UnicodeScripts before Metaspace, which adds '▁' before each script of 'aα'"):
        of_document({"pre_tokenizer": parts, "model": model}, Path("tokenizer.json")).table()
