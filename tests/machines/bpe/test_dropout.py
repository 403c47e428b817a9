"""BPE dropout: the naive implementation, the walk and the kernel agree, and ids depend only on the seed, the row number and the
position.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyarrow import parquet
from support.commands import call
from support.core.interpreted import printed, steps
from support.machines.bpe import LISTS, ids_of, small
from support.machines.documents import Merges, byte_level, compiled
from support.machines.merges import LATE, NO_COMPONENTS, ONE_PIECE, lists, shuffled, strings
from support.naive import models as naive
from support.tiers import examples, sample
from tokenizers import Tokenizer

import fst
from fst.compile import bpe
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document
from fst.core.random import number_of
from fst.machines.bpe import dropout
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.table import BpeTable
from fst.runtime.compat.transformers.bpe_document import document
from fst.runtime.files import columns, streams
from fst.runtime.kernels import random as numbers
from fst.runtime.machines.bpe.kernels import dropout as kernels
from fst.runtime.machines.bpe.kernels import merge_queue
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.rows import batch as batches

SHARES = (0.1, 0.5, 0.9)
ALL_LISTS = {**LISTS, "improper": LATE, "ties": [(b"a", b"b"), (b"b", b"a"), (b"a", b"ba"), (b"ab", b"a"), (b"ab", b"ab")]}
ROWS = 3000
SIGMAS = 5


def compiled_bpe(merges: Merges, pattern: str = ONE_PIECE, special: Sequence[str] = (), **others: Any) -> BpeTable:
    """Compile merges; `others` contains other components of the tokenizer.json."""
    return assemble(of_document({**byte_level(pattern, merges, (), special), **others}, Path("tokenizer.json")), "auto")


def tokenizer_of(table: BpeTable) -> BpeTokenizer:
    """Make the tokenizer of a table."""
    found = fst.Tokenizer(table)
    assert isinstance(found, BpeTokenizer)
    return found


@cache
def english() -> BpeTable:
    """Compile a table with an automaton, a table of words, special tokens, a normalizer, and a pre-tokenizer that drops whitespace."""
    merges = [(b"t", b"h"), (b"th", b"e"), (b"i", b"n"), (b"in", b"g"), (b"x", b"x"), (b"xx", b"xx"), (b"\xc3", b"\xa9"), (b"a", b"n")]
    found = byte_level(GPT2, merges, (), ("<s>", "</s>"))
    found["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "WhitespaceSplit"})
    found["added_tokens"].append({"id": 600, "content": "the!", "normalized": True, "lstrip": True})
    table = assemble(of_document({**found, "normalizer": {"type": "NFC"}}, Path("tokenizer.json")), "auto")
    assert table.has_automaton
    return table


TABLES: dict[str, Callable[[], BpeTable]] = {"automaton": english, "merges": lambda: shuffled().table}


@cache
def texts() -> list[str]:
    """Draw texts of words, long runs and special tokens, some of which the normalizer changes."""
    draw = random.Random(5)
    units = ["the", " the", "thing", "x" * 70, "xxxxx", "é", "e\u0301", "é世", "<s>", "the!", "12", "  ", "\n", "x" * 300, "q" * 99, "\0"]
    return ["", *("".join(draw.choices(units, k=draw.choice((1, 5, 40)))) for _ in range(25)), "the" * 4000, ""]


# The distribution


def hold_frequencies(found: Counter[Any], expected: dict[Any, float], rows: int) -> None:
    """Check that counts match probabilities, up to `SIGMAS` standard deviations; rare results are counted together."""
    assert not found.keys() - expected.keys()
    rare = {case for case, share in expected.items() if share * rows < 20}
    cases = [(found[case], share) for case, share in expected.items() if case not in rare]
    cases.append((sum(found[case] for case in rare), sum(expected[case] for case in rare)))
    for count, share in cases:
        assert abs(count - share * rows) <= SIGMAS * math.sqrt(share * (1 - share) * rows) + 1e-6 * rows + (share * rows < 20) * SIGMAS


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ALL_LISTS)
def test_frequencies_are_those_of_the_definition(name: str) -> None:
    """Over many rows and seeds, each segmentation of a short word is as frequent as the definition of dropout requires."""
    merges = ALL_LISTS[name]
    tokenizer = tokenizer_of(small(ONE_PIECE, merges).table)
    words = [word for word in (*strings("ab", 6), *strings("ab ", 5), *strings("abc", 5)) if len(word) > 2]
    for seed, (word, share) in enumerate(sample([*product(words, SHARES)][::80], 24, name)):
        batch = tokenizer.encode_batch([word] * ROWS, randomness=Dropout(share, seed=seed))
        found = Counter(tuple(tokenizer.token_bytes(number) for number in row) for row in ids_of(batch))
        hold_frequencies(found, naive.bpe_dropout(word.encode(), merges, share), ROWS)


def test_pieces_are_independent() -> None:
    """The segmentations of two pre-tokens of a row are independent, and so are the segmentations with two different seeds."""
    merges, share = LISTS["chains"], 0.4
    tokenizer = tokenizer_of(small(r"[ab]+|[\s\S]", merges).table)
    alone = naive.bpe_dropout(b"abab", merges, share)
    expected = {(first, second): alone[first] * alone[second] for first in alone for second in alone}
    rows = ids_of(tokenizer.encode_batch(["abab!abab"] * ROWS, randomness=Dropout(share, seed=1)))
    exclamation = tokenizer.encode("!").item()
    cuts = [row.index(exclamation) for row in rows]
    named = [[tokenizer.token_bytes(number) for number in row] for row in rows]
    hold_frequencies(Counter((tuple(row[:cut]), tuple(row[cut + 1 :])) for row, cut in zip(named, cuts, strict=True)), expected, ROWS)
    first, second = (
        [
            tuple(map(tokenizer.token_bytes, row))
            for row in ids_of(tokenizer.encode_batch(["abab"] * ROWS, randomness=Dropout(share, seed=seed)))
        ]
        for seed in (2, 3)
    )
    hold_frequencies(Counter(zip(first, second, strict=True)), expected, ROWS)


def test_numbers_are_those_of_splitmix64() -> None:
    """The random numbers are those of SplitMix64: for the seed 1234567, they equal the values that its authors publish."""
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert [number_of(1234567, index) for index in range(1, 6)] == known


@pytest.mark.parametrize("share", [1e-9, 0.1, 0.5, 0.9, 0.999999, 1.0])
def test_skips(share: float) -> None:
    """The number of skipped merges is computed from a random number: 0 for the largest number, all for 0, and always all if the
    probability is 1.
    """
    assert dropout.skips(0, share, 7) == 7
    assert dropout.skips((1 << 64) - 1, share, 7) == (7 if share == 1 else 0)
    for count in (1, 2, 5):
        numbers = [number_of(5, index) for index in range(1, 2001)]
        found = Counter(dropout.skips(number, share, count) for number in numbers)
        expected = {skipped: share**skipped * (1 - share) for skipped in range(count)} | {count: share**count}
        hold_frequencies(found, expected, len(numbers))


# The kernel


@examples(300)
@given(
    merges=lists([b"a", b"b"]) | lists([b"a", b"b", b"c"]),
    rows=some.lists(some.text("abc ", max_size=60), max_size=8),
    share=some.sampled_from([0.02, 0.3, 0.7, 0.95, 0.9999]),
    seed=some.integers(0, (1 << 64) - 1),
)
def test_kernel_is_the_walk(merges: Merges, rows: list[str], share: float, seed: int) -> None:
    """With any merges, the kernel gives the same ids as the walk, and decoding them returns the text."""
    table = small(r"[ab]+|[\s\S]", merges).table
    tokenizer = tokenizer_of(table)
    batch = tokenizer.encode_batch(rows, randomness=Dropout(share, seed=seed))
    assert ids_of(batch) == [table.run_dropping(text, Dropout(share, seed=seed), row) for row, text in enumerate(rows)]
    assert tokenizer.decode_batch(batch) == rows


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("share", [0.1, 0.97])
def test_kernel_is_the_walk_on_texts(name: str, share: float) -> None:
    """If texts contain special tokens, are normalized and lose whitespace, the kernel gives the same ids as the walk."""
    table = TABLES[name]()
    some_texts = sample([text for text in texts() if len(text) < 2000], 6)
    found = ids_of(tokenizer_of(table).encode_batch(some_texts, randomness=Dropout(share, seed=11)))
    assert found == [table.run_dropping(text, Dropout(share, seed=11), row) for row, text in enumerate(some_texts)]


@pytest.mark.slow
def test_steps_grow_with_the_logarithm() -> None:
    """If a run becomes twice as long, the kernel takes at most 2.7 times as many steps, even if nine of ten merges are skipped."""
    for few, more, most in json.loads(printed(print_steps)):
        assert more < 2.7 * few
        assert most < 2.7 * more


def print_steps() -> None:
    """Print how many lines the interpreted kernel executes for runs of three lengths."""
    merges: list[tuple[bytes, bytes]] = [(b"a" * 2**power, b"a" * 2**power) for power in range(6)]
    tokenizer = fst.Tokenizer(assemble(of_document(byte_level(ONE_PIECE, merges), Path("tokenizer.json")), "auto"))

    def found(size: int, share: float) -> int:
        return steps(lambda: tokenizer.encode("a" * size, randomness=Dropout(share, seed=3)), kernels, merge_queue, numbers)

    print(json.dumps([[found(size, share) for size in (128, 256, 512)] for share in (0.01, 0.5, 0.9)]))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.001, 0.5, 0.95])
def test_a_long_run(share: float) -> None:
    """A run of a million bytes can be encoded, and its ids decode to the same run."""
    merges: list[tuple[bytes, bytes]] = [(b"a" * 2**power, b"a" * 2**power) for power in range(6)]
    tokenizer = tokenizer_of(compiled_bpe(merges))
    assert tokenizer.decode(tokenizer.encode("a" * 1_000_000, randomness=Dropout(share, seed=3))) == "a" * 1_000_000


# The reference


@examples(200)
@given(
    merges=lists([b"a", b"b", b"\xc3", b"\xa9"]),
    rows=some.lists(some.text("abé", max_size=40), max_size=6),
    ignore_merges=some.booleans(),
    share=some.sampled_from([0, 1]),
)
def test_reference_of_none_and_all(merges: Merges, rows: list[str], ignore_merges: bool, share: int) -> None:
    """If no merge or every merge is skipped, ids and offsets equal those of `tokenizers`, both with and without `ignore_merges`."""
    source = {**byte_level(ONE_PIECE, merges, (b"ab", b"aba"), ignore_merges=ignore_merges, dropout=float(share)), **NO_COMPONENTS}
    reference = Tokenizer.from_str(json.dumps(source)).encode_batch(rows)
    tokenizer = fst.Tokenizer(assemble(of_document(source, Path("tokenizer.json")), "auto"))
    batch = tokenizer.encode_batch(rows, offsets=True, randomness=Dropout(share, seed=4))
    assert batch.offsets is not None
    assert ids_of(batch) == [encoding.ids for encoding in reference]
    assert [tuple(span) for span in batch.offsets.tolist()] == [span for encoding in reference for span in encoding.offsets]
    assert [tokenizer.encode(text, randomness=Dropout(share)).tolist() for text in rows] == [encoding.ids for encoding in reference]


def with_suffix(share: float) -> dict[str, Any]:
    """Make a tokenizer.json whose tokens have a suffix at the end of a word."""
    found: dict[str, Any] = {**byte_level(r"\p{L}+|[\s\S]", []), **NO_COMPONENTS}
    names = [*found["model"]["vocab"], *(f"{name}</w>" for name in found["model"]["vocab"]), "ab", "ab</w>", "abab</w>", "ba"]
    merges = [["a", "b"], ["a", "b</w>"], ["ab", "ab</w>"], ["b", "a"]]
    ids = {name: number for number, name in enumerate(names)}
    found["model"].update(vocab=ids, merges=merges, end_of_word_suffix="</w>", dropout=share)
    return found


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_reference_with_a_suffix(share: float) -> None:
    """If tokens have a suffix at the end of a word, ids equal those of `tokenizers` when no merge or every merge is skipped."""
    source = with_suffix(share)
    rows = ["abab", "ab", "a", "", "ba ab", "aab!b"]
    tokenizer = fst.Tokenizer(assemble(of_document(source, Path("tokenizer.json")), "auto"))
    expected = [encoding.ids for encoding in Tokenizer.from_str(json.dumps(source)).encode_batch(rows)]
    assert ids_of(tokenizer.encode_batch(rows, randomness=Dropout(share, seed=1))) == expected


def test_frequencies_with_a_suffix() -> None:
    """If tokens have a suffix at the end of a word, each segmentation is as frequent as the definition of dropout requires."""
    table = assemble(of_document(with_suffix(0), Path("tokenizer.json")), "auto")
    tokenizer, share = tokenizer_of(table), 0.5
    rows = ids_of(tokenizer.encode_batch(["abab"] * ROWS, randomness=Dropout(share, seed=9)))
    found = Counter(tuple(tokenizer.id_to_token(number) for number in row) for row in rows)
    marked = naive.bpe_dropout(b"abaB", [(b"a", b"b"), (b"a", b"B"), (b"ab", b"aB"), (b"b", b"a")], share)
    expected = {tuple(part.decode().replace("B", "b</w>") for part in parts): share for parts, share in marked.items()}
    hold_frequencies(found, dict(expected), ROWS)


# Dependencies of ids


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", TABLES)
def test_threads_and_blocks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed gives the same ids for str, bytes and columns, on any number of threads, and with any division of the rows into blocks."""
    tokenizer, rows = tokenizer_of(TABLES[name]()), texts()
    expected = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7)))
    data = [text.encode() for text in rows]

    def hold() -> None:
        for threads in (1, 2, 4):
            assert ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7), threads=threads)) == expected
            assert ids_of(tokenizer.encode_batch(data, randomness=Dropout(0.3, seed=7), threads=threads, offsets=True)) == expected
        assert tokenizer.count_tokens(rows, randomness=Dropout(0.3, seed=7), threads=2).tolist() == [*map(len, expected)]
        for chunks in ([rows], [rows[:3], [], rows[3:9], rows[9:]]):
            column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks])
            assert tokenizer.encode_arrow(column, randomness=Dropout(0.3, seed=7)).to_pylist() == expected
            assert tokenizer.encode_arrow(column.dictionary_encode(), randomness=Dropout(0.3, seed=7)).to_pylist() == expected

    hold()
    for size in (1 << 12, 1 << 7, 40):
        for limit in ("BLOCK", "MIN_SHARE", "MIN_PIECE", "FEW_CHARACTERS"):
            monkeypatch.setattr(batches, limit, size)
        hold()


