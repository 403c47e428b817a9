"""Before byte-level BPE, normalizers, added tokens that depend on their neighbours, and an added first space give the same results as
`tokenizers`.

The walk and all methods that encode are compared with `tokenizers`.
"""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.kept import assemble, bpe
from support.machines.bpe import hold_in_pieces
from support.shared_data import SHARED, needs_shared
from support.text.normalizers import (
    ADDED,
    LOWER,
    NFKD,
    NORMALIZERS,
    PRE_TOKENIZERS,
    Json,
    built,
    document,
    hold,
    in_turn,
    machine,
    read,
    replaced,
    to,
    token,
)
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer

import fst
from fst.compile.pretokens.automata import whole
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import TableError, UnsupportedError
from fst.text.marks import mark
from fst.text.normalizer import found

CASES = [
    *((name, "late", False, True) for name in NORMALIZERS if name not in PRE_TOKENIZERS),
    *(("none", added, adds_space, trims) for added in ADDED for adds_space in (False, True) for trims in (False, True)),
    ("NFC", "all", False, True),
    ("NFC lower", "all", True, False),
    ("lower NFKC", "raw", True, True),
    ("NFD", "all", True, True),
    ("clip", "clip", False, False),
    ("words", "all", True, True),
    ("digits", "late", True, False),
    ("dropped", "raw", True, True),
]
some_cases = pytest.mark.parametrize("case", thinned([pytest.param(case, id="-".join(map(str, case))) for case in CASES], 18))


# Letters that compose and decompose, unordered marks, decomposed Hangul, spaces of all kinds, and complete and truncated tokens.
BITS = (
    *("a", "e", "é", "E\u0301", "\u0301", "\u0323", "\u0316\u0301\u0323", "\u0344", "\u0958", "\U0001d160", "Å", "\u212b", "か\u3099", "ß"),
    *("İ", "\u1100\u1161", "\u11a8", "각", "가", "≯", ">\u0338", "①", "ﬁ", "㍍", "世", " ", "  ", "\n", "\u00a0", "\u3000", "5"),
    *("!", "_", "the ", "and", "<s>", "<mask>", "<both>", "<r>", "word", "late", "LATE", "é!", "e\u0301!", "<s"),
    *("[L]", "[R]", "one", "<m", "wor", "😀", "ｗ"),
    *("<|endoftext|>", "<|EndOfText|>", "<|ENDOFTEXT|>", "<|Startoftext|>", "<|Pad|>", "<|pad", "|>"),
)


def mixed(draw: random.Random, most: int) -> str:
    """Draw a text that consists of up to `most` random parts."""
    return "".join(draw.choice(BITS) for _ in range(draw.randint(0, most)))


@some_cases
def test_encodings_are_those_of_the_reference(case: tuple[str, str, bool, bool]) -> None:
    """With any normalizers, any added tokens, and with and without an added first space, ids and offsets equal those of `tokenizers`."""
    draw = random.Random(str(case))
    hold(machine(case), [*BITS, *(mixed(draw, 12) for _ in sample(range(200), 40))])


@pytest.mark.slow
@given(some.sampled_from(CASES), some.lists(some.text(some.sampled_from("".join({*"".join(BITS)})), max_size=20), max_size=5))
@examples(60)
def test_any_text_is_rewritten_as_by_the_reference(case: tuple[str, str, bool, bool], texts: list[str]) -> None:
    """Random texts over these characters get the same ids and offsets as in `tokenizers`."""
    hold(machine(case), texts)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("case", [CASES[1], CASES[-5], CASES[-4], CASES[-1]], ids=str)
