"""Automata over bytes from machines of the algebra."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.machines.byte_automata import accepted, accepts

from fst import Fst
from fst.compile.machines.guide.compiler import from_fst
from fst.compile.machines.guide.regex import from_regex
from fst.errors import UnsupportedError

TEXTS = st.text("aé€𐀀", max_size=4)
ENTRIES = st.lists(TEXTS, min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(ENTRIES, st.lists(TEXTS), st.sampled_from(["character", "utf-8"]))
def test_an_automaton_accepts_the_strings_of_a_machine(entries: list[str], texts: list[str], unit: str) -> None:
    """The automaton of a machine accepts its strings and no other text, whether its labels are characters or bytes."""
    automaton = from_fst(Fst.from_strings(entries, unit=unit))  # type: ignore[arg-type]
    assert accepted(automaton, [*entries, *texts]) == [*entries, *(text for text in texts if text in entries)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", ["[a-zé]*x|.{2}", "[^b]", "(a|€)+"])
def test_a_machine_of_a_pattern_has_the_automaton_of_the_pattern(pattern: str) -> None:
    """A pattern without U+0000 gives the same automaton through the algebra."""
    direct, through = from_regex(pattern.replace(".", "[^\n\0]").replace("[^b]", "[^b\0]")), from_fst(Fst.from_regex(pattern))
    assert direct.targets.tolist() == through.targets.tolist()
    assert direct.is_final.tolist() == through.is_final.tolist()


def test_loops_weights_and_symbols_are_read() -> None:
    """ε-arcs and cycles are followed, weights are ignored, and a symbol is read as its text."""
    machine = Fst.from_strings([("a<n>", "a<n>", 0.5), "é"], symbols=["<n>"]).closure()
    assert accepted(from_fst(machine), ["", "a<n>éa<n>", "éé", "a", "<n>"]) == ["", "a<n>éa<n>", "éé"]
    assert not accepts(from_fst(machine), "é".encode()[:1])


@pytest.mark.parametrize(("machine", "message"), [(Fst.from_strings([("a", "b")]), "outputs"), (Fst.from_strings([]), "accepts no text")])
def test_a_machine_that_is_no_acceptor_of_texts_is_refused(machine: Fst, message: str) -> None:
    """Transducers and empty machines are refused by name."""
    with pytest.raises(UnsupportedError, match=message):
        from_fst(machine)