@pytest.mark.parametrize("name", TABLES)
def test_other_rows_change_nothing(name: str) -> None:
    """The ids of a row depend only on its text and its number, and `encode` gives the same ids as for row 0 of a batch."""
    tokenizer, rows = tokenizer_of(TABLES[name]()), texts()
    expected = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7)))
    for number in (2, 9, 26):
        others = [*reversed(rows[:number]), rows[number], "the end"]
        assert ids_of(tokenizer.encode_batch(others, randomness=Dropout(0.3, seed=7)))[number] == expected[number]
    first = [ids_of(tokenizer.encode_batch([text], randomness=Dropout(0.3, seed=7)))[0] for text in rows]
    assert [tokenizer.encode(text, randomness=Dropout(0.3, seed=7)).tolist() for text in rows] == first
    assert [tokenizer.encode(text.encode(), randomness=Dropout(0.3, seed=7)).tolist() for text in rows] == first


def test_nulls_have_no_number() -> None:
    """Nulls are skipped when the rows of a column are numbered, so they do not change the ids of other rows."""
    tokenizer, rows = tokenizer_of(english()), texts()[:9]
    expected = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.5, seed=1)))
    column = pa.chunked_array([[None, *rows[:4], None], [None, *rows[4:]]], pa.string())
    found = tokenizer.encode_arrow(column, randomness=Dropout(0.5, seed=1)).to_pylist()
    assert [row for row in found if row is not None] == expected