def test_long_texts_are_read_in_pieces(case: tuple[str, str, bool, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is read in parts gets the same ids, offsets and words as a text that is read at once."""
    _, tokenizer, _ = machine(case)
    draw = random.Random(2)
    for _ in range(20):
        text = mixed(draw, 400)
        hold_in_pieces(tokenizer, text, draw.choice((4, 16, 64)), monkeypatch)


def test_long_runs_of_marks_are_sorted() -> None:
    """A run of marks of any length is put in canonical order, and is composed with the letter before it."""
    draw = random.Random(3)
    marks = "".join(draw.choice("\u0301\u0323\u0316\u0327\u0334") for _ in range(3_000))
    table, tokenizer, _ = machine(CASES[1])
    assert tokenizer.encode(f"a{marks}b").tolist() == table.run(unicodedata.normalize("NFC", f"a{marks}b"))


LOWERED: dict[str, tuple[Json, tuple[Json, ...]]] = {
    "alone": (LOWER, ()),
    "before": (in_turn(to("b", "A"), LOWER), ()),
    "behind": (in_turn(LOWER, to("", "<"), to("xy", "ab")), ()),
    "a run": (in_turn(LOWER, replaced("b", "[a ]{2,}")), ()),
    "into what is decomposed": (in_turn(LOWER, NFKD, to("A", "b")), ()),
    "raw token": (in_turn(NFKD, {"type": "StripAccents"}, LOWER), (token("[A]"), token("B", "lstrip"))),
    "late token": (LOWER, (token("ab", "normalized"), token("<", "normalized", "rstrip"))),
    "tokens": (LOWER, (token("Ab"), token("ba", "normalized", "single_word"))),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("name", "adds_space"), thinned(product(LOWERED, [False, True]), 4))
def test_lowered_ascii(name: str, adds_space: bool) -> None:
    """With Lowercase and any other normalizers, texts in which only ASCII letters change get the same results as in `tokenizers`."""
    normalizer, added = LOWERED[name]
    parts = document(("none", "none", adds_space, False))
    tokens = [{"id": len(parts["model"]["vocab"]) + place, **part} for place, part in enumerate(added)]
    draw = random.Random(name)
    texts = ["".join(draw.choices("aAbB[] <\u0301é", [6, 6, 4, 4, 2, 2, 3, 2, 1, 1], k=draw.randrange(12))) for _ in sample(range(400), 20)]
    texts += ["".join(draw.choices("aAbBcC", k=200)) for _ in range(5)]
    hold(built({**parts, "normalizer": normalizer, "added_tokens": tokens}), texts)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("case", [("lower", "late", False, True), ("none", "all", False, True), ("NFKD", "all", True, True)], ids=str)
def test_added_tokens_are_decoded_as_by_the_reference(case: tuple[str, str, bool, bool]) -> None:
    """An added token decodes to the spelling by which it is found, as in `tokenizers`, unless it is skipped."""
    table, tokenizer, reference = machine(case)
    ids = [*table.metadata.added_tokens.ids.values()]
    for skips in (False, True):
        assert tokenizer.decode(ids, skip_special_tokens=skips) == reference.decode(ids, skip_special_tokens=skips)
    assert [*map(tokenizer.id_to_token, ids)] == [*map(reference.id_to_token, ids)]


def test_saved_tokenizers_compile_to_the_same_tables(tmp_path: Path) -> None:
    """A folder that `fst.hf` saves compiles to a table with the same normalizers and added tokens."""
    pytest.importorskip("transformers")
    table, tokenizer, _ = machine(("NFC", "all", True, True))
    fst.hf(tokenizer).save_pretrained(tmp_path)
    again: Any = fst.compile.bpe(tmp_path)
    assert (again.metadata.text.normalizer, again.metadata.added_tokens) == (table.metadata.text.normalizer, table.metadata.added_tokens)


def test_no_stand_in_for_tiktoken() -> None:
    """`fst.tiktoken` refuses a vocabulary with normalizers, because `tiktoken` has none."""
    with pytest.raises(UnsupportedError, match="encodings that do not rewrite texts"):
        fst.tiktoken(machine(CASES[1])[1])


def test_longest_token_from_the_left() -> None:
    """At each position, the longest token is found, unless it is inside a word, and whitespace belongs to the first token that includes
    it.
    """
    tokens = {part["content"]: replace(machine(CASES[-5])[0].metadata.added_tokens.contextual["<both>"], **flags) for part, flags in TAKEN}
    assert [*found("x <both> \n<r>  y word sword", tokens, frozenset(map(ord, "swordxy")))] == [
        (0, 1, None),
        (1, 10, 1),
        (10, 15, 2),
        (15, 17, None),
        (17, 21, 3),
        (21, 27, None),
    ]


def test_white_space_that_a_token_of_raw_text_takes() -> None:
    """If a token of raw text includes whitespace, no token of normalized text is found in this whitespace, as in `tokenizers`."""
    added = [
        token("\n", "normalized"),
        token("  ", "normalized"),
        token("a ", "normalized"),
        token("<mask>", "lstrip"),
        token("<r>", "rstrip"),
    ]
    parts = document(("none", "none", False, False))
    first = len(parts["model"]["vocab"])
    made = built({**parts, "added_tokens": [{"id": first + place, **part} for place, part in enumerate(added)]})
    texts = ["a\n<mask>", "a  <mask>", "a <mask>", "<r>\n\nb", "<r>  \nb", "a\nb  c", "a \n<mask>\n<r>\n<mask>", "<mask>\n<r>a "]
    found = made[2].encode_batch(texts)
    assert [made[0].run(text) for text in texts] == [encoding.ids for encoding in found]
    assert [ids.tolist() for ids in made[1].encode_batch(texts)] == [encoding.ids for encoding in found]


NO_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False}
TAKEN: list[tuple[Json, Json]] = [
    ({"content": "<both>"}, {**NO_FLAGS, "id": 1, "lstrip": True, "rstrip": True}),
    ({"content": "<r>"}, {**NO_FLAGS, "id": 2, "lstrip": True, "rstrip": True}),
    ({"content": "word"}, {**NO_FLAGS, "id": 3, "single_word": True}),
]


def test_marks_are_all_different() -> None:
    """Each number is encoded as a different mark, and no mark occurs in valid UTF-8."""
    marks = {mark(number) for number in range(70_000)}
    assert len(marks) == 70_000
    assert all(len(one) == 5 and one[0] == 0xFF and all(byte & 0xC0 == 0x80 for byte in one[1:]) for one in marks)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"normalizer": in_turn(*[to("aa", "a")] * 100)}, "normalizers that take more than 8 steps one after the other"),
        ({"normalizer": in_turn(*[to("abab", "ab")] * 20)}, "normalizers may make more than 512 bytes of one"),
        ({"normalizer": LOWER, "added_tokens": [token("A", "normalized"), token("a", "normalized")]}, "equal once normalised"),
        ({"normalizer": to("", "a"), "added_tokens": [token("a", "normalized")]}, "nothing is left of it"),
    ],
)
def test_refusals(parts: Json, message: str) -> None:
    """Normalizers and added tokens that cannot be compiled exactly are refused, and the message contains their names."""
    whole = {**document(CASES[0]), "added_tokens": [], **parts}
    whole["added_tokens"] = [{"id": 10_000 + place, **part} for place, part in enumerate(whole["added_tokens"])]
    with pytest.raises(UnsupportedError, match=message):
        assemble(of_document(whole, Path("tokenizer.json")), "auto")


SPLITTER = whole().stored()


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda _: None, "no normalizer finds them"),
        (lambda stored: {**stored, "blanks": 1}, "blanks have other keys"),
        (lambda stored: {**stored, "last": [[5, 4, 1]]}, "do not ascend"),
        (lambda stored: {**stored, "last": [[97, 97, *[0x1F600] * 62]]}, "bytes of one; at most"),
        (lambda stored: {**stored, "last": [[code, code, 1] for code in range(1 << 15)]}, "runs and decompositions"),
        (lambda stored: {**stored, "composition": {**stored["composition"], "orders": [[769, 300]]}}, "rank above"),
        (lambda stored: {**stored, "composition": {}}, "is not a list of rows"),
        (lambda stored: {**stored, "before": {}}, "edits are not a list"),
        (lambda stored: {**stored, "cuts": {}}, "other keys than 'inside' and 'strings'"),
        (lambda stored: {**stored, "cuts": {"strings": ["é"], "inside": []}}, "no ASCII character"),
        (lambda stored: {**stored, "cuts": {"strings": ["a"], "inside": [[5, 4]]}}, "not a first and a last"),
        (lambda stored: {**stored, "cuts": {"strings": ["a" * (1 << 15)], "inside": []}}, "more than 16384 characters"),
        (lambda stored: {**stored, "splitter": {}}, "other keys than dropped, moves"),
        (lambda stored: {**stored, "splitter": {**SPLITTER, "numbers": [1]}}, "code points and of its classes"),
        (lambda stored: {**stored, "splitter": {**SPLITTER, "starts": [1]}}, "do not ascend from 0"),
        (lambda stored: {**stored, "splitter": {**SPLITTER, "moves": [[0, 0], [8, 0], [4, 1]]}}, "leads to a state past the last"),
        (lambda stored: {**stored, "splitter": {**SPLITTER, "moves": [[0, 0], [4], [4, 1]]}}, "rows of one length"),
        (lambda stored: {**stored, "earlier": []}, "earlier normalizers are not a list of 1 to"),
        (lambda stored: {**stored, "earlier": [{**stored, "splitter": SPLITTER}]}, "an earlier normalizer rewrites whitespace"),
        (lambda stored: {**stored, "earlier": [{**stored, "earlier": []}]}, "earlier normalizers are not a list of 1 to"),
        (lambda stored: {**stored, "splitter": SPLITTER, "cuts": {"strings": ["a"], "inside": []}}, "a splitter, and cuts"),
    ],
)
def test_hostile_tables_are_refused(harm: Any, message: str, tmp_path: Path) -> None:
    """A table with invalid normalizers is refused when it is loaded."""
    table, _, _ = machine(("NFC", "all", False, True))
    wrong = replace(table, header={**table.header, "rewriting": harm(table.header["rewriting"])})
    wrong.save(tmp_path / "wrong.npz")
    with pytest.raises(TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(["clip", "gpt_neox", "mpt", "qwen3", "roberta"], 2))
def test_real_vocabularies(name: str) -> None:
    """With real vocabularies, the corpora get the same ids and offsets as in `tokenizers`, both composed and decomposed."""
    folder = SHARED / "vocab_bpe" / name
    (source,) = folder.glob("tokenizer.json*")
    tokenizer = fst.Tokenizer(bpe(source))
    reference = Tokenizer.from_str(read(source))
    reference.no_padding()
    for path in sorted((SHARED / "corpora").iterdir()):
        text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
        rows = [*sample([text[at : at + 1_000] for at in range(0, len(text), 1_000)], 4, path.name)]
        rows += [unicodedata.normalize("NFD", row) for row in rows]
        batch = tokenizer.encode_batch(rows, offsets=True)
        expected = reference.encode_batch(rows)
        assert batch.ids.tolist() == [number for row in expected for number in row.ids]
        assert batch.offsets is not None
        assert [*map(tuple, batch.offsets.tolist())] == [span for row in expected for span in row.offsets]
