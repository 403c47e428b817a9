"""The kernel decides boundaries from windows (the last few symbols before a position), and these decisions match the splitter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from numpy.typing import NDArray
from support.naive import windows as naive
from support.pretokens.patterns import ANY, CL100K, MANY_CLASSES, O200K, QWEN
from support.tiers import examples, sample, thinned

from fst.compile.pretokens import boundaries as windowing
from fst.compile.pretokens.automata import Automaton
from fst.compile.pretokens.boundaries import Windows, windows
from fst.compile.pretokens.splits import GPT2
from fst.compile.pretokens.splitter import splitter
from fst.pretokens.boundaries import (
    AROUND,
    BEGIN_MASKS,
    BEGINS,
    GROUPS,
    INSIDE,
    MAX_WINDOW,
    SYMBOLS,
    SYMBOLS_IN_PRODUCT,
    UNDECIDED,
    UNSURE_MASKS,
)
from fst.text.splitter import START, Splitter

PATTERNS = {
    "gpt2": GPT2,
    "cl100k": CL100K,
    "o200k": O200K,
    "qwen": QWEN,
    "every character": r"[\s\S]",
    "runs": "a+|b" + ANY,
    "far end": "a+b" + ANY,
    "backtracking": "aab|ab" + ANY,
    "alternating": "(?:ab)+|ba" + ANY,
    "counted": "a{1,3}|b{2}" + ANY,
    "end of text": "a+(?!b)|b+" + ANY,
    "never dead": "[ab]+c" + ANY,
    "many classes": MANY_CLASSES,
}
SMALL = ("gpt2", "runs", "far end", "backtracking", "end of text", "never dead")  # patterns that take few steps
GAPS = ("a", "a+|b", "a+b|b", "a(?=b)|b|[^ab]", "a+(?!b)|b+|[^ab]")

each_pattern = pytest.mark.parametrize(
    "name", thinned([pytest.param(name, marks=pytest.mark.slow if name == "many classes" else []) for name in PATTERNS], 6)
)


@cache
def compiled(pattern: str) -> tuple[Splitter, Windows]:
    """Compile a splitter whose classes have one character each, and its windows."""
    split = splitter(pattern)
    identity = np.minimum(np.arange(0x110000), 255).astype(np.uint8)
    return Splitter(identity, split.moves), windows(split)


def decisions(found: Windows, text: Sequence[int]) -> Iterator[int]:
    """Return the decision about each character of a text of classes, computed as in the kernel."""
    end, begin = found.symbols[-AROUND:].tolist()
    width = (len(found.decisions).bit_length() - 1) // found.bits
    symbols = [*[begin] * width, *(int(found.symbols[number]) for number in text), end]
    for last in range(width + 1, len(symbols)):
        window = 0
        for symbol in symbols[last - width + 1 : last + 1]:
            window = window << found.bits | symbol
        yield int(found.decisions[window])


def contradictions(pattern: str, text: Sequence[int]) -> list[int]:
    """Return the characters of a text for which the decision of a window differs from that of the splitter."""
    split, found = compiled(pattern)
    begins = {begin for begin, _ in split.pretokens("".join(map(chr, text)))} - {0}
    decided = enumerate(decisions(found, text))
    return [place for place, decision in decided if decision != UNDECIDED and decision != (place in begins)]


def classes_of(pattern: str) -> int:
    """Return the number of character classes of a pattern."""
    return int(compiled(pattern)[0].moves.shape[1]) - 1


@pytest.mark.slow
def test_two_of_many_classes_always_decide() -> None:
    """If a class and the class before it decide a boundary, no window is undecided, even with 54 classes."""
    count, joins = 54, np.random.default_rng(3).random((54, 54)) < 0.3
    moves = np.zeros((START + 1 + count, count + 1), np.uint16)
    own = np.arange(START + 1, START + 1 + count)
    moves[START, :-1] = own << 1
    moves[START + 1 :, :-1] = np.where(joins, own << 1, 1)
    moves[START + 1 :, -1] = 1
    assert not np.any(windows(Splitter(np.zeros(0x110000, np.uint8), moves)).decisions == UNDECIDED)


@each_pattern
def test_windows_decide_as_the_splitter(name: str) -> None:
    """In any text of three characters (more if there are few classes), no window contradicts the splitter."""
    count = classes_of(PATTERNS[name])
    length = max(length for length in range(3, 9) if length == 3 or count**length <= 3_000)
    share = max(count**length // 250, 1)
    for text in sample([*product(range(count), repeat=length)], share):
        assert not contradictions(PATTERNS[name], text), text


@each_pattern
def test_windows_decide_as_the_splitter_in_long_texts(name: str) -> None:
    """In random texts with runs of one class, no window contradicts the splitter."""
    count, draw = classes_of(PATTERNS[name]), random.Random(name)
    for _ in sample(range(10_000), 200):
        few = draw.choices(range(count), k=draw.randint(1, 4))
        text = [number for number in draw.choices(few, k=draw.randint(1, 9)) for _ in range(draw.choice((1, 1, 1, 2, 5)))]
        assert not contradictions(PATTERNS[name], text), text


def assert_decided_as_by_definition(split: Splitter) -> None:
    """Compare the decisions of the windows of a splitter with those of the plain simulation, for each number of bits of a symbol."""
    prior = windowing._prior(split.classes[:128].tobytes(), split.moves.shape[1] - 1)
    for symbols in windowing._candidates(windowing._merges(split.moves, prior)):
        left = np.array([windowing.MAX_STEPS])
        decided = windowing._decisions(split.moves, symbols, left)
        steps = iter(range(windowing.MAX_STEPS))
        assert np.array_equal(decided, naive.decisions(split.moves, symbols, steps))
        assert next(steps, None) == windowing.MAX_STEPS - left[0]


@pytest.mark.parametrize("name", [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in PATTERNS])
def test_kernel_is_the_simulation(name: str) -> None:
    """The kernel makes the same decisions for windows as the plain simulation, in as many steps."""
    assert_decided_as_by_definition(splitter(PATTERNS[name]))


@pytest.mark.slow
def test_windows_of_a_few_steps_decide_as_the_splitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the compiler reaches its limit of steps, more windows are undecided, but the decided windows do not contradict the splitter."""
    split, whole = compiled(CL100K)
    monkeypatch.setattr(windowing, "MAX_STEPS", 60_000)
    found = windows(splitter(CL100K))
    is_decided = found.decisions != UNDECIDED
    assert 0 < np.count_nonzero(is_decided) < np.count_nonzero(whole.decisions != UNDECIDED)
    draw = random.Random(7)
    for _ in range(300):
        text = draw.choices(range(classes_of(CL100K)), k=9)
        begins = {begin for begin, _ in split.pretokens("".join(map(chr, text)))} - {0}
        assert all(decision in (UNDECIDED, place in begins) for place, decision in enumerate(decisions(found, text)))


