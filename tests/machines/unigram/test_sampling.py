"""Sampling and n-best of Unigram: the naive implementation, the walks and the kernels agree, and ids depend only on the seed, the row
number and the position.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
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
from support.commands import call
from support.machines.bpe import ids_of
from support.machines.unigram import BITS, BYTES, SCORES, TOKENS, VOCABULARY, document, machine, real
from support.naive import models as naive
from support.naive import sentencepiece as defined
from support.shared_data import SHARED, needs_shared
from support.text.metaspace import spaced
from support.text.normalizers import Machine, built
from support.tiers import examples, sample, thinned

import fst
from fst.core.borrowed import kind_of
from fst.machines.unigram import sampling
from fst.machines.unigram.arguments import UnigramWork, nbest_work, sampling_work
from fst.machines.unigram.sampling import Sampling, exponentials
from fst.machines.unigram.table import UnigramTable, run_nbest, run_sampling
from fst.runtime.files import streams
from fst.runtime.machines.unigram import tokenizer as runners
from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer
from fst.runtime.rows import batch as batches

ROWS = 4000
NORMAL = 4.0  # maximum deviation of a statistic, in standard deviations of a normal distribution
CASES = [*product(("always", "first", "words", "plain"), ("none", "all"), (False, True))]
some_cases = pytest.mark.parametrize("case", thinned([pytest.param(case, id="-".join(map(str, case))) for case in CASES], 16))
ALPHAS = some.sampled_from([0.0, 0.1, 1.0, 7.5, -0.5, 300.0, 1e9])
SIZES = some.sampled_from([-1, 2, 3, 10, 64])


def tokenizer_of(made: Machine) -> tuple[UnigramTable, UnigramTokenizer]:
    """Return the table and the tokenizer of a machine."""
    table, tokenizer, _ = made
    assert isinstance(table, UnigramTable)
    assert isinstance(tokenizer, UnigramTokenizer)
    return table, tokenizer


@cache
def small() -> tuple[UnigramTable, UnigramTokenizer]:
    """A table and a tokenizer without a pre-tokenizer, so each text is a single pre-token."""
    return tokenizer_of(machine(("plain", "none", False)))


@cache
def texts() -> list[str]:
    """Draw short and long texts that consist of random parts."""
    draw = random.Random(3)
    return ["", *("".join(draw.choices(BITS, k=draw.choice((1, 4, 12, 60)))) for _ in range(20)), "abab " * 300, "ab" * 700, ""]


# The distribution


def hold_frequencies(found: Sequence[Hashable], weights: Mapping[Any, float]) -> None:
    """Check by Pearson's χ² that the frequencies of results match their weights; rare results are counted together."""
    counts, total = Counter(found), sum(weights.values())
    expected = {case: weight / total * len(found) for case, weight in weights.items()}
    assert not counts.keys() - expected.keys()
    rare = [case for case, number in expected.items() if number < 5]
    cells = [(counts[case], number) for case, number in expected.items() if number >= 5]
    seldom = sum(expected[case] for case in rare)
    if seldom >= 5:
        cells.append((sum(counts[case] for case in rare), seldom))
    else:
        assert sum(counts[case] for case in rare) <= seldom + NORMAL * math.sqrt(seldom + 1)
    freedom = len(cells) - 1
    statistic = sum((count - number) ** 2 / number for count, number in cells)
    if freedom:  # the cube root of χ² is nearly normal (Wilson and Hilferty 1931)
        assert (statistic / freedom) ** (1 / 3) <= 1 - 2 / (9 * freedom) + NORMAL * math.sqrt(2 / (9 * freedom))


def weighed(word: str, alpha: float, vocabulary: Sequence[tuple[str, float]] = VOCABULARY, best: int | None = None) -> dict[Any, float]:
    """Return the weight of each sequence of ids for a word, over all segmentations or over the `best` ones."""
    scores, found = dict(vocabulary), defaultdict[Any, float](float)
    for score, parts in naive.segmentations(word, scores)[:best]:
        ids = naive.ids_of_tokens(naive.fused(parts, scores, "<unk>"), vocabulary, 0)
        found[tuple(ids)] += math.exp(alpha * score)
    return found


