"""Tuned tables give the ids of tables that are not tuned."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from support.conformance.samples import BYTES, UNTUNED, unigram_document
from support.tiers import thinned

import fst
from fst.bridge import tuning
from fst.bridge.tuning import tuned
from fst.compile import bpe, tokenizer, unigram
from fst.pretokens.table import PretokenTable
from fst.pretokens.tuned_words import COUNT, COUNT_SHIFT, MOST_IDS, START, are_tuned
from fst.tables import npz

MACHINES = [name for name, sample in UNTUNED.items() if sample.kind in ("bpe", "unigram")]


def texts_of(name: str, seed: int, count: int = 80) -> list[str]:
    """Texts of a sample's strings."""
    draw, parts = random.Random(seed), UNTUNED[name].parts
    return ["".join(draw.choices(parts, k=draw.randint(1, 14))) for _ in range(count)]


@cache
def tables(name: str) -> tuple[Any, Any]:
    """The table of a sample, and the same table tuned to texts of the sample's strings."""
    with TemporaryDirectory() as folder:
        table = UNTUNED[name].make(Path(folder))
    return table, tuned(table, texts_of(name, 1))


def words_of(table: PretokenTable) -> Mapping[bytes, Sequence[int]]:
    """The tuned words of a table, and their ids."""
    slots = table.words.reshape(-1, 4)
    values = slots[:, 3] & np.uint64((1 << 32) - 1)
    found = {}
    for slot in np.flatnonzero(are_tuned(values)):
        start, count = int(values[slot]) & START, int(values[slot]) >> COUNT_SHIFT & COUNT
        found[slots[slot, :3].tobytes()[: int(slots[slot, 3]) >> 32]] = table.tuned[start : start + count].tolist()
    return found


def near(word: str) -> set[str]:
    """Strings that differ from a word by a character that is changed, removed or added."""
    places = range(len(word) + 1)
    return {word[:at] + char + word[at + cut :] for at in places for char in ("", "a", "b", " ", "\0", "é") for cut in (0, 1)}


def results(table: Any, texts: Sequence[str], **options: Any) -> list[Any]:
    """The ids of texts, their offsets and their words; for a table whose ids do not determine offsets, only the ids."""
    tok: Any = fst.Tokenizer(table)
    try:
        batch = tok.encode_batch(texts, offsets=True, **options)
    except fst.UnsupportedError:
        return [row.tolist() for row in tok.encode_batch(texts, **options)]
    return [batch.ids.tolist(), batch.row_splits.tolist(), batch.offsets.tolist(), batch.words.tolist()]


@pytest.mark.parametrize("name", thinned(MACHINES, 4))
def test_ids_are_those_of_the_table_that_is_not_tuned(name: str) -> None:
    """Texts, tuned words, strings that differ from one by a character, and long texts of them get the ids and the positions that they get
    from the table that is not tuned.
    """
    plain, table = tables(name)
    words = [word.decode() for word in words_of(table)]
    assert words or table is plain
    texts = [*texts_of(name, 1), *texts_of(name, 2), *words, *sorted(set().union(*map(near, words[:40])))]
    texts += ["".join(words), " ".join(words), "".join(texts_of(name, 3, 400))]
    assert results(table, texts) == results(plain, texts)
    assert [row.tolist() for row in fst.Tokenizer(table).encode_batch(texts)] == [
        row.tolist() for row in fst.Tokenizer(plain).encode_batch(texts)
    ]


LIMITED = {"unigram model and bytes": "abab " * 40_000, "bpe queue": "ab" * 3_000}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_long_texts(name: str) -> None:
    """A text so long that sums are reduced, and a long pre-token, get the ids that they get from the table that is not tuned."""
    plain, table = tables(name)
    assert words_of(table)
    assert results(table, [LIMITED[name]]) == results(plain, [LIMITED[name]])


@pytest.mark.parametrize("name", thinned(MACHINES, 4))
def test_words_have_the_ids_of_the_walk(name: str) -> None:
    """Each tuned word has two to eight ids, which are those of the walk."""
    _, table = tables(name)
    found = words_of(table)
    assert len(found) == (table.metadata.model.tuning.words if table.metadata.model.tuning else 0)
    assert {word: [*table.run_pretoken(word)] for word in found} == found
    assert all(2 <= len(ids) <= MOST_IDS for ids in found.values())


