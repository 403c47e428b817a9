"""For merge lists without an exact automaton, the naive implementation, the walk, the kernel and the reference libraries give the same
ids.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.core.interpreted import printed, steps
from support.machines.bpe import ids_of, small
from support.machines.documents import Merges, byte_level
from support.machines.merges import LATE, NO_COMPONENTS, ONE_PIECE, lists, strings
from support.tiers import examples, sample
from tokenizers import Tokenizer

import fst
from fst.cli.commands.explain.command import explained
from fst.compile import bpe
from fst.compile.machines.bpe import item_sets
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.merge_list import RANK_BITS, ranks_of, slots_of
from fst.runtime.machines.bpe.kernels import merge_queue
from fst.runtime.rows import batch


def test_improper_lists_have_no_automaton() -> None:
    """A table always contains its merges, and also contains an automaton, unless some merge makes a token before another merge makes one of
    the token's parts.
    """
    late, proper = small(ONE_PIECE, LATE).table, small(ONE_PIECE, [(b"a", b"b"), (b"ab", b"c")]).table
    assert (len(late.entries), len(late.depths), late.metadata.automaton.states) == (0, 0, 0)
    ids = dict(zip(late.contents, late.token_ids.tolist(), strict=True))
    assert late.merges.tolist() == [[ids[part] for part in (left, right, left + right)] for left, right in LATE]
    assert (late.has_automaton, proper.has_automaton, len(proper.merges)) == (False, True, 2)


@pytest.mark.parametrize(("limit", "most"), [("MAX_TRANSITIONS", 0), ("MAX_COMPLETIONS", 0)])
def test_large_automata_are_replaced_by_merges(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the automaton is too large, the table contains only the merges, which give the same ids."""
    source = of_document(byte_level(ONE_PIECE, [(b"a", b"b"), (b"ab", b"ab"), (b" ", b"ab")]), Path("tokenizer.json"))
    proper = assemble(source, "auto")
    monkeypatch.setattr(item_sets, limit, most)
    merging = assemble(source, "auto")
    assert (proper.has_automaton, merging.has_automaton) == (True, False)
    texts = strings("ab ", 6)
    assert ids_of(fst.Tokenizer(merging).encode_batch(texts)) == ids_of(fst.Tokenizer(proper).encode_batch(texts))


@examples(100)
@given(merges=lists([b"a", b"b"]) | lists([b"a", b"b", b"c"]), ignore_merges=some.booleans())
def test_all_short_texts(merges: Merges, ignore_merges: bool) -> None:
    """For merges in any order, the naive implementation, the walk and the kernel give the same ids for each text of up to 8 letters."""
    found = small(ONE_PIECE, merges, ignore_merges=ignore_merges)
    letters = "abc" if any(b"c" in left + right for left, right in merges) else "ab"
    texts = sample(strings(letters, 8), 60 if letters == "abc" else 6, repr(merges))
    expected = [found.define(text) for text in texts]
    assert ids_of(fst.Tokenizer(found.table).encode_batch(texts)) == expected
    assert [found.table.run(text) for text in texts] == expected


@examples(200)
@given(merges=lists([b"a", b"b", b"\xc3", b"\xa9"]), texts=some.lists(some.text("abé", max_size=40), max_size=6))
def test_reference_on_any_list(merges: Merges, texts: list[str]) -> None:
    """For merges in any order, ids and offsets equal those of `tokenizers`."""
    reference = Tokenizer.from_str(json.dumps({**byte_level(ONE_PIECE, merges), **NO_COMPONENTS})).encode_batch(texts)
    batch = fst.Tokenizer(small(ONE_PIECE, merges).table).encode_batch(texts, offsets=True)
    assert batch.offsets is not None
    assert ids_of(batch) == [encoding.ids for encoding in reference]
    assert [tuple(span) for span in batch.offsets.tolist()] == [span for encoding in reference for span in encoding.offsets]


