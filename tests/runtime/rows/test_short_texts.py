"""Short texts, for which one kernel calls all other kernels, have the results of a batch, also in several threads and nested searches."""

from __future__ import annotations

import gc
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines import unigram
from support.machines.documents import PIECES, TOKENS, byte_level
from support.text.metaspace import spaced
from support.text.normalizers import NFC

import fst
from fst.compile import keywords, tokenizer, wordpiece
from fst.compile.pretokens.splits import GPT2
from fst.runtime.compat.transformers.document import document
from fst.runtime.kernels.short_texts import HELD
from fst.tables.kernel_call import SHORT

DOCUMENTS = {
    "bpe": lambda: byte_level(GPT2, [(b"a", b"b"), (b"ab", b"ab"), (b" ", b"x")], special=["<s>"]),
    "unigram": lambda: unigram.document(unigram.VOCABULARY, pre_tokenizer=spaced()),
    "unigram, NFC": lambda: unigram.document(unigram.VOCABULARY, **unigram.PIPELINES["words"]),
    "wordpiece": lambda: document(wordpiece([*TOKENS])),
    "wordpiece, NFC": lambda: {**document(wordpiece([*TOKENS])), "normalizer": NFC},
}


@pytest.fixture(params=DOCUMENTS)
def tok(request: pytest.FixtureRequest, tmp_path: Path) -> fst.Tokenizer:
    """A tokenizer whose front end keeps, rewrites or refuses short texts."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(DOCUMENTS[request.param]()), encoding="utf-8")
    return fst.Tokenizer(tokenizer(tmp_path / "tokenizer.json"))


def texts() -> list[str]:
    """Texts whose lengths are near the limits at which another path encodes them."""
    draw, line = np.random.default_rng(3), " ".join(PIECES).replace("[MASK]", "")
    some = [line[begin : begin + 40] for begin in draw.integers(0, len(line), 40)]
    lengths = [0, 1, int(HELD) - 1, int(HELD), int(HELD) + 1, SHORT, SHORT + 1]
    return [*some, *((line * SHORT)[:length] for length in lengths), *("ab x" * length for length in (1, 100, 1000)), "e\u0301", "é"]


@pytest.mark.mostly_slow
def test_a_short_text_has_the_ids_of_a_batch(tok: fst.Tokenizer) -> None:
    """A str alone gets the same ids as in a batch, with and without special tokens, for any length and front end."""
    found = texts()
    for special in (True, False):
        rows = tok.encode_batch(found, add_special_tokens=special, threads=1)
        assert [tok.encode(text, add_special_tokens=special).tolist() for text in found] == [row.tolist() for row in rows]


def test_matches_are_tuples() -> None:
    """A match that a kernel makes equals a tuple of its elements, has the same hash, and is an entry of a set."""
    for text in ("café au lait", "a" * SHORT):
        matches = [*fst.Searcher(keywords(["a", "fé"])).find_iter(text)]
        assert matches
        made = [(match.id, match.start, match.end) for match in matches]
        assert (matches, set(matches), [*map(hash, matches)]) == (made, set(made), [*map(hash, made)])


@pytest.mark.mostly_slow
def test_threads_share_a_tokenizer_for_short_texts(tok: fst.Tokenizer) -> None:
    """Several threads that encode short texts with one tokenizer at the same time get the ids of a batch."""
    found = [text for text in texts() if len(text) <= SHORT] * 3
    with ThreadPoolExecutor(4) as pool:
        assert [ids.tolist() for ids in pool.map(tok.encode, found)] == [row.tolist() for row in tok.encode_batch(found, threads=1)]


class Collected:
    """An object in a reference cycle, which searches a text when it is garbage-collected."""

    def __init__(self, search: Any) -> None:
        self.itself, self._search = self, search

    def __del__(self) -> None:
        self._search()


def test_nested_searches() -> None:
    """A search that the garbage collector starts while matches are made does not change these matches."""
    searcher, inner, threshold = fst.Searcher(keywords(["ab", "b"])), [], gc.get_threshold()
    expected = searcher.find_batch(["ab b" * 500])[0]
    gc.set_threshold(1)
    try:
        for _ in range(20):
            Collected(lambda: inner.append([*searcher.find_iter("b")]))
            assert [*searcher.find_iter("ab b" * 500)] == expected
    finally:
        gc.set_threshold(*threshold)
    assert inner == [[fst.Match(1, 0, 1)]] * len(inner)
    assert inner
