"""Ids of Unigram: the kernel gives the same ids as the walk, the walk gives the same ids as the naive implementation and `tokenizers`,
and the proof refuses damaged tables.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.unigram import ADDED, BITS, BYTES, PIPELINES, TOKENS, VOCABULARY, document, machine, real
from support.naive.models import unigram_ids
from support.shared_data import SHARED, needs_shared
from support.text.every_character import swept_characters
from support.text.metaspace import spaced
from support.text.normalizers import Json, built, hold
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer

from fst.automata.rows import BYTE_ROW
from fst.cli.commands.explain.command import explained
from fst.compile import tokenizer as compiled
from fst.core.json_numbers import reference_float, spelled_as
from fst.errors import TableError, UnsupportedError, VocabularyError
from fst.machines.unigram.aho_corasick import BLOCK, GOES_ON, NONE
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import ENTRY
from fst.pretokens.arguments import PRETOKENS
from fst.runtime.compat.transformers.backend import backend_of

CASES = [*product(PIPELINES, ADDED, (False, True))]
some_cases = pytest.mark.parametrize("case", thinned([pytest.param(case, id="-".join(map(str, case))) for case in CASES], 12))


def mixed(draw: random.Random, size: int) -> str:
    """Draw a random text."""
    return "".join(draw.choices(BITS, k=draw.randrange(size)))


@pytest.mark.mostly_slow
@some_cases
def test_encodings_are_those_of_the_reference(case: tuple[str, str, bool]) -> None:
    """Ids, offsets and words equal those of `tokenizers`, with any components, added tokens and fallbacks."""
    draw = random.Random(str(case))
    hold(machine(case), [*BITS, *(mixed(draw, 12) for _ in sample(range(200), 8)), mixed(draw, 2_000)])


@pytest.mark.slow
@examples(300)
@given(TOKENS, some.lists(some.text("abé<unk>", max_size=10), max_size=5), some.sampled_from(["<unk>", "a", "ab"]), some.booleans())
def test_tied_scores(tokens: dict[str, float], texts: list[str], unk_token: str, fallback: bool) -> None:
    """With tied scores, positive scores, and an unknown token that occurs in texts, ids equal those of the naive implementation and of
    `tokenizers`.
    """
    tokens = {unk_token: -1.0, **tokens}
    vocabulary = [*tokens.items(), *(BYTES[: ord("b")] if fallback else [])]
    unk_id = [*tokens].index(unk_token)
    made = built(document(vocabulary, unk_id=unk_id, byte_fallback=fallback))
    hold(made, texts)
    for text in texts:
        assert made[0].run(text) == unigram_ids(text, vocabulary, unk_id, fallback)


@pytest.mark.slow
def test_paths_that_differ_by_rounding() -> None:
    """If rounding alone decides between two paths, a pre-token gets the ids of `tokenizers`, whatever text precedes it in its word."""
    draw, letters = random.Random(4), "abcdefgh"
    scores = {letter: -draw.randrange(1, 99) / 10 for letter in letters}
    pairs = {one + other: round(scores[one] + scores[other], 1) for one, other in product(letters, letters)}
    parts = ["".join(draw.choices(letters, k=draw.randrange(1, 9))) for _ in range(400)]
    words = [",".join(draw.choices(parts, k=draw.randrange(1, 30))) for _ in range(100)]
    vocabulary = [("<unk>", -9.9), *scores.items(), *pairs.items(), (",", -0.7), ("▁", -1.1)]
    hold(built(document(vocabulary, pre_tokenizer=spaced())), [*words, " ".join(words)])


@examples(200)
@given(some.text("ab \n", max_size=8), some.integers(1, 400))
def test_long_pieces(text: str, times: int) -> None:
    """A pre-token that is longer than a chunk or than the buffer of sums gets the same ids from the kernel as from the walk."""
    table, tokenizer, _ = machine(("first", "none", False))
    assert tokenizer.encode(text * times).tolist() == table.run(text * times)


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "fallback"), thinned(product((["a", "b"], ["ab"], ["a", "b", "é", "日", "☃"], ["☃"]), (False, True)), 8))
def test_pieces_of_many_characters(parts: list[str], fallback: bool) -> None:
    """A pre-token of 40,000 characters gets the same ids, offsets and words as in `tokenizers`."""
    text = "".join(random.Random(4).choices(parts, k=40_000))
    hold(machine(("plain", "none", fallback)), [text])


@pytest.mark.slow
@pytest.mark.parametrize("longest", thinned([255, 256], 4))
def test_long_tokens(longest: int) -> None:
    """A long pre-token gets the same ids as in `tokenizers`, whether or not the length of the longest token fits in one byte."""
    draw = random.Random(longest)
    text = "".join(draw.choices(["a", "b", "é", "ab" * longest], [9, 9, 1, 1], k=600))
    hold(built(document([*VOCABULARY, (("ab" * longest)[:longest], 5.0)])), [text])


@pytest.mark.slow
@pytest.mark.parametrize("longest", thinned([4, 52, 205, 206], 4))
def test_pieces_of_segments(longest: int) -> None:
    """The kernel gives the same ids as the walk for a pre-token that is read in overlapping segments, and for a pre-token whose tokens
    are too long for segments.
    """
    draw = random.Random(longest)
    table, tokenizer, _ = built(document([*VOCABULARY, ("ab" * (longest // 2) + "b" * (longest % 2), 5.0)]))
    for size in (255, 256, 257, 256 + longest, 1023, 1024, 1025, PRETOKENS - 1, PRETOKENS, PRETOKENS + 1):
        text = "".join(draw.choices(["a", "b", "ab" * longest], [9, 9, 1], k=size))[:size]
        assert tokenizer.encode(text).tolist() == table.run(text)


def test_explained() -> None:
    """`fst explain` lists the tokens that begin at each character, and the total score of the best path."""
    table, _, _ = machine(("always", "none", False))
    assert [*explained(table, "ab ☃")] == [
        "pre-token ▁ab",
        "  ▁  tokens from here: ▁ -2.5, ▁a -2.75, ▁ab -5",
        "  a  tokens from here: a -3, ab -5.5",
        "  b  tokens from here: b -3.5",
        "  best path to ▁ab: sum -5",
        "  tokens ▁ab 6",
        "",
        "pre-token ▁",
        "  ▁  tokens from here: ▁ -2.5",
        "  best path to ▁: sum -2.5",
        "  tokens ▁ 1",
        "",
        "pre-token ☃",
        "  ☃  tokens from here: none",
        "  best path to ☃: sum -21",
        "  tokens <unk> 0",
    ]


def test_floats_of_the_reference() -> None:
    """Scores are parsed as in `tokenizers`, which rounds them twice."""
    draw = random.Random(5)
    digits = ["".join(draw.choices("0123456789", k=draw.randrange(1, 30))) for _ in range(2_000)]
    spellings = [f"-{draw.randrange(30)}.{part}{draw.choice(['', '', f'e{draw.randrange(-320, 200)}'])}" for part in digits]
    rows = ",".join(f'["{number}",{spelling}]' for number, spelling in enumerate(spellings))
    rest = '"added_tokens":[],"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,"truncation":null,"padding":null'
    source = f'{{"version":"1.0",{rest},"model":{{"type":"Unigram","unk_id":0,"vocab":[{rows}]}}}}'
    read = json.loads(Tokenizer.from_str(source).to_str())["model"]["vocab"]
    assert [*map(reference_float, spellings)] == [score for _, score in read]
    with pytest.raises(ValueError, match="too large"):
        reference_float("1e309")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ({"unk_id": 99}, "has the unk_id 99, and 2 tokens"),
        ({"unk_id": True}, "unk_id is True"),
        ({"vocab": []}, "is empty"),
        ({"vocab": [["<unk>", 0], ["a", float("nan")]]}, "scores are finite"),
        ({"vocab": [["<unk>", 0], ["a", float("-inf")]]}, "scores are finite"),
        ({"vocab": [["<unk>", 0], ["a", -1], ["a", -2]]}, "twice, as 1 and 2"),
        ({"vocab": [["<unk>", 0], ["a"]]}, "token 1 of vocab"),
        ({"vocab": [["<unk>", 0], ["a", "-1"]]}, "token 1 of vocab"),
        ({"vocab": [["", 0]]}, "no token of the model can be in a text"),
        ({"other": 1}, "has 'other'"),
    ],
)
def test_refusals(harm: Json, message: str, tmp_path: Path) -> None:
    """A model that cannot be compiled exactly is refused, both as a file and in a folder, and the message gives the reason."""
    whole = document([("<unk>", 0.0), ("a", -1.0)])
    whole["model"] |= harm
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    for source in (tmp_path / "tokenizer.json", tmp_path):
        with pytest.raises((VocabularyError, UnsupportedError), match=message):
            compiled(source)


@pytest.mark.parametrize("config", [None, {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "unk_token": "<unk>"}])
def test_folders(config: Json | None, tmp_path: Path) -> None:
    """A folder is compiled from its tokenizer.json and the added tokens in its other files, and gives the same ids as `transformers`."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document([("<unk>", 0.0), ("a", -1.0)])))
    tokens, text = ["<unk>", "a"], "a</s>b"
    if config:
        transformers = pytest.importorskip("transformers")
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        tokens = [*tokens, "</s>"]
        assert transformers.AutoTokenizer.from_pretrained(tmp_path)(text)["input_ids"] == [1, 2, 0]
    table = compiled(tmp_path)
    assert isinstance(table, UnigramTable)
    assert list(table.tokens) == tokens
    assert table.run(text) == ([1, 2, 0] if config else [1, 0])
    assert table.metadata.settings.named_tokens["unk_token"] == "<unk>"