def test_seeds() -> None:
    """Different seeds give different ids, and each call without a seed draws a new seed."""
    tokenizer = tokenizer_of(english())
    text = " the thing" * 50
    seeds: tuple[Any, ...] = (0, 1, (1 << 64) - 1, np.int64(1))
    drawn = [tokenizer.encode(text, randomness=Dropout(0.5, seed=seed)).tolist() for seed in seeds]
    assert drawn[1] == drawn[3]
    assert drawn[0] != drawn[1] != drawn[2] != drawn[0]
    assert tokenizer.encode(text, randomness=Dropout(0.5)).tolist() != tokenizer.encode(text, randomness=Dropout(0.5)).tolist()
    rows = ids_of(tokenizer.encode_batch([text, text], randomness=Dropout(0.5, seed=0)))
    assert rows[0] != rows[1]


@pytest.mark.parametrize("name", TABLES)
def test_length_and_special_ids(name: str) -> None:
    """`max_length` only shortens a row: the remaining ids are the first ids of the row without a limit."""
    tokenizer, rows = tokenizer_of(TABLES[name]()), texts()
    whole = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7)))
    for length in (0, 1, 7, 1000):
        cut = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7), max_length=length))
        assert cut == [row[:length] for row in whole]


def test_special_ids() -> None:
    """The special tokens around a text are the same with and without dropout."""
    around = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    known = {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}}
    other = {"Sequence": {"id": "B", "type_id": 0}}
    framed = {"type": "TemplateProcessing", "single": around, "pair": [*around, other], "special_tokens": known}
    tokenizer = tokenizer_of(compiled_bpe([(b"a", b"b")], special=["<s>"], post_processor=framed))
    assert ids_of(tokenizer.encode_batch(["ab", "", "ab<s>"], randomness=Dropout(1))) == [[257, 97, 98], [257], [257, 97, 98, 257]]
    assert tokenizer.encode("ab", randomness=Dropout(1), add_special_tokens=False).tolist() == [97, 98]