@pytest.mark.mostly_slow
@pytest.mark.parametrize("word", ["ab", "abab", "babab", "ab☃ab", "é日本ab", "abababab"])
def test_frequencies_are_those_of_the_definition(word: str) -> None:
    """The frequency of each segmentation of a word is its weight divided by the sum of the weights of all segmentations."""
    _, tokenizer = small()
    for seed, alpha in enumerate((0.0, 0.1, 0.5, 1.0, -0.2)):
        rows = tokenizer.encode_batch([word] * ROWS, randomness=Sampling(alpha, seed=seed))
        hold_frequencies([*map(tuple, ids_of(rows))], weighed(word, alpha))


@pytest.mark.parametrize("best", [2, 3, 5, 100])
def test_frequencies_among_the_best(best: int) -> None:
    """If only the n best segmentations of a word are sampled, the frequency of each is its weight divided by the sum of these n weights."""
    _, tokenizer = small()
    for seed, (word, alpha) in enumerate(product(("abab", "ababab"), (0.1, 1.0))):
        rows = tokenizer.encode_batch([word] * ROWS, randomness=Sampling(alpha, nbest_size=best, seed=seed))
        hold_frequencies([*map(tuple, ids_of(rows))], weighed(word, alpha, best=best))


def test_pieces_are_independent() -> None:
    """The segmentations of two pre-tokens are independent, and so are the segmentations with two different seeds."""
    _, tokenizer = tokenizer_of(machine(("always", "none", False)))
    alone = weighed("▁abab", 0.3)
    rows = ids_of(tokenizer.encode_batch(["abab abab"] * ROWS, randomness=Sampling(0.3, seed=1)))
    joint = defaultdict[Any, float](float)
    for first, second in product(alone, alone):
        joint[first + second] += alone[first] * alone[second]
    hold_frequencies([*map(tuple, rows)], joint)
    again = ids_of(tokenizer.encode_batch(["abab"] * ROWS, randomness=Sampling(0.3, seed=1)))
    other = ids_of(tokenizer.encode_batch(["abab"] * ROWS, randomness=Sampling(0.3, seed=2)))
    pairs = {(first, second): alone[first] * alone[second] for first, second in product(alone, alone)}
    hold_frequencies([(tuple(first), tuple(second)) for first, second in zip(again, other, strict=True)], pairs)


@pytest.mark.slow
def test_large_alphas_give_the_best_path() -> None:
    """With a large alpha, or with an `nbest_size` of 0 or 1, sampling gives the same ids as `encode`."""
    rows = ["ab☃bé 1", "aab b日本", "本 ab", ""]  # rows without ties
    for case in CASES[::3]:
        _, tokenizer = tokenizer_of(machine(case))
        assert ids_of(tokenizer.encode_batch(rows, randomness=Sampling(1e6))) == ids_of(tokenizer.encode_batch(rows))
        for size in (0, 1):
            assert ids_of(tokenizer.encode_batch(texts(), randomness=Sampling(nbest_size=size))) == ids_of(tokenizer.encode_batch(texts()))


@pytest.mark.parametrize("alpha", [1.0, -1.0, 0.0, 100.0])
def test_long_pieces_have_weights(alpha: float) -> None:
    """The kernel gives the same ids as the walk for a long word, although its weight exceeds the range of a float."""
    table, tokenizer = small()
    text = "abé☃" * 700
    assert tokenizer.encode(text, randomness=Sampling(alpha, seed=9)).tolist() == run_sampling(
        table, text, Sampling(alpha, nbest_size=-1, seed=9)
    )


def test_exponentials() -> None:
    """`exponentials` has an error of at most two units in the last place, and returns a separate exponent for huge arguments."""
    arguments = np.random.default_rng(5).uniform(-700, 700, 20_000)
    numbers, exponents = exponentials(arguments)
    assert np.allclose(np.log2(numbers) + 256 * exponents, arguments / math.log(2), rtol=0, atol=1e-12)
    small = np.abs(arguments) < 80
    assert (np.abs(numbers[small] / np.exp(arguments[small]) - 1) <= 2**-51).all()
    numbers, exponents = exponentials(np.array([-1e12, 1e12]))
    assert exponents.tolist() == [-5635527503, 5635527503]
    assert (np.abs(np.log2(numbers)) <= 129).all()