def test_image_that_no_table_has_room_for_is_refused(tmp_path: Path) -> None:
    """A model is refused if the normalized form of a character is longer than the limit of a table, and compiled if it has exactly this
    length.
    """
    for size in (62, 63):
        replacing = {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * size}
        whole = document([("<unk>", 0.0), ("b", -1.0)]) | {"normalizer": replacing}
        (tmp_path / f"{size}.json").write_text(json.dumps(whole))
    assert len(compiled(tmp_path / "62.json").run("a")) == 62
    with pytest.raises(UnsupportedError, match=r"normalizers make 63 symbols of U\+0061; at most 62 are possible"):
        compiled(tmp_path / "63.json")


def test_fallback_of_an_unknown_blank_is_refused(tmp_path: Path) -> None:
    """A model with byte_fallback is refused if the symbol for spaces is not a token, because spaces would become the bytes of this
    symbol.
    """
    whole = document([("<unk>", 0.0), ("a", -1.0), *BYTES], byte_fallback=True, pre_tokenizer=spaced())
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    with pytest.raises(UnsupportedError, match="represents a space, is unknown"):
        compiled(tmp_path / "tokenizer.json")


def taken(table: UnigramTable) -> Any:
    """Return the used slots in the array `trie`."""
    return np.flatnonzero(ENTRY.labels_of(table.trie) < ENTRY.labels)