def test_words_that_save_the_most_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words with the greatest products of count and number of tokens are chosen; of equal products, the first in the order of bytes."""
    plain, _ = tables("bpe automaton")
    texts = [" xyz", *[" xy"] * 2, *[" xw"] * 2, *[" ab"] * 9, " xyzw"]
    for most, chosen in ((9, [" xw", " xy", " xyzw", " xyz"]), (3, [" xw", " xy", " xyzw"]), (1, [" xw"])):
        monkeypatch.setattr(tuning, "MOST_WORDS", most)
        assert {word.decode() for word in words_of(tuned(plain, texts))} == {*chosen}


def test_texts_without_words_change_nothing() -> None:
    """A table that is tuned to no texts, to empty texts or to texts of single tokens has the bytes of the table that is not tuned."""
    plain, _ = tables("bpe automaton")
    for texts in ([], [""], ["a", " ab", "abab"], iter(())):
        assert tuned(plain, texts).dumps() == plain.dumps()


def test_header() -> None:
    """The header contains the number of tuned words, and the SHA-256 of all texts, however they are divided."""
    plain, _ = tables("bpe automaton")
    texts = [" xyz xy", " xyz", "\u00e9\n"]
    table = tuned(plain, texts)
    digest = sha256(" xyz xy xyz\u00e9\n".encode()).hexdigest()
    assert table.header["tuning"] == {"words": len(words_of(table)), "texts": digest}
    assert tuned(plain, [text.encode() for text in texts]).header["tuning"]["texts"] == digest
    assert "tuning" not in plain.header


def test_added_tokens_are_no_words() -> None:
    """Added tokens in the texts are not counted; the text around them is."""
    table = tuned(tables("bpe automaton")[0], ["<s>x xyz<s>x"] * 3)
    assert {*words_of(table)} == {b" xyz"}


def test_random_segmentations_do_not_change() -> None:
    """Tuned words do not affect dropout, sampling and the best segmentations."""
    for name, randomness in (("bpe automaton", fst.Dropout(0.4, seed=1)), ("unigram", fst.Sampling(alpha=0.5, seed=1))):
        plain, table = tables(name)
        texts = texts_of(name, 4)
        expected = fst.Tokenizer(plain).encode_batch(texts, randomness=randomness)
        assert np.array_equal(fst.Tokenizer(table).encode_batch(texts, randomness=randomness).ids, expected.ids)
    plain, table = tables("unigram")
    public: Sequence[Any] = [fst.Tokenizer(each) for each in (plain, table)]
    first, second = ([(ids.tolist(), score) for ids, score in tok.nbest("abab ba", 4)] for tok in public)
    assert first == second


def test_added_tokens_keep_words() -> None:
    """A copy of a tuned table with more added tokens is tuned, and has the ids of such a copy of the table that is not tuned."""
    plain, table = (fst.Tokenizer(each).with_added_tokens(["<more>"]) for each in tables("bpe automaton"))
    texts = [*texts_of("bpe automaton", 5), "xy<more>xyz abba"]
    assert table.header["tuning"] == tables("bpe automaton")[1].header["tuning"]
    assert [row.tolist() for row in table.encode_batch(texts)] == [row.tolist() for row in plain.encode_batch(texts)]


def test_functions_of_the_compiler(tmp_path: Path) -> None:
    """`tokenizer`, `bpe` and `unigram` tune the table to the texts."""
    for name, document, compilers in (("bpe automaton", BYTES, (tokenizer, bpe)), ("unigram", unigram_document(), (tokenizer, unigram))):
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        for compiler in compilers:
            assert compiler(path, tune=texts_of(name, 1)).dumps() == tables(name)[1].dumps()


@pytest.mark.parametrize(
    ("source", "tune", "error", "message"),
    [
        (["[UNK]", "a"], ["a"], fst.UnsupportedError, "tune: the vocabulary is WordPiece; expected BPE or Unigram; leave tune out"),
        (BYTES, "text", TypeError, "tune is str; expected an iterable of texts; pass a list of texts or an open file"),
        (BYTES, ["a", 1], fst.TextError, "row 1 is int, not str; a batch is all str or all bytes"),
        (BYTES, ["a", "\ud800"], fst.TextError, "document 1, position 0: .*surrogate"),
    ],
    ids=["WordPiece", "str", "int", "surrogate"],
)
def test_refusals(source: Any, tune: Any, error: type[Exception], message: str, tmp_path: Path) -> None:
    """WordPiece, a str in place of an iterable, and items that are not text are refused."""
    if isinstance(source, dict):
        (tmp_path / "tokenizer.json").write_text(json.dumps(source), encoding="utf-8")
        source = tmp_path / "tokenizer.json"
    with pytest.raises(error, match=message):
        tokenizer(source, tune=tune)


def changed(table: Any, place: int, value: int) -> Any:
    """A table in which an element of ``tuned`` has another value."""
    array = table.tuned.copy()
    array[place] = value
    return replace(table, tuned=array)


def numbered(table: Any, change: Callable[[int], int]) -> Any:
    """A table in which the number of the first tuned word has another value."""
    words = table.words.copy()
    slot = 4 * int(np.flatnonzero(are_tuned(words[3::4] & np.uint64((1 << 32) - 1)))[0]) + 3
    words[slot] = change(int(words[slot]))
    return replace(table, words=words)


FORGERIES: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "an id without bytes": (lambda table: changed(table, 0, 258), "its tokens have others"),
    "an id beyond the tokens": (lambda table: changed(table, 0, 1 << 20), "its tokens have others"),
    "a negative id": (lambda table: changed(table, 0, -1), "its tokens have others"),
    "another id": (lambda table: changed(table, 0, 257), "its tokens have others"),
    "a start beyond the ids": (lambda table: numbered(table, lambda number: number | 0xFFFFF), "no number of a tuned word"),
    "one id": (lambda table: numbered(table, lambda number: number & ~(15 << 20) | 1 << 20), "no number of a tuned word"),
    "nine ids": (lambda table: numbered(table, lambda number: number & ~(15 << 20) | 9 << 20), "no number of a tuned word"),
    "a bit above the number of ids": (lambda table: numbered(table, lambda number: number | 1 << 24), "no number of a tuned word"),
    "a bit above that of tuned words": (lambda table: numbered(table, lambda number: number | 1 << 31), "expected .*, as in the header"),
    "another length": (lambda table: numbered(table, lambda number: number + (1 << 32)), "its tokens have others"),
    "no padding": (lambda table: replace(table, tuned=table.tuned[:-6]), "no number of a tuned word"),
    "no ids": (lambda table: replace(table, tuned=table.tuned[:0]), "tuned has 0 elements"),
    "ids without words": (lambda table: replace(tables("bpe automaton")[0], tuned=table.tuned), "elements for 0 tuned words"),
    "no header": (lambda table: replace(table, header={k: v for k, v in table.header.items() if k != "tuning"}), "expected 0, as in the"),
    "fewer words": (lambda table: _stating(table, words=1), "expected 1, as in the header"),
    "a digest of other digits": (lambda table: _stating(table, texts="A" * 64), "tuning is"),
}


def _stating(table: Any, **values: Any) -> Any:
    return replace(table, header={**table.header, "tuning": {**table.header["tuning"], **values}})


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_tables(name: str) -> None:
    """A file is refused if a tuned word does not have 2 to 8 tokens with as many bytes as the word, or if a count is wrong."""
    forge, message = FORGERIES[name]
    with pytest.raises(fst.TableError, match=message):
        fst.load(forge(tables("bpe automaton")[1]).dumps())


def test_empty_optional_array() -> None:
    """A file that contains an empty array of tuned words, instead of no such array, is refused."""
    plain, _ = tables("bpe automaton")
    schema = {name: member._replace(optional=False) for name, member in plain.schema().items()}
    with pytest.raises(fst.TableError, match="array 'tuned' is empty; expected elements, or no such array"):
        fst.load(npz.dumps(plain.header, plain.arrays(), schema))