# The kernels


@examples(300)
@given(TOKENS, some.lists(some.text("abé<unk>", max_size=12), max_size=5), ALPHAS, SIZES, some.integers(0, (1 << 64) - 1), some.booleans())
def test_kernels_are_the_walks(tokens: dict[str, float], rows: list[str], alpha: float, size: int, seed: int, fallback: bool) -> None:
    """With any vocabulary, the kernels give the same ids as the walks."""
    vocabulary = [*{"<unk>": -1.0, **tokens}.items(), *(BYTES[: ord("b")] if fallback else [])]
    table, tokenizer = tokenizer_of(built(document(vocabulary, byte_fallback=fallback)))
    found = tokenizer.encode_batch(rows, randomness=Sampling(alpha, nbest_size=size, seed=seed))
    assert ids_of(found) == [run_sampling(table, text, Sampling(alpha, nbest_size=size, seed=seed), row) for row, text in enumerate(rows)]


@some_cases
@pytest.mark.parametrize("size", [-1, 9])
def test_kernels_are_the_walks_on_texts(case: tuple[str, str, bool], size: int) -> None:
    """If texts contain added tokens, are normalized and lose whitespace, the kernels give the same ids as the walks."""
    table, tokenizer = tokenizer_of(machine(case))
    rows = sample([text for text in texts() if len(text) < 300], 6)
    found = tokenizer.encode_batch(rows, randomness=Sampling(0.2, nbest_size=size, seed=11))
    assert ids_of(found) == [run_sampling(table, text, Sampling(0.2, nbest_size=size, seed=11), row) for row, text in enumerate(rows)]