@examples(200)
@given(
    tokens=some.sets(some.text("ab ", min_size=2, max_size=6)),
    seed=some.integers(0, 99),
    texts=some.lists(some.text("ab ", max_size=40), max_size=6),
)
def test_tiktoken_on_any_ranks(tokens: set[str], seed: int, texts: list[str]) -> None:
    """For any ranks of the tokens, ids equal those of `tiktoken`."""
    tiktoken = pytest.importorskip("tiktoken")
    longer = [token.encode() for token in sorted(tokens)]
    random.Random(seed).shuffle(longer)
    ranks = {token: rank for rank, token in enumerate([*(bytes([byte]) for byte in range(256)), *longer])}
    encoding = tiktoken.Encoding("any", pat_str=ONE_PIECE, mergeable_ranks=ranks, special_tokens={})
    assert ids_of(fst.Tokenizer(bpe(encoding)).encode_batch(texts)) == [encoding.encode(text) for text in texts]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("unit", ["a", "ab", "abc", "b"])
def test_long_runs_are_periodic(unit: str) -> None:
    """The ids of a periodic run of a million bytes repeat those of a short run, because a merge depends only on nearby bytes."""
    tokenizer, count = fst.Tokenizer(small(ONE_PIECE, LATE).table), 1_000_000 // (12 * len(unit))
    expected = tokenizer.encode(unit * 12).tolist() * count
    assert tokenizer.encode(unit * 12 * count).tolist() == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize("length", range(int(merge_queue.FEW) - 2, int(merge_queue.FEW) + 3))
def test_few_atoms_merge_without_the_queue(length: int) -> None:
    """Pre-tokens of about the length at which the queue begins to be used have the ids of the slow walk."""
    draw, table = random.Random(length), small(ONE_PIECE, LATE).table
    for _ in range(50):
        text = "".join(draw.choices("abc", k=length))
        assert fst.Tokenizer(table).encode(text).tolist() == table.run(text)


def test_a_long_word_that_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of a long word that is normalized in many parts repeat those of a short word."""
    monkeypatch.setattr(batch, "BLOCK", 1 << 5)
    table = assemble(of_document({**byte_level(ONE_PIECE, LATE), "normalizer": {"type": "NFC"}}, Path("tokenizer.json")), "auto")
    tokenizer, unit = fst.Tokenizer(table), "abcaab\u212b"
    assert tokenizer.encode(unit * 2_000).tolist() == tokenizer.encode(unit).tolist() * 2_000


def test_explanation_tells_merges() -> None:
    """If a table has no automaton, `explained` lists the merges that apply to a text."""
    merges = ["  merge        2  a b", "  merge        0  ab c"]
    assert [*explained(small(ONE_PIECE, LATE).table, "abc")] == ["pre-token abc", *merges, "  tokens abc 256"]


def test_table_of_pairs() -> None:
    """In the hash table of pairs, each pair has a slot with the rank of its last merge, and at least half of the slots are free."""
    merges = np.random.default_rng(1).integers(0, 40, (700, 3)).astype(np.int32)
    slots = slots_of(merges)
    ranks = [(slot & (1 << RANK_BITS) - 1) - 1 for slot in slots.tolist() if slot]
    assert sorted(ranks) == sorted(ranks_of(merges).values())
    assert 2 * len(ranks) <= len(slots)
    assert not slots_of(merges[:0]).any()


@pytest.mark.slow
def test_steps_grow_with_the_logarithm() -> None:
    """If a run becomes twice as long, the queue of merges takes at most 2.5 times as many steps."""
    for few, more, most in json.loads(printed(print_steps)):
        assert more < 2.5 * few
        assert most < 2.5 * more


def print_steps() -> None:
    """Print how many lines the interpreted kernels execute for runs of three lengths."""
    merges: list[tuple[bytes, bytes]] = [(b"a" * 2**power, b"a" * 2**power) for power in range(6)]
    improper = (LATE, [*merges[1:], (b"aa", b"a"), merges[0]])
    sources = [of_document(byte_level(ONE_PIECE, listed), Path("tokenizer.json")) for listed in improper]
    tokenizers = [fst.Tokenizer(assemble(source, "auto")) for source in sources]

    def found(tokenizer: fst.Tokenizer, text: str) -> int:
        return steps(lambda: tokenizer.encode(text), merge_queue)

    print(json.dumps([[found(tokenizer, unit * size) for size in (64, 128, 256)] for tokenizer in tokenizers for unit in ("a", "abc")]))
