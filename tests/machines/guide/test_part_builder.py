"""The builder of parts, and regular expressions as parts."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive.parts import Parts, assert_sound

from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.regex import from_regex, part_of_regex
from fst.compile.machines.guide.schema.string_parts import LONG, PLAIN, QUOTE, add_others, add_plain_others
from fst.compile.machines.guide.texts import OnePart
from fst.compile.patterns.code_points import of_runs, of_text
from fst.compile.patterns.tree import Characters, Repeat
from fst.errors import UnsupportedError
from fst.machines.guide.parts import ENTER, FINAL, FREE, OPEN

TEXTS = [b"".join(each) for length in range(6) for each in product((b"a", b"b"), repeat=length)]
COUNTS = ["?", "*", "+", "{2}", "{0,3}", "{2,}", "{5}", "{0,5}", "{3,6}", "{5,}"]
ATOMS = st.sampled_from(["a", "b", "[ab]", "é", "()", "[^\\s\\S]"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.builds("({}){}".format, inner, st.sampled_from(COUNTS))
    return st.one_of(st.builds("({}|{})".format, inner, inner), st.builds("{}{}".format, inner, inner), repeats)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.recursive(ATOMS, _grown, max_leaves=5), st.lists(st.text("abé", min_size=5, max_size=12), max_size=4))
def test_a_regular_expression_and_its_part_have_the_same_texts(pattern: str, texts: list[str]) -> None:
    """The part of a pattern reads exactly the texts that Python's `re` matches as a whole, and no state is without an end."""
    try:
        part = part_of_regex(pattern)
    except UnsupportedError:
        return  # a star over the empty text, or a pattern without a text
    assert_sound(part, may_be_empty=True)
    walks = Parts(lambda _: part)
    for text in (*TEXTS, *(text.encode() for text in texts)):
        assert walks.reads(text)[1] == (re.fullmatch(pattern, text.decode()) is not None)


CASES = [("(ab){4}", False), ("(ab){5}", True), ("a{2,9}", True), ("a{,3}", False), ("a{9,}", True)]


@pytest.mark.parametrize(("pattern", "is_counted"), CASES)
def test_more_than_four_repetitions_are_counted(pattern: str, is_counted: bool) -> None:
    """A part has a tally, and no copies, if a pattern repeats something more than four times."""
    assert any(move[1] == ENTER for move in part_of_regex(pattern).moves) == is_counted


def test_counts_do_not_change_the_size() -> None:
    """A part has as many states for a count of 900 as for a count of 9, in any depth."""
    assert part_of_regex("((a|b){9}c){9}").states == part_of_regex("((a|b){900}c){900}").states


@pytest.mark.parametrize("pattern", ["[^\\s\\S]", "a[^\\s\\S]{9}", "(?=a)a", "a{3,2}", "("])
def test_a_part_is_refused_as_its_automaton_is(pattern: str) -> None:
    """A pattern that has no automaton has no part either, with the same message."""
    with pytest.raises(UnsupportedError) as expected:
        from_regex(pattern)
    with pytest.raises(UnsupportedError, match=re.escape(str(expected.value))):
        part_of_regex(pattern)


def test_a_trie_reads_its_strings() -> None:
    """The part of strings reads exactly these strings, where one may begin another or be empty."""
    strings = [b"", b"a", b"ab", b"abb", b"bb", b"ba", b"ab"]
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    builder.strings(start, strings, end)
    part = builder.part(start, [end])
    assert part is not None
    assert_sound(part, may_be_empty=True)
    assert [text for text in TEXTS if Parts(lambda _: part).reads(text)[1]] == sorted({*strings}, key=lambda text: (len(text), text))
    assert part.states == 5  # the start, the end, a, ab, b


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sets(st.text("ab ~", max_size=4), min_size=1), st.lists(st.text('ab ~!é\n"', max_size=5), max_size=20))
def test_other_names_leave_a_trie_of_names(names: set[str], texts: list[str]) -> None:
    """The tries that Python and that the kernel writes read every string, except the names."""
    for add in (add_others, add_plain_others):
        builder = PartBuilder()
        root, end, free, long, leaf = (builder.state() for _ in range(5))
        builder.read(free, QUOTE, QUOTE, end)
        builder.character(long, LONG, free)
        builder.character(free, PLAIN, free)
        builder.character(leaf, PLAIN, free)
        part = builder.part(root, [end], [free], add(builder, names, root, end, free, (long, leaf)))
        assert part is not None
        assert_sound(part)
        walks = Parts(OnePart(part).part)
        for text in (*names, *texts, *(name + more for name in names for more in ("", "a", "~é"))):
            is_read = walks.reads(text.encode() + b'"')[1]
            assert is_read == (text not in names and "\n" not in text and '"' not in text)


def test_characters_are_added_by_the_caller() -> None:
    """The texts of a tree may be written otherwise than in UTF-8."""
    builder = PartBuilder()
    start = builder.state()
    tree = Repeat(Characters(of_text("é")), 2, 2)
    part = builder.part(start, [builder.node(tree, start, lambda before, _, after: builder.read(before, 1, 1, after))])
    assert part is not None
    assert Parts(lambda _: part).reads(b"\1\1") == (True, True)


def test_keys_are_used_once() -> None:
    """Keys in any order, each once, with required keys among them: `ENTER`, `MISS`, `COUNT`, `USE` and `EXIT`."""
    builder = PartBuilder()
    start, begun, loop, end = (builder.state() for _ in range(4))
    builder.enter(start, 1, 3, begun)
    builder.miss(begun, 1, loop)
    for key, name in enumerate((b"a", b"b", b"c")):
        counted, used = builder.state(), builder.state()
        builder.use(loop, key, name == b"b", counted)
        builder.count(counted, used)
        builder.text(used, name, loop)
    builder.exit(loop, end)
    part = builder.part(start, [end])
    assert part is not None
    walks = Parts(lambda _: part)
    read = [text.decode() for text in map(bytes, product(b"abc", repeat=2)) if walks.reads(text)[1]]
    assert read == ["ab", "ba", "bc", "cb"]
    assert walks.reads(b"b")[1]
    assert not walks.reads(b"a")[1]


def test_a_part_is_trimmed_and_has_a_start_of_its_own() -> None:
    """States that are not reached, or lead to no end, are left out; a start to which an arc leads gets a new state before it."""
    builder = PartBuilder()
    dead, start, end, unreached = (builder.state() for _ in range(4))
    builder.read(start, 97, 97, start)
    builder.text(start, b"bc", end)
    builder.read(start, 98, 98, dead)
    builder.character(unreached, of_runs([(0, 0x10FFFF)]), end)
    part = builder.part(start, [end], free=(start, dead), opened=(dead, end))
    assert part is not None
    assert (part.arcs.tolist(), part.moves.tolist()) == ([[1, 97, 97, 1], [1, 98, 98, 3], [3, 99, 99, 2]], [[0, 0, 0, 0, 1]])
    assert part.flags.tolist() == [0, FREE, FINAL | OPEN, 0]
    assert builder.part(dead, [end]) is None