@some_cases
@pytest.mark.parametrize("size", [-1, 9])
def test_every_way_through_the_package(case: tuple[str, str, bool], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed gives the same ids for str, bytes and Arrow columns, on any number of threads, with and without offsets, and for rows that
    are read in parts.
    """
    _, tokenizer = tokenizer_of(machine(case))
    rows, ask = texts(), tokenizer.encode_batch
    by = Sampling(0.2, nbest_size=size, seed=7)
    whole = ids_of(ask(rows, randomness=by))
    assert whole != ids_of(ask(rows)) != ids_of(ask(rows, randomness=replace(by, seed=8)))
    assert ids_of(ask([text.encode() for text in rows], offsets=True, randomness=by)) == whole
    assert tokenizer.encode(rows[1], randomness=by).tolist() == ids_of(ask(rows[1:2], randomness=by))[0]
    assert tokenizer.count_tokens(rows, randomness=by).tolist() == [*map(len, whole)]
    for first in (0, 5):
        later = replace(by, first_row=first)
        assert ids_of(ask(rows[first:], randomness=later)) == whole[first:]
        column = pa.chunked_array([rows[first:9], rows[9:]], pa.string())
        assert tokenizer.encode_arrow(column, randomness=later).to_pylist() == whole[first:]
    for length in (0, 1, 7, 1000):
        assert ids_of(ask(rows, max_length=length, randomness=by)) == [row[:length] for row in whole]
    monkeypatch.setattr(batches, "MIN_SHARE", 1)
    for threads in (1, 2, 3):
        assert ids_of(ask(rows * 9, threads=threads, randomness=by))[: len(rows)] == whole
    if size < 0:
        monkeypatch.setattr(batches, "BLOCK", 100)
        for threads in (1, 2):
            assert ids_of(ask(rows, threads=threads, randomness=by)) == whole


def test_special_ids() -> None:
    """The special tokens around a text are the same with and without sampling."""
    around = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    known = {"<s>": {"id": "<s>", "ids": [len(VOCABULARY)], "tokens": ["<s>"]}}
    pair = [*around, {"Sequence": {"id": "B", "type_id": 0}}]
    framed = {"type": "TemplateProcessing", "single": around, "pair": pair, "special_tokens": known}
    added = [{"id": len(VOCABULARY), "content": "<s>", "special": True}]
    table, tokenizer = tokenizer_of(built(document(VOCABULARY, added_tokens=added, post_processor=framed)))
    for size in (-1, 3):
        rows = ids_of(tokenizer.encode_batch(["abab", "", "ab<s>ab"], randomness=Sampling(nbest_size=size, seed=5)))
        texts = ["abab", "", "ab<s>ab"]
        assert rows == [[16, *run_sampling(table, text, Sampling(0.1, nbest_size=size, seed=5), row)] for row, text in enumerate(texts)]
    assert [row.ids.tolist() for row in tokenizer.nbest("ab<s>", 2)] == [[16, 5, 16], [16, 2, 3, 16]]
    assert [row.ids.tolist() for row in tokenizer.nbest("ab<s>", 2, add_special_tokens=False)] == [[5, 16], [2, 3, 16]]


@pytest.mark.parametrize("size", [-1, 8])
def test_spans(size: int) -> None:
    """The spans of the ids tile a text that is a single pre-token, and each span contains the token's text."""
    _, tokenizer = small()
    rows = ["ababab", "abé日本ba" * 30, "☃☃ab"]
    batch = tokenizer.encode_batch(rows, offsets=True, randomness=Sampling(0.1, nbest_size=size, seed=3))
    assert batch.offsets is not None
    for row, text in enumerate(rows):
        spans = batch.offsets[batch.row_splits[row] : batch.row_splits[row + 1]].tolist()
        assert [spans[0][0], spans[-1][1]] == [0, len(text)]
        assert all(first[1] == second[0] for first, second in pairwise(spans))
        names = [tokenizer.id_to_token(number) for number in batch[row].tolist()]
        assert all(name in (text[begin:end], "<unk>") for name, (begin, end) in zip(names, spans, strict=True))


# The n best


def best_of(table: UnigramTable, vocabulary: Sequence[tuple[str, float]], text: str, most: int) -> list[tuple[float, list[int]]]:
    """Enumerate all segmentations of a text, and return the best ones with their ids."""
    scores, found = dict(vocabulary), [(0.0, list[int]())]
    for piece, _ in table.parts(text):
        parts = [
            (score, naive.ids_of_tokens(naive.fused(own, scores, "<unk>"), vocabulary, 0))
            for score, own in naive.segmentations(piece.replace(" ", "▁"), scores)
        ]
        longer = [(total + score, [*before, *ids]) for score, ids in parts for total, before in found]
        found = sorted(longer, key=lambda each: -each[0])[:most]
    return found


@examples(300)
@given(TOKENS, some.text("abé<unk>", max_size=9), some.integers(1, 40))
def test_nbest_is_the_enumeration(tokens: dict[str, float], text: str, most: int) -> None:
    """The n best segmentations of a word, including ties, are the first n of an enumeration of all segmentations, and the first gives
    the ids of `encode`.
    """
    vocabulary = [*{"<unk>": -1.0, **tokens}.items()]
    table, tokenizer = tokenizer_of(built(document(vocabulary)))
    answer = [(score, ids.tolist()) for ids, score in tokenizer.nbest(text, most)]
    assert answer == best_of(table, vocabulary, text, most) == run_nbest(table, text, most)
    assert answer[0][1] == tokenizer.encode(text).tolist()
    scores = [score for score, _ in naive.segmentations(text, dict(vocabulary))][:most]
    assert [score for score, _ in answer] == scores


@examples(100)
@given(some.dictionaries(some.text("ab", min_size=1, max_size=3), SCORES, max_size=8), some.text("ab ", max_size=14), some.integers(1, 70))
def test_nbest_of_several_pieces(tokens: dict[str, float], text: str, most: int) -> None:
    """The n best segmentations of a text, including ties, are those with the highest sums of scores over all its pre-tokens."""
    vocabulary = [*{"<unk>": -1.0, "▁": -2.0, **tokens}.items()]
    table, tokenizer = tokenizer_of(built(document(vocabulary, pre_tokenizer=spaced())))
    assert [(score, ids.tolist()) for ids, score in tokenizer.nbest(text, most)] == best_of(table, vocabulary, text, most)


def test_deviations_are_few() -> None:
    """Each of the n best segmentations of a long text differs from the best segmentation in at most `MOST_DEVIATIONS` pre-tokens."""
    vocabulary = [("<unk>", 0.0), ("▁", -1.0), ("a", -1.0), ("▁a", -2.0)]
    _, tokenizer = tokenizer_of(built(document(vocabulary, pre_tokenizer=spaced())))
    found = tokenizer.nbest("a " * 400 + "a", 1024)
    assert {score for _, score in found} == {-802.0}
    assert len({tuple(ids.tolist()) for ids, _ in found}) == 1024
    assert max(len(ids) for ids, _ in found) - min(len(ids) for ids, _ in found) <= sampling.MOST_DEVIATIONS


def test_texts_too_long_for_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word with more paths than the limit is refused, and so is a row that is so long that it is read in parts."""
    _, tokenizer = small()
    for ask in (lambda: tokenizer.nbest("ab" * 2000, 1024), lambda: tokenizer.encode("ab" * 2000, randomness=Sampling(nbest_size=1024))):
        with pytest.raises(fst.TextError, match="cut it"):
            ask()
    assert len(tokenizer.encode("ab" * 2000, randomness=Sampling(nbest_size=16))) <= 4000
    monkeypatch.setattr(batches, "BLOCK", 100)
    with pytest.raises(fst.TextError, match="cut it"):
        tokenizer.encode("ab" * 200, randomness=Sampling(nbest_size=16))
    monkeypatch.setattr(runners, "ONE_ROW", runners.ONE_ROW._replace(longest=9))
    with pytest.raises(fst.TextError, match=r"^the text is too long for 2 segmentations; cut it, or request fewer$"):
        tokenizer.nbest("a" * 10, 2)


OWN = [
    defined.Piece("<unk>", 0, defined.UNKNOWN),
    *(defined.Piece(name, score) for name, score in (("a", -1.5), ("b", -2.5), ("é", -2.25), ("ab", -4.25), ("▁", -3.0), ("b▁a", -6.5))),
    *(defined.Piece(name, -1, defined.USER_DEFINED) for name in ("ba", "éa", "aéa")),
    defined.Piece("abab", -5, defined.UNUSED),
]


@cache
def of_whole_texts() -> tuple[UnigramTable, UnigramTokenizer, Any]:
    """Return a table with user-defined pieces whose sums of scores span entire texts, its tokenizer, and the same model in
    `sentencepiece`.
    """
    sums = pytest.importorskip("support.machines.unigram_text")
    table = sums.tables_of(sums.model_of(OWN), whitespace=True)
    tokenizer = fst.Tokenizer(table)
    assert isinstance(tokenizer, UnigramTokenizer)
    return table, tokenizer, sums.reference(OWN)


@pytest.mark.parametrize("work", [sampling_work, nbest_work])
def test_tables_with_sums_of_both_types_use_the_same_kernel(work: Callable[[UnigramWork, int], Any]) -> None:
    """The working arrays have the same types for sums over pre-tokens (in float64) as for sums over entire texts (in float32)."""
    assert len({kind_of(work(tables[0].work(), 8)) for tables in (small(), of_whole_texts())}) == 1


@pytest.mark.parametrize("text", ["abab", "ba é", "aéaéa☃", "ab ab☃☃b", ""])
def test_sums_of_whole_texts(text: str) -> None:
    """If sums of scores span entire texts, the n best segmentations and their scores equal those of `sentencepiece`, and walks and
    kernels agree.
    """
    table, tokenizer, processor = of_whole_texts()
    hold_sentencepiece(processor, tokenizer, [text], lambda text: text.replace(" ", "▁"))
    assert [(score, ids.tolist()) for ids, score in tokenizer.nbest(text, 7)] == run_nbest(table, text, 7)
    for size in (-1, 5):
        found = tokenizer.encode_batch([text] * 50, randomness=Sampling(0.5, nbest_size=size, seed=2))
        assert ids_of(found) == [run_sampling(table, text, Sampling(0.5, nbest_size=size, seed=2), row) for row in range(50)]


@pytest.mark.parametrize("size", [-1, 3])
def test_frequencies_of_sentencepiece(size: int) -> None:
    """If sums of scores span entire texts, each segmentation is as frequent as in samples of `sentencepiece`."""
    _, tokenizer, processor = of_whole_texts()
    text, alpha = "abaab", 0.4
    pytest.importorskip("sentencepiece").set_random_generator_seed(7)
    ours = Counter(map(tuple, ids_of(tokenizer.encode_batch([text] * ROWS, randomness=Sampling(alpha, nbest_size=size, seed=4)))))
    theirs = Counter(tuple(processor.encode(text, enable_sampling=True, alpha=alpha, nbest_size=size)) for _ in range(ROWS))
    assert {*ours} == {*theirs}
    assert all(abs(ours[ids] - theirs[ids]) <= 5 * math.sqrt(ours[ids] + theirs[ids]) for ids in ours)


def of_sentencepiece(path: Path) -> tuple[Any, UnigramTokenizer]:
    """Load a ``.model`` file in `sentencepiece`, and make a tokenizer with the same pieces."""
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))
    vocabulary = [(processor.id_to_piece(number), processor.get_score(number)) for number in range(processor.get_piece_size())]
    return processor, tokenizer_of(built(document(vocabulary, unk_id=processor.unk_id(), pre_tokenizer=spaced())))[1]


@needs_shared
def test_nbest_of_sentencepiece() -> None:
    """With the pieces of a ``.model`` file, the n best segmentations equal those of `sentencepiece`."""
    processor, tokenizer = of_sentencepiece(SHARED / "vocab_unigram" / "spm_fixtures" / "test_sentencepiece.model")
    hold_sentencepiece(processor, tokenizer, ["This is a test", "I saw a girl with a telescope", "zzq", "Q~ a", "a"])


def hold_sentencepiece(processor: Any, tokenizer: UnigramTokenizer, rows: Sequence[str], changed: Callable[[str], str] = str) -> None:
    """Compare the n best segmentations of texts with those of `sentencepiece`, for which `changed` is applied to each text.

    Scores agree up to the precision of float32. Segmentations with nearly equal scores may be in any order, or be missing at the end.
    """
    for text in rows:
        theirs = [
            (tuple(piece.id for piece in each.pieces), each.score)
            for each in processor.nbest_encode(changed(text), nbest_size=50, out_type="proto").nbests
        ]
        ours = [(tuple(ids.tolist()), score) for ids, score in tokenizer.nbest(text, 50, add_special_tokens=False)]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-3)
        last = ours[-1][1] + 2e-3 if len(ours) == 50 else -math.inf
        assert Counter(ids for ids, score in ours if score > last) == Counter(ids for ids, score in theirs if score > last)


@needs_shared
@pytest.mark.slow
def test_nbest_of_t5(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With T5's tokenizer.json, the n best segmentations equal those that `sentencepiece` finds with T5's model."""
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor(
        model_file=str(SHARED / "vocab_unigram" / "t5" / "spiece.model")
    )
    _, tokenizer, _ = real("t5", tmp_path_factory.getbasetemp())
    assert isinstance(tokenizer, UnigramTokenizer)
    lines = (SHARED / "corpora" / "wikitext2_test.txt").read_text().split("\n")
    rows = [" ".join(line.split())[:120].strip() for line in lines if line.isascii() and "<" not in line and len(line) > 20]
    hold_sentencepiece(processor, tokenizer, rows[:300])


# Arguments, other machines, files


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": math.nan}, r"^alpha is nan; expected a finite number$"),
        ({"alpha": -math.inf}, r"^alpha is -inf; expected a finite number$"),
        ({"alpha": 10**400}, "expected a finite number$"),
        ({"alpha": "0.1"}, r"^alpha is '0.1'; expected a finite number$"),
        ({"nbest_size": -2}, r"^nbest_size is -2; expected a whole number from 0 to 1024, or -1 for all$"),
        ({"nbest_size": 1025}, "^nbest_size is 1025; "),
        ({"nbest_size": 2.0}, "^nbest_size is 2.0; "),
        ({"nbest_size": True}, "^nbest_size is True; "),
        ({"seed": -1}, "^seed is -1; expected a whole number from 0"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], message: str) -> None:
    """A field of `fst.Sampling` outside its range is refused."""
    with pytest.raises(ValueError, match=message):
        Sampling(**wrong)