def steps_taken(table: UnigramTable) -> Any:
    """Return the used slots in the array `steps`."""
    return np.flatnonzero(ENTRY.labels_of(table.steps) < ENTRY.labels)


def longest_list(table: UnigramTable) -> int:
    """Return the index of the token list that contains the longest token."""
    return int(table.item_sizes[::BLOCK].argmax())


def heads(table: UnigramTable) -> Any:
    """Return the slots of the states in the array `steps`, except the root's slot."""
    return np.flatnonzero(ENTRY.are_states(table.steps))[1:]


def last_free(entries: Any) -> Any:
    """Return the last slot that belongs to no row."""
    return np.flatnonzero(entries == ENTRY.free)[-1]


def changed(name: str, at: Callable[[UnigramTable], Any], change: Callable[[Any], Any]) -> Callable[[UnigramTable], UnigramTable]:
    """Return a function that changes elements of an array of a table."""

    def harm(table: UnigramTable) -> UnigramTable:
        array = getattr(table, name).copy()
        array[at(table)] = change(array[at(table)])
        return replace(table, **{name: array})

    return harm


def stating(**values: Any) -> Callable[[UnigramTable], UnigramTable]:
    """Return a function that changes the metadata of a table."""
    return lambda table: replace(table, header={**table.header, **values})


def cut(name: str) -> Callable[[UnigramTable], UnigramTable]:
    """Return a function that removes the last element of an array of a table."""
    return lambda table: replace(table, **{name: getattr(table, name)[:-1]})


