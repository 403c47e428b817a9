"""The layout "linked" (edges and failure links instead of folded rows) gives the same ids as the compact layout, and its tables are small
for any alphabet.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst.automata.rows import ENTRY, LINK, ROOT
from fst.automata.transducer import count_explicit, fold
from fst.compile import wordpiece
from fst.compile.machines.wordpiece.compiler import _linked
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.read import read
from fst.machines.wordpiece.table import Walk, WordPieceTable

TOKENS = some.lists(some.text("abc", min_size=1, max_size=5), min_size=1, max_size=10, unique=True)


@pytest.mark.slow
@examples(100)
@given(
    first=TOKENS,
    rest=TOKENS,
    prefix=some.sampled_from(["##", "", "#", "a"]),
    splits=some.sampled_from(["bert", "none"]),
    texts=some.lists(some.text("abcd #", max_size=20), max_size=6),
)
def test_the_ids_are_those_of_a_compact_table(first: list[str], rest: list[str], prefix: str, splits: str, texts: list[str]) -> None:
    """With any vocabulary, linked and compact tables give the same ids and offsets, both by the walk and by the kernel."""
    tokens = [*dict.fromkeys(["[UNK]", *first, *(prefix + token for token in rest)])]
    folded, linked = (
        wordpiece(tokens, layout=layout, continuing_subword_prefix=prefix, pre_tokenizer=splits) for layout in ("compact", "linked")
    )
    linked.prove()
    expected, found = (fst.Tokenizer(table).encode_batch(texts, offsets=True) for table in (folded, linked))
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert [linked.run(text) for text in texts] == [row.tolist() for row in expected]


@examples(200)
@given(tokens=TOKENS, prefix=some.sampled_from(["##", "", "a"]))
def test_explicit_transitions_are_counted_before_they_are_made(tokens: list[str], prefix: str) -> None:
    """`count_explicit` returns the number of transitions that folding would create."""
    source = read([*dict.fromkeys(["[UNK]", *tokens])], {"continuing_subword_prefix": prefix}, WordPieceModel.kind)
    _, failure = _linked(source)
    assert count_explicit(failure) == len(fold(failure).label)


def chinese() -> WordPieceTable:
    """A table of words over 3,000 characters; many words begin with the same character, so that failure links lead to a state with a
    long row.
    """
    draw = random.Random(0)
    letters = [chr(0x4E00 + number) for number in range(3_000)]
    common = letters[:40]
    words = {"".join(map(draw.choice, (*draw.choice(([common], [common, common])), letters))) for _ in range(20_000)}
    tokens = ["[UNK]", *letters, *sorted(words.difference(letters))]
    return wordpiece(tokens, continuing_subword_prefix="", pre_tokenizer="none", handle_chinese_chars=False)


@pytest.mark.slow
def test_auto_links_large_alphabets() -> None:
    """If folding would create many transitions per state, "auto" chooses the layout "linked", and the walk takes fewer than two look-ups
    per symbol.
    """
    table, draw = chinese(), random.Random(1)
    assert table.header["layout"] == "linked"
    walk = Walk(table)
    texts = ["".join(draw.choices(table.tokens[1:], k=20)) for _ in range(40)]
    expected = [walk.tables.run(text) for text in texts]
    for text in texts:
        walk.run(text)
    assert walk.lookups < 2 * walk.symbols
    assert [row.tolist() for row in fst.Tokenizer(table).encode_batch(texts)] == expected
    assert len(table.entries) < 8 * table.metadata.automaton.states


def test_links_that_lead_in_circles_are_refused() -> None:
    """A table with a failure link that does not decrease the depth is refused, because a walk might never end."""
    table = wordpiece(["[UNK]", "abc", "##bcd", "##b", "##c", "bc"], layout="linked")
    links = np.flatnonzero(ENTRY.labels_of(table.entries) == LINK)
    link = int(links[links != ROOT + LINK][0])
    entries = table.entries.copy()
    entries[link] = ENTRY.pack(LINK, link - LINK)
    with pytest.raises(fst.TableError, match=f"the transition at slot {link} of entries emits unknown ids, or too many"):
        replace(table, entries=entries).prove()


@needs_shared
@pytest.mark.slow
def test_words_of_jieba() -> None:
    """A dictionary of 349,000 Chinese words compiles to a table of less than 16 MiB."""
    lines = (SHARED / "dict" / "jieba_dict.txt").read_text(encoding="utf-8").splitlines()
    words = [*dict.fromkeys(line.split(" ")[0] for line in lines)]
    table = wordpiece(["[UNK]", *words], continuing_subword_prefix="", pre_tokenizer="none")
    assert table.header["layout"] == "linked"
    assert table.entries.nbytes < 1 << 24