def test_an_alpha_too_large_for_the_scores() -> None:
    """`encode`, `encode_batch` and `count_tokens` refuse an alpha whose product with some score exceeds the limit."""
    _, tokenizer = small()
    calls: list[Callable[..., Any]] = [tokenizer.encode, tokenizer.encode_batch, tokenizer.count_tokens]
    for ask in calls:
        with pytest.raises(ValueError, match=r"^alpha is 1e\+200; expected a number whose product with each score is at most 1e\+12; "):
            ask("a" if ask == tokenizer.encode else ["a"], randomness=Sampling(1e200))


@pytest.mark.parametrize("most", [0, -1, 1025, 2.5, "2", True])
def test_wrong_numbers_of_segmentations(most: Any) -> None:
    """`nbest` refuses an n that is not an integer from 1 to 1024."""
    with pytest.raises(ValueError, match=r"^n is .*; expected a whole number from 1 to 1024$"):
        small()[1].nbest("a", most)


def test_wrong_texts() -> None:
    """`nbest` refuses an argument that is not text, or replaces lone surrogates on request."""
    _, tokenizer = small()
    with pytest.raises(fst.TextError, match="the text is int; expected str or bytes"):
        tokenizer.nbest(3, 2)  # type: ignore[arg-type]
    with pytest.raises(fst.TextError):
        tokenizer.nbest("a\ud800", 2)
    with pytest.raises(ValueError, match="errors"):
        tokenizer.nbest("a", 2, errors="ignore")
    assert tokenizer.nbest("a\ud800", 2, errors="replace")[0].ids.tolist() == [2, 0]
    assert tokenizer.nbest(b"ab", 2)[1].ids.tolist() == [2, 3]


