"""Operations on random machines, compared with the definitions of the operations over pairs of strings."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.algebra import Labels, Pairs, agree, composed, pairs
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.forms.determinize import determinize
from fst.compile.algebra.kernels import room
from fst.compile.algebra.machine import Fst, read_att
from fst.compile.algebra.symbols import with_shared_symbols
from fst.errors import UnsupportedError, VocabularyError

LONGEST = 3
HINDI = [(29_700, 63_926), (26_510, 59_543), (29_853, 78_889)]  # states and arcs: determinized, minimized, composed with the inversion
LABELS = ("", "a", "b", "<n>")
WEIGHTS = st.sampled_from([0.0, 0.0, 0.5, 1.25, 2.0])


def machines(*, acceptor: bool = False, weights: st.SearchStrategy[float] = WEIGHTS) -> st.SearchStrategy[Fst]:
    """Small machines with cycles, ε-arcs, dead states and, unless `weights` excludes them, weights."""
    states, labels = st.integers(0, 3), st.sampled_from(LABELS)

    def built(arcs: list[tuple[int, int, str, str, float]], final: dict[int, float]) -> Fst:
        return Fst.from_arcs([(s, t, read, read if acceptor else write, weight) for s, t, read, write, weight in arcs], final)

    arcs = st.lists(st.tuples(states, states, labels, labels, weights), max_size=8)
    return st.builds(built, arcs, st.dictionaries(states, weights, max_size=2))


def texts_of(machine: Fst, found: Pairs) -> dict[tuple[str, str], float]:
    """Pairs as texts, so that they do not depend on the numbers of labels."""
    return {(machine.text_of(read), machine.text_of(written)): weight for (read, written), weight in found.items()}


def same(first: dict[tuple[str, str], float], second: dict[tuple[str, str], float]) -> bool:
    """Whether two results have equal pairs and weights."""
    return first.keys() == second.keys() and all(abs(first[pair] - second[pair]) < 1e-4 for pair in first)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("operation", [Fst.connect, Fst.remove_epsilon, Fst.determinize, Fst.push, Fst.minimize, Fst.optimize])
@examples(600)
@given(machine=machines())
def test_paths_are_kept(operation: Callable[[Fst], Fst], machine: Fst) -> None:
    """An operation that changes the form of a machine keeps its pairs and their weights."""
    try:
        result = operation(machine)
    except UnsupportedError:
        assert operation in (Fst.determinize, Fst.minimize, Fst.optimize)  # weights for which determinization has no result
        return
    assert agree(pairs(result, LONGEST), pairs(machine, LONGEST))


@examples(400)
@given(machine=machines())
def test_determinized_machine_is_deterministic(machine: Fst) -> None:
    """No state of a determinized machine has two arcs with the same labels, and minimizing twice changes nothing."""
    try:
        result = machine.determinize()
    except UnsupportedError:
        return
    keys = [*zip(result.sources.tolist(), result.ilabel.tolist(), result.olabel.tolist(), strict=True)]
    assert len(keys) == len(set(keys))
    minimal = result.minimize()
    assert (minimal.states, minimal.arcs) == (minimal.minimize().states, minimal.minimize().arcs)


@examples(400)
@given(machine=machines())
def test_determinized_inputs(machine: Fst) -> None:
    """Determinization by input keeps pairs and weights, and no state of the result has two arcs that read the same label."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fst.compile.algebra.forms.subsequential.MAX_SIZE", 300)
        patch.setattr("fst.compile.algebra.forms.subsequential.MAX_CLOSED", 1_000)
        try:
            result = machine.determinize_input()
        except UnsupportedError:
            return
    assert agree(pairs(result, LONGEST), pairs(machine, LONGEST))
    keys = [(state, label) for state, label in zip(result.sources.tolist(), result.ilabel.tolist(), strict=True) if label]
    assert len(keys) == len(set(keys))


@examples(400)
@given(machine=machines(acceptor=True, weights=st.just(0.0)))
def test_minimal_acceptor_has_no_equivalent_states(machine: Fst) -> None:
    """Each two states of a minimal acceptor accept different strings."""
    minimal = machine.minimize()
    accepted = set()
    for state in range(minimal.states):
        accepted.add(frozenset(residual(minimal, state)))
    assert len(accepted) == minimal.states