@some.composite
def patterns(draw: some.DrawFn) -> str:
    """Draw patterns over three letters that match any text."""
    atom = some.sampled_from(["a", "b", "c", "[ab]", "[^a]", "[bc]", "(?:ab)", "(?:ba|c)"])
    pretoken = some.builds(str.__add__, atom, some.sampled_from(["", "", "+", "*", "?", "{1,2}", "{2}"]))
    word = some.builds("".join, some.lists(pretoken, min_size=1, max_size=3))
    ahead = some.sampled_from(["", "", "(?=a)", "(?!b)", "(?![ab])"])
    parts = draw(some.lists(some.builds("{}{}{}".format, atom, word, ahead), min_size=1, max_size=3))
    return "|".join(parts) + ANY


@pytest.mark.slow
@examples(300)
@given(pattern=patterns(), texts=some.lists(some.text("abcd", max_size=12), min_size=5, max_size=5))
def test_windows_of_any_pattern(pattern: str, texts: list[str]) -> None:
    """With any pattern, the kernel gives the results of the simulation, and no window contradicts the splitter."""
    split = splitter(pattern)
    assert_decided_as_by_definition(split)
    for text in texts:
        assert not contradictions(pattern, [int(split.classes[ord(char)]) for char in text])


@each_pattern
def test_symbols(name: str) -> None:
    """Every class has a symbol, END and BEGIN have separate symbols, and a window contains at least three symbols."""
    _, found = compiled(PATTERNS[name])
    *symbols, end, begin = found.symbols.tolist()
    assert len(symbols) == classes_of(PATTERNS[name])
    assert {*symbols, end, begin} == {*range(begin + 1)}
    assert end not in symbols
    assert begin not in (end, *symbols)
    assert begin < 1 << found.bits
    assert 3 * found.bits <= len(found.decisions).bit_length() - 1 <= MAX_WINDOW


@pytest.mark.slow
def test_symbols_are_merged_where_there_are_many() -> None:
    """If there are more classes than symbols, several classes have the same symbol; otherwise, each class has a different symbol."""
    _, found = compiled(PATTERNS["o200k"])
    assert len({*found.symbols.tolist()}) <= 1 << found.bits < classes_of(PATTERNS["o200k"]) + AROUND
    assert compiled(PATTERNS["runs"])[1].symbols.tolist() == [0, 1, 2, 3, 4][: classes_of(PATTERNS["runs"]) + AROUND]