HARMS = {
    "short trie": (lambda table: replace(table, trie=table.trie[: BYTE_ROW - 1]), "slots; a row takes"),
    "no root": (changed("trie", lambda _: 0, lambda _: ENTRY.free), "it must be the root"),
    "last row": (cut("trie"), "ends at slot"),
    "depth of the root": (changed("trie", lambda _: 0, lambda entry: entry | ENTRY.pack(0, 0, 1)), "the root of the trie"),
    "depth": (stating(longest=1), "has depth"),
    "foreign slot": (changed("trie", lambda table: last_free(table.trie), lambda _: ENTRY.pack(5, 0)), "belongs to no state"),
    "target": (changed("trie", taken, lambda entries: entries | ENTRY.pack(0, 1 << 20)), "leads to no state"),
    "value": (changed("trie", taken, lambda entries: entries | ENTRY.pack(0, 0, 1 << 20)), "has the value"),
    "token": (changed("trie", taken, lambda entries: entries & ~ENTRY.pack(0, 0, ENTRY.max_value) | ENTRY.pack(0, 0, 5)), "ends token"),
    "short steps": (lambda table: replace(table, steps=table.steps[: BYTE_ROW - 1]), "slots; a row takes"),
    "no root of steps": (changed("steps", lambda _: 0, lambda _: ENTRY.free), "it must be the root"),
    "last row of steps": (cut("steps"), "of steps ends at slot"),
    "bytes of the root": (changed("steps", lambda _: 9, lambda _: ENTRY.free), "no transition for byte 0x8"),
    "depth of the root of steps": (changed("steps", lambda _: 0, lambda entry: entry | ENTRY.pack(0, 0, 1)), "the root of steps"),
    "depth of steps": (changed("steps", heads, lambda entries: entries | ENTRY.pack(0, 0, 1 << 9)), "of steps has depth"),
    "default": (changed("steps", heads, lambda entries: entries | ENTRY.pack(0, 1 << 20)), "the default of state"),
    "slot of steps": (changed("steps", lambda table: last_free(table.steps), lambda _: ENTRY.pack(5, 0)), "slot .* of steps"),
    "target of steps": (changed("steps", steps_taken, lambda entries: entries | ENTRY.pack(0, 1 << 20)), "slot .* of steps"),
    "list": (changed("steps", steps_taken, lambda entries: entries | ENTRY.pack(0, 0, 1 << 20)), "slot .* of steps"),
    "far list": (lambda table: changed("steps", lambda _: 9, lambda _: ENTRY.pack(8, 0, longest_list(table)))(table), "slot 9 of steps"),
    "blocks": (cut("lists"), "items, not 4 for each block"),
    "first block": (changed("lists", lambda _: 1, lambda _: 1), "the first block of lists"),
    "token in a list": (changed("lists", lambda _: BLOCK, lambda _: 1000), "item 4 of lists is 1000"),
    "character in a list": (changed("lists", lambda _: BLOCK, lambda _: -5), "item 4 of lists is -5"),
    "empty list": (changed("lists", lambda _: BLOCK, lambda _: NONE), "block 1 of lists has no items"),
    "order in a list": (changed("lists", lambda _: BLOCK + 1, lambda _: 8), "block 1 of lists has a token that is not shorter"),
    "list that goes on": (changed("lists", lambda _: BLOCK, lambda item: item | GOES_ON), "a list continues before"),
    "states": (stating(states=1), "states is 1"),
    "scores": (cut("scores"), "scores for"),
    "score": (changed("scores", lambda _: 1, lambda _: np.nan), "token 1 has the score nan"),
    "unk_id": (stating(unk_id=1000), "unk_id is 1000"),
    "unk_token": (stating(unk_token="a"), "and another name"),
    "ids": (changed("token_ids", lambda _: 1, lambda _: 7), "of the model has the id 7"),
    "text": (changed("token_bytes", lambda _: 0, lambda _: 0xFF), "is not UTF-8"),
    "words": (changed("words", lambda table: 3 + 4 * np.flatnonzero(table.words[3::4]), lambda values: values + (1 << 32)), "not a token"),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("harm", "message"), HARMS.values(), ids=HARMS)
def test_damaged_tables_are_refused(harm: Callable[[UnigramTable], UnigramTable], message: str) -> None:
    """A damaged table is refused, and the message describes the fault."""
    table = machine(("always", "none", False))[0]
    assert isinstance(table, UnigramTable)
    table.prove()
    with pytest.raises(TableError, match=message):
        harm(table).prove()


@some_cases
def test_documents_compile_to_the_same_table(case: tuple[str, str, bool], tmp_path: Path) -> None:
    """The tokenizer.json that `fst.hf` writes for a table compiles to the same table."""
    table, tokenizer, _ = machine(case)
    (tmp_path / "tokenizer.json").write_text(json.dumps(backend_of(tokenizer).document()))
    assert compiled(tmp_path / "tokenizer.json").dumps() == table.dumps()


@examples(1000)
@given(some.floats(-30, 0))
def test_scores_are_written_so_that_the_reference_reads_them(score: float) -> None:
    """A score is written in a form that `tokenizers` parses to the same number."""
    read = reference_float(repr(score))
    assert reference_float(repr(spelled_as(read))) == read


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(["t5", "albert", "xlm-r"], 3))
def test_real_vocabularies(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With real vocabularies, the texts of the corpora get the same ids and offsets as in `tokenizers`."""
    _, tokenizer, reference = real(name, tmp_path_factory.getbasetemp())
    for path in sorted((SHARED / "corpora").iterdir()):
        text = path.read_text()[:200_000]
        texts = [*text.split("\n"), text[:50_000]]
        answers = reference.encode_batch(texts)
        batch = tokenizer.encode_batch(texts, offsets=True)
        assert batch.offsets is not None
        assert batch.ids.tolist() == [number for answer in answers for number in answer.ids]
        assert [*map(tuple, batch.offsets.tolist())] == [span for answer in answers for span in answer.offsets]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(["t5", "xlm-r"], 2))
def test_all_characters(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every character, alone and next to others, gets the same ids as in `tokenizers`."""
    _, tokenizer, reference = real(name, tmp_path_factory.getbasetemp())
    for form in ("{}", "a{}b", " {} ", "{0}{0}▁"):
        for begin in range(0, len(swept_characters()), 100_000):
            texts = [form.format(char) for char in swept_characters()[begin : begin + 100_000]]
            assert [ids.tolist() for ids in tokenizer.encode_batch(texts)] == [answer.ids for answer in reference.encode_batch(texts)]