def residual(machine: Fst, state: int) -> set[Labels]:
    """The strings of at most 4 labels that an acceptor accepts from a state."""
    found, current = set[Labels](), set[tuple[int, Labels]]([(state, ())])
    for _ in range(5):
        found |= {read for here, read in current if np.isfinite(machine.final[here])}
        current = {(target, (*read, label)) for here, read in current for label, _, target, _ in machine.arcs_of(here)}
    return found


@examples(600)
@given(first=machines(), second=machines())
def test_composition_is_its_definition(first: Fst, second: Fst) -> None:
    """A composition has the pairs and weights of its definition, in any order of the arcs that read or write nothing."""
    left, right = with_shared_symbols([first, second])
    expected = composed(left, right, LONGEST)
    assert agree(pairs(first @ second, LONGEST), expected)


@examples(400)
@given(first=machines(), second=machines())
def test_rational_operations_are_their_definitions(first: Fst, second: Fst) -> None:
    """Union, concatenation, closure, inversion, projection and reversal have the pairs of their definitions."""
    ones, others = texts_of(first, pairs(first, LONGEST)), texts_of(second, pairs(second, LONGEST))

    def joined(left: dict[tuple[str, str], float], right: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
        found = dict[tuple[str, str], float]()
        for ((read, written), weight), ((more, rest), cost) in product(left.items(), right.items()):
            key = read + more, written + rest
            if max(size(read) + size(more), size(written) + size(rest)) <= LONGEST:
                found[key] = min(weight + cost, found.get(key, 99))
        return found

    def size(text: str) -> int:
        return len(text.replace("<n>", "n"))

    either = {pair: min(ones.get(pair, 99), others.get(pair, 99)) for pair in ones | others}
    assert same(texts_of(first | second, pairs(first | second, LONGEST)), either)
    assert same(texts_of(first + second, pairs(first + second, LONGEST)), joined(ones, others))
    repeated, power = {("", ""): 0.0}, {("", ""): 0.0}
    for _ in range(2 * LONGEST):
        power = joined(power, ones)
        repeated = {pair: min(repeated.get(pair, 99), power.get(pair, 99)) for pair in repeated | power}
    assert same(texts_of(first.closure(), pairs(first.closure(), LONGEST)), repeated)
    assert same(texts_of(first, pairs(first.invert().invert(), LONGEST)), ones)
    assert agree(pairs(first.reverse().reverse(), LONGEST), pairs(first, LONGEST))


@examples(400)
@given(first=machines(acceptor=True), second=machines(acceptor=True))
def test_boolean_operations_are_their_definitions(first: Fst, second: Fst) -> None:
    """Intersection, difference and complement accept the strings of their definitions."""
    ones, others = texts_of(first, pairs(first, LONGEST)), texts_of(second, pairs(second, LONGEST))
    both, without = first & second, first - second
    assert same(texts_of(both, pairs(both, LONGEST)), {pair: ones[pair] + others[pair] for pair in ones.keys() & others.keys()})
    assert same(texts_of(without, pairs(without, LONGEST)), {pair: ones[pair] for pair in ones.keys() - others.keys()})
    outside = first.complement(LABELS)
    strings = {"".join(labels) for size in range(LONGEST + 1) for labels in product(LABELS[1:], repeat=size)}
    assert {read for read, _ in texts_of(outside, pairs(outside, LONGEST))} == strings - {read for read, _ in ones}


@examples(400)
@given(first=machines(acceptor=True), second=machines(acceptor=True))
def test_equivalence_is_its_definition(first: Fst, second: Fst) -> None:
    """Two small acceptors are equivalent if and only if they accept the same short strings with the same weights."""
    try:
        found = first.is_equivalent(second)
        assert first.is_equivalent(first.reverse().reverse())
    except UnsupportedError:
        return
    ones, others = texts_of(first, pairs(first, 6)), texts_of(second, pairs(second, 6))
    assert found == same(ones, others)


@examples(400)
@given(first=machines(), second=machines())
def test_equivalence_of_transducers(first: Fst, second: Fst) -> None:
    """If `is_equivalent` decides it, two small transducers are equivalent if and only if they have the same short pairs and weights."""
    try:
        assert first.is_equivalent(first.optimize())
        found = first.is_equivalent(second)
    except UnsupportedError:
        return
    assert found == same(texts_of(first, pairs(first, 6)), texts_of(second, pairs(second, 6)))


@pytest.mark.slow
def test_pairs_that_are_written_early_or_late() -> None:
    """Machines are equivalent even if outputs are on other arcs, also with weights and with several outputs for an input."""
    early = Fst.from_arcs([(0, 1, "a", "x", 0.5), (1, 2, "b", "")], final=[2])
    assert early.is_equivalent(Fst.from_strings([("ab", "x", 0.5)]))
    assert not early.is_equivalent(Fst.from_strings([("ab", "x", 0.75)]))
    twice = early | Fst.from_strings([("ab", "y")])
    late = Fst.from_arcs([(0, 1, "a", "", 0.5), (1, 2, "b", "x")], final=[2]) | Fst.from_strings([("ab", "y")])
    assert twice.is_equivalent(late)
    assert not twice.is_equivalent(early)
    assert not twice.is_equivalent(twice.closure())
    assert twice.closure().is_equivalent(twice.optimize().closure())
    with pytest.raises(UnsupportedError, match="their equivalence is undecidable"):
        twice.closure().is_equivalent(late.closure())


def test_outputs_without_a_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Determinization by input is refused if an output would be delayed without end, or an input has infinitely many outputs."""
    monkeypatch.setattr("fst.compile.algebra.forms.subsequential.MAX_SIZE", 1 << 12)
    arcs = [(0, 1, "a", "x"), (0, 2, "a", "y"), (1, 1, "a", "x"), (2, 2, "a", "y"), (1, 3, "b", ""), (2, 3, "c", "")]
    with pytest.raises(UnsupportedError, match="more than 4,096 states and delayed labels"):
        Fst.from_arcs(arcs, [3]).determinize_input()
    monkeypatch.setattr("fst.compile.algebra.forms.subsequential.MAX_CLOSED", 1 << 12)
    with pytest.raises(UnsupportedError, match="write more than 4,096 labels"):
        Fst.from_arcs([(0, 0, "", "x"), (0, 1, "a", "")], [1]).determinize_input()


@examples(400)
@given(machine=machines(weights=st.sampled_from([0.5, 1.25, 2.0])))
def test_log_distances_are_sums(machine: Fst) -> None:
    """Distances of the log semiring are the solution of linear equations, which exists if the powers of the matrix of arcs vanish."""
    matrix = np.zeros((machine.states, machine.states))
    np.add.at(matrix, (machine.sources, machine.target), np.exp(-machine.weights.astype(float)))
    if machine.states and max(abs(np.linalg.eigvals(matrix))) > 0.95:
        return
    inverse = np.linalg.inv(np.eye(machine.states) - matrix)
    ends = inverse @ np.exp(-machine.final.astype(float))
    assert np.allclose(np.exp(-machine.shortest_distance(reverse=True, semiring="log")), ends)
    assert np.allclose(np.exp(-machine.shortest_distance(semiring="log")), inverse[machine.start] if machine.states else [])


def test_sums_without_a_limit_are_refused() -> None:
    """A cycle of weight 0 is refused in the log semiring, where it has no sum; an unknown semiring is refused, too."""
    with pytest.raises(UnsupportedError, match="paths through a cycle have no sum"):
        Fst.from_arcs([(0, 0, "a", "a")], [0]).shortest_distance(semiring="log")
    with pytest.raises(VocabularyError, match="'real'"):
        Fst.from_arcs([(0, 0, "a", "a")], [0]).shortest_distance(semiring="real")  # type: ignore[arg-type]


@examples(600)
@given(machine=machines(weights=st.just(0.0)))
def test_ambiguity_is_its_definition(machine: Fst) -> None:
    """A machine is functional if and only if no input has two outputs; an ambiguity is a shortest such input, with two of its outputs."""
    found = machine.find_ambiguity()
    outputs = dict[Labels, set[Labels]]()
    for read, written in pairs(machine, 4):
        outputs.setdefault(read, set()).add(written)
    ambiguous = [read for read in outputs if len(outputs[read]) > 1]
    assert machine.is_functional() == (found is None)
    if found is None:
        assert not ambiguous
        return
    text, one, other = found
    assert one != other
    for output in (one, other):
        path = Fst.from_strings([text], machine.symbols) @ machine @ Fst.from_strings([output], machine.symbols)
        assert path.states
    assert not ambiguous or len(machine.labels_of(text)) <= min(map(len, ambiguous))


@examples(400)
@given(machine=machines())
def test_paths_are_the_lightest_pairs(machine: Fst) -> None:
    """Paths come in the order of their weights, and are the lightest pairs of the machine."""
    found = list(machine.paths(10))
    assert found == sorted(found, key=lambda path: path[2])
    every = sorted(weight for weight in pairs(machine, 4).values())
    assert all(weight <= other + 1e-4 for (_, _, weight), other in zip(found, every, strict=False))
    assert sorted(machine.shortest_path(10).paths(10)) == sorted(found)


@examples(200)
@given(machine=machines())
def test_distances_are_the_lightest_paths(machine: Fst) -> None:
    """The distance of the start to the end is the weight of the lightest pair."""
    best = min((weight for _, _, weight in machine.paths(1)), default=np.inf)
    assert np.isclose(machine.shortest_distance(reverse=True)[machine.start], best)
    assert np.isclose(min(machine.shortest_distance() + machine.final), best)


@pytest.mark.parametrize("operation", [Fst.push, Fst.remove_epsilon, Fst.shortest_distance, lambda machine: list(machine.paths())])
def test_negative_cycles_are_refused(operation: Callable[[Fst], object]) -> None:
    """A cycle with a negative weight is refused where a smallest weight is needed."""
    for cycle in ([(0, 1, "", "", -1), (1, 0, "", "", 0.5)], [(0, 0, "", "", -1), (0, 1, "b", "b")]):
        with pytest.raises(UnsupportedError, match="negative weight"):
            operation(Fst.from_arcs([*cycle, (1, 2, "a", "a")], [2]))


def test_negative_weights_are_added() -> None:
    """Negative weights are allowed where no cycle is negative."""
    machine = Fst.from_arcs([(0, 1, "a", "b", -2), (0, 2, "a", "c"), (2, 1, "", "", -3), (1, 1, "a", "a", 2)], {1: 1})
    assert list(machine.minimize().paths(2)) == [("a", "c", -2), ("a", "b", -1)]


def test_weights_without_a_deterministic_form_are_refused() -> None:
    """If a string leads to two states with cycles of different weights, determinization is refused."""
    cycles = [(1, 1, "b", "b", 1), (2, 2, "b", "b", 2)]
    machine = Fst.from_arcs([(0, 1, "a", "a"), (0, 2, "a", "a"), *cycles, (1, 3, "c", "c"), (2, 3, "d", "d")], [3])
    with pytest.raises(UnsupportedError, match="cycles of different weights"):
        machine.determinize()


def test_explosions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A determinization or a composition with too many states is refused."""
    monkeypatch.setattr(room, "MAX_STATES", 1 << 12)
    monkeypatch.setattr("fst.compile.algebra.forms.determinize.MAX_STATES", 1 << 12)
    machine = Fst.from_regex("[ab]*a[ab]{20}")
    with pytest.raises(UnsupportedError, match="expected at most 4,096 states"):
        machine.determinize()
    with pytest.raises(UnsupportedError, match="expected at most 4,096 states"):
        Fst.from_regex("[ab]*a[ab]{99}") & Fst.from_regex("[ab]*b[ab]{99}")


@pytest.mark.parametrize("most", [1025, 2048, 2049, 3001])
def test_every_limit_of_states_is_exact(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A limit above the first room for states need not be a power of two: a machine of 2,049 states has a result, or is refused."""
    machine = Fst.from_regex("[ab]*a[ab]{10}")
    monkeypatch.setattr(room, "MAX_STATES", most)
    tasks: list[Callable[[], Arcs]] = [lambda: determinize(machine, most), lambda: machine.determinize() & machine.determinize()]
    for task in tasks:
        if most < 2049:
            with pytest.raises(UnsupportedError, match=f"expected at most {most:,} states"):
                task()
        else:
            assert task().states == 2049


def test_paths_of_equal_weight_are_found_at_once() -> None:
    """Of very many paths of equal weight and length, the first in the order of arcs are found without a search of all paths."""
    found = [read for read, _, _ in Fst.from_regex("[a-z]{40}").paths(3)]
    assert found == ["a" * 40, "a" * 39 + "b", "a" * 39 + "c"]


@pytest.mark.slow
def test_long_strings_take_linear_time() -> None:
    """A machine of one string of 50,000 characters is minimized, and its path is found."""
    text = "ab" * 25_000
    assert [read for read, _, _ in Fst.from_strings([text]).minimize().paths()] == [text]


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("a(b|c)*", ["a", "abcb"], ["", "b"]),
        ("(?:ab){2,3}", ["abab", "ababab"], ["ab", "abababab"]),
        ("a?[b-d]+", ["b", "acd"], ["a", "ae"]),
        (r"\d{2}", ["42"], ["4", "4a"]),
        ("", [""], ["a"]),
        ("a|", ["", "a"], ["aa"]),
        ("(?i)ab", ["aB", "Ab"], ["a"]),
        (r"a\.", ["a."], ["ab"]),
    ],
)
def test_regular_expressions_accept_their_strings(pattern: str, accepted: list[str], refused: list[str]) -> None:
    """An acceptor from a regular expression accepts what the expression matches as a whole."""
    machine = Fst.from_regex(pattern)
    assert [text for text in accepted + refused if list((Fst.from_strings([text]) & machine).paths())] == accepted


@pytest.mark.parametrize("pattern", ["a(?=b)", "^a", "(?>a*)b", "(?:a{400}){400}", "(a", "[a"])
def test_other_constructs_are_refused(pattern: str) -> None:
    """A pattern that is malformed or too large, or looks around, is refused."""
    with pytest.raises(UnsupportedError, match="the pattern has"):
        Fst.from_regex(pattern)


def test_sets_are_limited_to_an_alphabet() -> None:
    """With an alphabet, a set in a pattern contains only characters of the alphabet."""
    assert [read for read, _, _ in Fst.from_regex("[^a]", alphabet="abc").paths()] == ["b", "c"]


def test_sets_are_open() -> None:
    """Without an alphabet, a set of most characters contains all characters and symbols that it does not exclude."""
    texts = Fst.from_strings(["a", "b", "\n", "é", "<n>", "ac"], symbols=["<n>"])
    others = {"b", "\n", "é", "<n>"}
    for pattern, accepted in {"[^a]": others, ".": {"a", "b", "é", "<n>"}, r"\w|[^a]": {"a", *others}}.items():
        machine = Fst.from_regex(pattern)
        assert machine.arcs < 200_000
        assert {read for read, _, _ in (texts & machine).paths()} == accepted


def test_symbols_in_patterns() -> None:
    """A symbol of several characters is read as one character of a pattern, the longest first, unless it is escaped."""
    symbols = ["<n>", "<n><pl>", "+Pl"]

    def accepted(pattern: str, texts: list[str]) -> list[str]:
        machine = Fst.from_regex(pattern, symbols=symbols)
        return [text for text in texts if (Fst.from_strings([text], symbols=symbols) & machine).states]

    assert accepted("a(<n>|<n><pl>)*", ["a", "a<n>", "a<n><pl>", "a<n><n>", "a<"]) == ["a", "a<n>", "a<n><pl>", "a<n><n>"]
    assert accepted("a+Pl", ["a+Pl", "aaPl"]) == ["a+Pl"]
    assert accepted(r"\+Pl.", ["+Pla", "+P", "+Pl<n>"]) == []
    assert accepted("[^<n>]", ["<n>", "+Pl", "a", "<n><pl>"]) == ["+Pl", "a", "<n><pl>"]
    assert [read for read, _, _ in Fst.from_regex("[^a]", alphabet=["a", "b", "<n>"]).paths()] == ["b", "<n>"]


@examples(200)
@given(text=st.text("ab", max_size=3), other=st.text("abc", max_size=4), distance=st.integers(0, 3))
def test_edits_are_within_the_distance(text: str, other: str, distance: int) -> None:
    """The machine of edits writes a string if and only if its Levenshtein distance is small enough, and the distance is its weight."""

    def levenshtein(first: str, second: str) -> int:
        if not first or not second:
            return len(first) + len(second)
        replaced = levenshtein(first[1:], second[1:]) + (first[0] != second[0])
        return min(replaced, levenshtein(first[1:], second) + 1, levenshtein(first, second[1:]) + 1)

    found = [weight for _, _, weight in (Fst.edits(text, distance, "abc") @ Fst.from_strings([other])).paths()]
    expected = levenshtein(text, other)
    assert found == ([expected] if expected <= distance else [])


@needs_shared
def test_real_machines_have_the_sizes_of_openfst() -> None:
    """Determinized, minimized and composed, a morphology has as many states and arcs as in OpenFst."""
    path: Path = SHARED / "oracles" / "morphology" / "hin.att.gz"
    machine = read_att(path)
    acceptor = machine.project("input").remove_epsilon().determinize()
    minimal = acceptor.minimize()
    composed = machine @ machine.invert()
    sizes = [(result.states, result.arcs) for result in (acceptor, minimal, composed)]
    assert sizes == HINDI
    assert minimal.is_equivalent(acceptor)


def test_endless_determinization_by_input_is_refused() -> None:
    """A weighted acceptor in which a string leads to two states with cycles of different weights is refused, as by determinization."""
    arcs = [(0, 1, "a", "a", 0), (0, 2, "a", "a", 0), (1, 1, "b", "b", 1), (2, 2, "b", "b", 2), (1, 3, "c", "c", 0), (2, 3, "d", "d", 0)]
    machine = Fst.from_arcs(arcs, final=[3])
    for operation in (machine.determinize, machine.determinize_input):
        with pytest.raises(UnsupportedError, match="cycles of different weights, so determinization does not end; remove these cycles"):
            operation()


def test_determinization_by_input_keeps_weights() -> None:
    """Determinization by input keeps the strings and weights of a small weighted acceptor, or refuses it."""
    refused = 0
    for seed in range(60):
        draw = random.Random(seed)
        labels = draw.choices("ab", k=8)
        machine = Fst.from_arcs([(draw.randrange(5), draw.randrange(5), read, read, draw.randrange(4)) for read in labels], final=[4])
        try:
            assert not machine.states or machine.determinize_input().is_equivalent(machine)
        except UnsupportedError:
            refused += 1
    assert refused < 6


def ambiguous(states: int) -> Fst:
    """A functional machine in which any two states can be reached by the same input."""
    draw, labels = random.Random(1), "aabb"
    return Fst.from_arcs([(state, draw.randrange(states), read, read) for state in range(states) for read in labels], [states - 1])


def clique(states: int) -> Fst:
    """A machine with an ε-arc between any two states, and an arc at each state that reads a label."""
    silent = [(one, other, "", "") for one in range(states) for other in range(states)]
    return Fst.from_arcs([*silent, *((at, at, "a", "x") for at in range(states))], [0])


def detours(states: int) -> Fst:
    """A machine whose lightest paths pass the states in the opposite order of a depth-first search."""
    ahead = [(at, at + 1, "a", "a", 1.0) for at in range(states - 1)]
    back = [(at + 1, at, "b", "b", 0.0) for at in range(1, states - 1)]
    return Fst.from_arcs([*ahead, *back, (0, states - 1, "b", "b", 0.0)], [states - 1])


@pytest.mark.parametrize(
    ("operation", "limits", "message"),
    [
        (
            "shortest_distance",
            {"shortest.MAX_IMPROVED": 999},
            "the search for shortest distances takes more than 9 rounds over 78 arcs; .*; apply it",
        ),
        ("paths", {"shortest.MAX_STEPS": 64}, "the search for paths takes more than 64 steps; ask for fewer paths"),
        ("is_functional", {"decisions.MAX_COMPARED": 64}, "the comparison of paths .* more than 64 steps; .*; determinize"),
        ("is_functional", {"kernels.room.MAX_ARCS": 64}, "the comparison of paths has .* expected at most 64 arcs; apply it"),
        ("determinize", {"forms.determinize.MAX_STATES": 64}, "the determinization has .* expected at most 64 states; apply it"),
        ("remove_epsilon", {"forms.epsilon.MAX_ARCS": 64}, "the removal of ε-arcs has .* expected at most 64 arcs; apply it"),
        ("remove_epsilon", {"forms.epsilon.STEPS": 8, "forms.epsilon.MAX_CALLS": 2}, "removal of ε-arcs .* than 16 of them; .* join"),
        ("determinize_input", {"forms.subsequential.STEPS": -(1 << 20)}, "determinization by input follows too many arcs .*; use a"),
        ("determinize_input", {"forms.subsequential.MAX_SIZE": 64}, "input has more than 64 states and delayed labels .*; use a"),
    ],
)
def test_large_results_are_refused(operation: str, limits: dict[str, int], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose result is too large is refused; the message contains the operation, the cause and a remedy."""
    many = Fst.from_regex("(a|b)*a" + "(a|b)" * 11)  # 2^12 sets of states
    machines = {"remove_epsilon": clique(12), "determinize": many, "shortest_distance": detours(40)}
    machine = machines.get(operation, ambiguous(40))
    for name, limit in limits.items():
        monkeypatch.setattr(f"fst.compile.algebra.{name}", limit)
    with pytest.raises(UnsupportedError, match=message):
        list(getattr(machine, operation)())
