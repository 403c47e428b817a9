"""In byte-level vocabularies without some bytes, a missing byte, or a run of missing bytes, becomes the unknown token or is dropped, as
in `tokenizers`.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.bpe import ids_of
from support.machines.documents import Merges, byte_level
from support.machines.merges import NO_COMPONENTS
from support.tiers import examples
from tokenizers import Tokenizer

import fst
from fst.compile import bpe
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import spelled
from fst.runtime.compat.transformers.bpe_document import document

MERGES: Merges = [(b"a", b"b"), (b" ", b"ab"), (b"\xc3", b"\xa9"), (b"b", b"b"), (b"ab", b"bb"), (b"c", b"a")]
PATTERN = r" ?[^ ]+| +"
UNKNOWN = "<unk>"
SETTINGS: dict[str, dict[str, Any]] = {
    "one each": {"unk_token": UNKNOWN},
    "one a run": {"unk_token": UNKNOWN, "fuse_unk": True},
    "vanish": {},
}
LACKING = some.binary(max_size=4) | some.sampled_from([b"xyz", b" ", b"\xc3", b"\xa9x", b"a"])

each_setting = pytest.mark.parametrize("name", SETTINGS)


def source(lacking: bytes, merges: Merges = MERGES, **model: Any) -> dict[str, Any]:
    """Make a tokenizer.json without the bytes in `lacking` and without the merges that contain them."""
    left = [(first, second) for first, second in merges if not {*lacking} & {*first, *second}]
    found = {**byte_level(PATTERN, left, special=[UNKNOWN]), **NO_COMPONENTS}
    vocabulary = {token: number for token, number in found["model"]["vocab"].items() if token not in map(spelled, singles(lacking))}
    (added,) = found["added_tokens"]
    vocabulary[UNKNOWN] = added["id"]
    added.update(dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False))
    return {**found, "model": {**found["model"], "vocab": vocabulary, **model}}


def singles(data: bytes) -> list[bytes]:
    """Return each byte as a bytes object of length 1."""
    return [bytes([byte]) for byte in data]


def table_of(given: dict[str, Any]) -> BpeTable:
    """Compile a tokenizer.json to a table."""
    return assemble(of_document(given, Path("tokenizer.json")), "auto")


@pytest.mark.mostly_slow
@each_setting
@examples(300)
@given(lacking=LACKING, texts=some.lists(some.text("abcx é世", max_size=14)))
def test_reference(name: str, lacking: bytes, texts: list[str]) -> None:
    """With any missing bytes, kernel and walk give the same ids as `tokenizers`, and offsets and words equal those of `tokenizers`."""
    given = source(lacking, **SETTINGS[name])
    table, reference = table_of(given), Tokenizer.from_str(json.dumps(given)).encode_batch(texts, add_special_tokens=False)
    tokenizer, expected = fst.Tokenizer(table), [encoding.ids for encoding in reference]
    assert ids_of(tokenizer.encode_batch(texts)) == [table.run(text) for text in texts] == expected
    batch = tokenizer.encode_batch(texts, offsets=True)
    assert batch.offsets is not None
    assert batch.words is not None
    assert [tuple(span) for span in batch.offsets.tolist()] == [span for encoding in reference for span in encoding.offsets]
    assert batch.words.tolist() == [word for encoding in reference for word in encoding.word_ids]


@each_setting
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_dropout(name: str, share: float) -> None:
    """With dropout, the kernel gives the same ids as the walk."""
    table, draw = table_of(source(b"xyz", **SETTINGS[name])), random.Random(name)
    texts = ["".join(draw.choices("abcxyz é", k=draw.randint(0, 40))) for _ in range(60)]
    by = Dropout(share, seed=7)
    found = fst.Tokenizer(table).encode_batch(texts, randomness=by)
    assert ids_of(found) == [table.run_dropping(text, by, row) for row, text in enumerate(texts)]


@each_setting
def test_tokenizer_json_of_a_table(name: str) -> None:
    """The tokenizer.json written from a table compiles to the same table."""
    table = table_of(source(b"xyz", **SETTINGS[name]))
    again = table_of(document(table))
    assert again.metadata == table.metadata
    np.testing.assert_array_equal(again.token_ids, table.token_ids)


def test_offsets_where_bytes_vanish() -> None:
    """Offsets after dropped bytes equal those of `tokenizers`, in which a token begins where the preceding token ends."""
    tokenizer = fst.Tokenizer(table_of(source(b"xyz\xe4")))
    assert tokenizer.encode("axxb").tolist() == tokenizer.encode("ab").tolist()
    for dropout in (0, 1.0):
        batch = tokenizer.encode_batch(["axb", "世a", "xyz", "b"], offsets=True, randomness=Dropout(dropout))
        assert batch.offsets is not None
        merged = [[0, 2]] if not dropout else [[0, 1], [1, 2]]
        assert batch.offsets.tolist() == [*merged, [0, 1], [0, 1], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"byte_fallback": True, "unk_token": UNKNOWN}, "with byte_fallback, they must all be tokens"),
        ({"unk_token": "a"}, "unk_token 'a' is a byte or part of a merge"),
        ({"unk_token": "ab"}, "unk_token 'ab' is a byte or part of a merge"),
        ({"unk_token": "<none>"}, "unk_token '<none>' is not a token either"),
    ],
)
def test_missing_bytes_that_are_refused(model: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A vocabulary without some bytes is refused if the ids of texts with these bytes are ambiguous, and the message gives the reason."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(source(b"xyz", **model)), encoding="utf-8")
    with pytest.raises(fst.FstError, match=message):
        bpe(path)


def test_unknown_token_that_is_a_byte_is_no_sound_table() -> None:
    """A table is refused if its unknown token for a run is also the token of a byte, because the number of bytes of this token would be
    ambiguous.
    """
    table = table_of(source(b"xyz", **SETTINGS["one a run"]))
    number = int(table.byte_tokens[ord("a")])
    with pytest.raises(fst.TableError, match=f"token {number} of one byte has 0 bytes"):
        replace(table, header={**table.header, "unk_id": number, "unk_token": "a"}).prove()