@pytest.mark.parametrize("share", SHARES)
def test_spans_tile_the_text(share: float) -> None:
    """The spans of the ids tile a text, except for whitespace at its ends, and each span contains the token's text."""
    tokenizer = tokenizer_of(shuffled().table)
    rows = ["thethe1212xxxxx", "x" * 400, "q1the"]
    batch = tokenizer.encode_batch(rows, offsets="bytes", randomness=Dropout(share, seed=3))
    assert batch.offsets is not None
    for row, text in enumerate(rows):
        spans = batch.offsets[batch.row_splits[row] : batch.row_splits[row + 1]].tolist()
        assert [spans[0][0], spans[-1][1]] == [0, len(text)]
        assert all(first[1] == second[0] for first, second in pairwise(spans))
        assert [text[begin:end].encode() for begin, end in spans] == [tokenizer.token_bytes(number) for number in batch[row].tolist()]


def test_parts_of_many_rows() -> None:
    """With `first_row`, a slice of a batch or column gets the same ids as in a single call for all rows."""
    tokenizer, rows = tokenizer_of(english()), texts()
    whole = ids_of(tokenizer.encode_batch(rows, randomness=Dropout(0.3, seed=7)))
    for first in (0, 5, 20):
        assert ids_of(tokenizer.encode_batch(rows[first:], randomness=Dropout(0.3, seed=7, first_row=first))) == whole[first:]
        column = pa.chunked_array([rows[first:24], rows[24:]], pa.string())
        assert tokenizer.encode_arrow(column, randomness=Dropout(0.3, seed=7, first_row=first)).to_pylist() == whole[first:]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["rows.txt", "rows.parquet"])