def test_only_unigram_samples() -> None:
    """A Unigram tokenizer refuses dropout."""
    with pytest.raises(fst.UnsupportedError, match=r"^randomness is Dropout.*; expected fst.Sampling or None for unigram tables$"):
        small()[1].encode("a", randomness=fst.Dropout(0.1))


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fst encode` gives the lines of a file the same ids as in a single call, in any format, and without a seed it gives new ids in
    each run.
    """
    table, tokenizer = tokenizer_of(machine(("always", "none", False)))
    table.save(tmp_path / "table.npz")
    rows = ["abab ab", "", "bababa é", "ab" * 40] * 9
    (tmp_path / "rows.txt").write_text("".join(f"{text}\n" for text in rows), "utf-8", newline="\n")
    expected = ids_of(tokenizer.encode_batch(rows, randomness=Sampling(0.3, seed=7)))

    def printed(*seed: str) -> list[str]:
        return call("encode", tmp_path / "table.npz", tmp_path / "rows.txt", "--sample", "0.3", *seed).stdout.split("\n")[:-1]

    assert printed("--seed", "7") == [" ".join(map(str, row)) for row in expected]
    monkeypatch.setattr(streams, "CHUNK", 200)
    assert printed("--seed", "7") == [" ".join(map(str, row)) for row in expected]
    assert printed() != printed()
    for wrong in (("--sample", "nan"), ("--sample", "0.1", "--dropout", "0.1"), ("--seed", "7")):
        call("encode", tmp_path / "table.npz", tmp_path / "rows.txt", *wrong, code=2)


def test_alpha_that_a_vocabulary_cannot_have(tmp_path: Path) -> None:
    """If alpha is too large for the scores of a vocabulary, `fst encode` reports a usage error before it reads a document."""
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -2e6]]}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model}), "utf-8")
    (tmp_path / "rows.txt").write_text("a\n", "utf-8")
    call("compile", tmp_path / "tokenizer.json", "-o", tmp_path / "table.npz")
    reason = call("encode", tmp_path / "table.npz", tmp_path / "rows.txt", "--sample", "1e6", code=2).stderr
    assert "alpha is 1000000.0; expected a number whose product with each score is at most" in reason