def windows_of(found: Windows) -> NDArray[np.intp]:
    """Return all windows that a text may contain, except those of its first character: an array with a row of symbols for each window."""
    end, begin = found.symbols[-AROUND:].tolist()
    width = (len(found.decisions).bit_length() - 1) // found.bits
    rows = [
        np.array([*product(*[[begin]] * before, *[range(end)] * (width - before - 1), range(end + 1))]) for before in range(width - AROUND)
    ]
    return np.concatenate(rows)


def are_in_products(found: Windows, windows: NDArray[np.intp], masks: int) -> NDArray[np.bool_]:
    """Return for each window whether one of the products in the list that begins at an index contains it."""
    count, width = windows.shape
    held, inside = found.products, np.zeros(count, np.bool_)
    for group, sets in enumerate(held[:BEGIN_MASKS].reshape(GROUPS, SYMBOLS_IN_PRODUCT, SYMBOLS)):
        bits = np.full(count, held[masks + group])
        for place in range(1, min(width, SYMBOLS_IN_PRODUCT) + 1):
            bits &= sets[-place][windows[:, -place]]
        inside |= bits > 0
    return inside


@each_pattern
def test_products_decide_as_windows(name: str) -> None:
    """Products make the same decision as windows or no decision, and make none for each undecided window."""
    found = compiled(PATTERNS[name])[1]
    windows, decided = windows_of(found), found.decisions
    decided = decided[(windows << found.bits * np.arange(windows.shape[1])[::-1]).sum(axis=1)]
    unsure = are_in_products(found, windows, UNSURE_MASKS)
    assert unsure[decided == UNDECIDED].all()
    assert np.array_equal(are_in_products(found, windows, BEGIN_MASKS)[~unsure], decided[~unsure] == BEGINS)


@each_pattern
def test_no_window_finds_a_pretoken_where_a_text_begins(name: str) -> None:
    """A window whose second or third symbol from the end is BEGIN never finds a boundary, because the boundary at the start of a text
    needs no window.
    """
    _, found = compiled(PATTERNS[name])
    table = found.decisions.reshape(-1, *(1 << found.bits,) * 3)
    begin = found.symbols[-1]
    assert (table[:, begin] == INSIDE).all()
    assert (table[:, :, begin] == INSIDE).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen"])
def test_english_is_decided(name: str) -> None:
    """In English text, products decide at least nine out of ten positions."""
    split, (_, found) = splitter(PATTERNS[name]), compiled(PATTERNS[name])
    text = "It's the one that we'd seen before; they said so, didn't they? No idea (in 1984, or so).\n" * 3
    symbols = found.symbols[[int(split.classes[ord(char)]) for char in text]].astype(np.intp)
    windows = np.lib.stride_tricks.sliding_window_view(symbols, SYMBOLS_IN_PRODUCT)
    assert are_in_products(found, windows, UNSURE_MASKS).mean() < 0.1


def leaves_gaps(pattern: str) -> bool:
    """Whether the compiler finds that a search of the pattern may end without a match."""
    automaton = Automaton.of(splitter(pattern).moves)
    return not automaton.surely_ends()[automaton.targets[START, :-1]].all()


def gaps_in_short_texts(pattern: str) -> bool:
    """Whether a search of the pattern fails at some position of some text of up to five characters."""
    split, _ = compiled(pattern)
    texts = (text for length in range(1, 6) for text in product(range(classes_of(pattern)), repeat=length))
    return any(not matched for text in texts for _, matched in split.segments("".join(map(chr, text))))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", [*(PATTERNS[name] for name in ("runs", "far end", "backtracking", "end of text")), *GAPS])
def test_gaps_are_predicted(pattern: str) -> None:
    """The compiler predicts that searches may fail if and only if some text has a gap between matches."""
    assert leaves_gaps(pattern) == gaps_in_short_texts(pattern) == (pattern in GAPS)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen"])
def test_well_known_patterns_leave_no_gaps(name: str) -> None:
    """The patterns of well-known tokenizers match every text without gaps."""
    assert not leaves_gaps(PATTERNS[name])


@pytest.mark.slow
@examples(300)
@given(pattern=patterns(), cut=some.booleans())
def test_gaps_of_any_pattern_are_predicted(pattern: str, cut: bool) -> None:
    """With any pattern, the compiler predicts correctly whether a text can have a gap between matches."""
    pattern = pattern.removesuffix(ANY) if cut else pattern
    assert leaves_gaps(pattern) == gaps_in_short_texts(pattern)