def test_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fst encode` gives the lines of a file, in any format, the ids of a single call; without a seed, ids are new in each run."""
    table, path = tmp_path / "table.npz", tmp_path / name
    english().save(table)
    rows = [text for text in texts() if "\n" not in text]
    options: tuple[str, ...] = ()
    if path.suffix == ".txt":
        path.write_text("".join(f"{text}\n" for text in rows), "utf-8", newline="\n")
    else:
        parquet.write_table(pa.table({"text": [None, *rows[:3], None, *rows[3:]]}), path)
        options = ("--column", "text")
    expected = [" ".join(map(str, row)) for row in ids_of(tokenizer_of(english()).encode_batch(rows, randomness=Dropout(0.3, seed=7)))]

    def printed(*seed: str) -> list[str]:
        lines = call("encode", table, path, *options, "--dropout", "0.3", *seed).stdout.split("\n")[:-1]
        return lines if not options else [*lines[1:4], *lines[5:]]  # omits the empty lines, which represent nulls

    assert printed("--seed", "7") == expected
    for module, limit, size in ((columns, "MOST_ROWS", 3), (streams, "CHUNK", 200)):
        monkeypatch.setattr(module, limit, size)
    assert printed("--seed", "7") == expected
    assert printed() != printed()
    for wrong in (("--dropout", "1.5"), ("--dropout", "nan"), ("--seed", "-1")):
        call("encode", table, path, *options, *wrong, code=2)


# Tests of arguments, sources and tables


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf"), 10**400, "0.1", 0.1j, [0.1]])
def test_wrong_probabilities(share: Any) -> None:
    """A probability outside 0 to 1 is refused."""
    with pytest.raises(ValueError, match=r"^probability is .*; expected a number from 0 to 1$"):
        Dropout(share)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 0.5, "1", [1]])
def test_wrong_seeds(seed: Any) -> None:
    """A seed that is not an integer from 0 to 2**64 - 1 is refused."""
    with pytest.raises(ValueError, match=r"^seed is .*; expected a whole number from 0 to 2\*\*64 - 1$"):
        Dropout(0.1, seed=seed)


@pytest.mark.parametrize("first_row", [-1, 0.5, 1 << 63])
def test_wrong_first_rows(first_row: Any) -> None:
    """A `first_row` that is not an integer from 0 to 2**63 - 1 is refused."""
    with pytest.raises(ValueError, match=r"^first_row is .*; expected a whole number from 0 to 2\*\*63 - 1$"):
        Dropout(0.1, first_row=first_row)


def test_only_bpe_has_dropout() -> None:
    """If a machine does not support a kind of randomness, a request for it is refused, and the message lists the supported kinds."""
    message = r"^randomness is Dropout\(.*; expected None for wordpiece tables$"
    with pytest.raises(fst.UnsupportedError, match=message):
        fst.Tokenizer(compiled()).encode("a", randomness=Dropout(0.1))
    tokenizer: Any = tokenizer_of(english())
    for other in (fst.Sampling(), 0.1):
        with pytest.raises(fst.UnsupportedError, match=r"expected fst.Dropout or None for bpe tables$"):
            tokenizer.encode("a", randomness=other)


def test_dropout_of_a_source() -> None:
    """The dropout of a tokenizer.json (null means 0) is an attribute of the tokenizer and is written to new files, but `encode` does not
    apply it.
    """
    merges = [(b"a", b"b")]
    tables = [compiled_bpe(merges), *(assemble_with(merges, share) for share in (None, 0, 0.25, 1))]
    assert [tokenizer_of(table).dropout for table in tables] == [0.0, 0.0, 0.0, 0.25, 1.0]
    assert tables[0].dumps() == tables[1].dumps() == tables[2].dumps()
    assert [fst.Tokenizer(table).encode("ab").tolist() for table in tables] == [[256]] * 5
    plain, broken = map(tokenizer_of, (tables[0], tables[-1]))
    assert plain.encode("ab", randomness=Dropout(plain.dropout)).tolist() == [256]
    assert broken.encode("ab", randomness=Dropout(broken.dropout)).tolist() == [97, 98]
    assert [document(table)["model"]["dropout"] for table in tables] == [None, None, None, 0.25, 1.0]


@pytest.mark.parametrize("share", [-0.1, 2, "0.1", True])
def test_wrong_dropout_of_a_source(share: Any) -> None:
    """A tokenizer.json whose dropout is not a probability is refused."""
    with pytest.raises(fst.VocabularyError, match=r"dropout is .*; it is a number from 0 to 1, or null$"):
        assemble_with([], share)


def assemble_with(merges: Merges, share: Any) -> BpeTable:
    """Compile a tokenizer.json with a given dropout to a table."""
    return assemble(of_document(byte_level(ONE_PIECE, merges, dropout=share), Path("tokenizer.json")), "auto")


def test_tables_have_all_merges() -> None:
    """A table contains all merges of its source, even those that only apply with dropout."""
    merges = [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"a", b"bc")]
    table = compiled_bpe(merges)
    assert table.has_automaton
    names = dict(zip(table.token_ids.tolist(), table.contents, strict=True))
    assert [(names[left], names[right]) for left, right, _ in table.merges.tolist()] == merges
    assert [names[made] for _, _, made in table.merges.tolist()] == [b"ab", b"abc", b"bc", b"abc"]
    assert document(table)["model"]["merges"] == [["a", "b"], ["ab", "c"], ["b", "c"], ["a", "bc"]]


@examples(50)
@given(tokens=some.sets(some.text("ab", min_size=2, max_size=5), max_size=12), seed=some.integers(0, 99))
def test_merges_of_ranks(tokens: set[str], seed: int) -> None:
    """Any two tokens whose concatenation is a token form a merge; merges are ordered by the rank of this token, then by the two tokens."""
    longer = [token.encode() for token in sorted(tokens)]
    random.Random(seed).shuffle(longer)
    names = [*(bytes([byte]) for byte in range(256)), *longer]
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {token: rank for rank, token in enumerate(names)}
    table: Any = bpe(tiktoken.Encoding("any", pat_str=ONE_PIECE, mergeable_ranks=ranks, special_tokens={}))
    pairs = [(left, right) for left in names for right in names if left + right in ranks]
    expected = sorted((ranks[left + right], ranks[left], ranks[right]) for left, right in pairs)
    assert [(made, left, right) for left, right, made in table.merges.tolist()] == expected


def test_merges_are_proven_beside_an_automaton() -> None:
    """A table with an invalid merge is refused even if it has an automaton, because dropout uses the merges instead of the automaton."""
    table = compiled_bpe([(b"a", b"b"), (b"ab", b"c")])
    merges = table.merges.copy()
    merges[1, 0] = 9999
    with pytest.raises(fst.TableError, match="merge 1 is"):
        BpeTable.loads(replace(table, merges=merges).dumps())
