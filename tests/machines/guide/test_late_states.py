"""The states of late guides: sets of items, compared with all walks through the parts, and masks, compared with steps."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, reject, settings
from support.machines.drawn_grammars import GRAMMARS
from support.naive.parts import Parts

import fst
from fst.compile import wordpiece
from fst.compile.machines.guide.grammar.lark import read_lark
from fst.compile.machines.guide.grammar.parts import GrammarParts
from fst.compile.machines.guide.grammar.tree import Grammar
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.regex import part_of_regex
from fst.compile.machines.guide.schema.text import any_escape
from fst.compile.machines.guide.texts import OnePart
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.guide.arguments import Tokens
from fst.machines.guide.parts import UNLIMITED, Part, Texts
from fst.machines.guide.vocabulary import Vocabulary, trie_of
from fst.runtime.machines.guide import late_states, walker
from fst.runtime.machines.guide.late_states import LateStates
from fst.tables.strings import stored_bytes

PIECES = '" "} ", ": a aa bc a" bca", \\ \\" \\u \\u00 e9 \\u00e9 \\ud83d \\ude00 \\n n é a€ 😀'.encode().split()
CUT = [b"\xc3", b"\xa9", b"\xe2\x82", b"\xac", b"\xf0\x9f", b"\x9f\x98", b'\x80"', b"\xff", b"\n", b"a\n"]
JSON_TOKENS = [*PIECES, *CUT, b" ", b"  ", b"aaaaaaaaaaaaaaaaaaaaaaaa", b"{", b"}", b":", b", ", b"aa"]

SIZES, ENDS, DRAW = (*range(1, 12), 23, 24, 25, 30), ("", "-", "-ad", "é,", "0"), random.Random(5)
DRAWN = ["".join(DRAW.choices("abcdefghijkl", k=size)) + end for size in SIZES for end in ENDS]
DRAWN += [" " + each for each in DRAWN[::2]]
MORE = ["e", "l", "é", "éé", "é-ab", "-", "a-b-c", ",", "0", "!", " if", "if", "dead,", " é", " 0a", "0 a", "  a"]
WORDS = [*dict.fromkeys(map(str.encode, DRAWN + MORE))]


def vocabulary(contents: Sequence[bytes]) -> Vocabulary:
    """A vocabulary of tokens with given bytes."""
    data, ends = stored_bytes([*contents])
    none, trie = np.empty(0, np.uint8), trie_of(data, ends)
    tokens = Tokens(data, ends, none, np.empty(0, np.int64), np.array([-1]), np.array([False]))
    return Vocabulary(tokens, trie, trie, np.empty(0, np.int64), {})


BYTES = vocabulary([b"a", b"b", b"c", b"ab", b"ba", b"aab", b"ca"])


def assert_equal_to_walks(texts: Texts, letters: bytes, longest: int) -> None:
    """All strings up to a length are the beginnings, and the ends, of texts by the sets and by the walks."""
    states, walks = LateStates(texts, BYTES), Parts(cache(texts.part))
    waiting = [(b"", walks.after(b""), states.start)]
    for text, before, state in waiting:  # the loop appends to `waiting`
        assert states.is_final(state) == walks.is_end(before), text
        for letter in letters if len(text) < longest else b"":
            after, following = walks.step(before, letter), states.step(state, b"abc".index(letter))
            assert bool(after) == bool(following), text
            if after:
                waiting.append((text + bytes([letter]), after, following))


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(GRAMMARS)
def test_sets_are_the_walks_of_many_grammars(grammar: Grammar) -> None:
    """A set of items reads what all walks through the parts read, whatever rules call each other."""
    try:
        parts = GrammarParts(grammar, lambda _: OnePart(part_of_regex("a")))
    except VocabularyError:
        reject()  # a cycle of empty rules
    assert_equal_to_walks(parts, b"ab", 5)


GRAMMAR = {
    "nested": 'start: "a" start "b" | ',
    "palindromes": 'start: "a" start "a" | "b" start "b" | "c"',
    "ambiguous": 'start: start start | "a" | "b" start "c"',
    "tail calls": 'start: "a" x\nx: "b" x | "c" start | "a"',
    "two returns": 'start: x "a" | y "b"\nx: "a" x "c" | "b"\ny: "a" y "c" | "b"',
    "hidden left recursion": 'start: n start "b" | "a"\nn: "c" | ',
    "counts of calls": 'start: (x "c"){3,5}\nx: "a" x "b" | "b"',
}


@pytest.mark.parametrize("grammar", GRAMMAR.values(), ids=GRAMMAR)
def test_sets_are_the_walks(grammar: str) -> None:
    """A set of items reads what all walks read; frames of calls at the end of a part, of recursion and of counts included."""
    assert_equal_to_walks(GrammarParts(read_lark(grammar), lambda _: OnePart(part_of_regex("a"))), b"abc", 6)


@pytest.mark.parametrize("regex", ["(a|ab){3,9}", "(a{2,7}b){0,5}c", "((a|b){2,}c){1,6}", "(a?b){5,6}|a{6}", "(ab*){7,12}"])
def test_counts_are_the_walks(regex: str) -> None:
    """A tally counts each way to read a text by itself."""
    assert_equal_to_walks(OnePart(part_of_regex(regex)), b"abc", 7)


def test_keys_are_the_walks() -> None:
    """Each key is used once, in any order; the end waits for missing keys, and the count leaves room for them."""
    for least, most in ((0, UNLIMITED), (2, 3), (0, 2)):
        builder = PartBuilder()
        start, begun, loop, after, end = (builder.state() for _ in range(5))
        builder.enter(start, least, most, begun)
        builder.miss(begun, 2, loop)
        for key, letter in enumerate(b"abc"):
            counted, before = builder.state(), builder.state()
            builder.use(loop, key, key < 2, counted)
            builder.count(counted, before)
            builder.read(before, letter, letter, after)
        builder.skip(after, loop)
        builder.exit(after, end)
        part = builder.part(start, [end])
        assert part is not None
        assert_equal_to_walks(OnePart(part), b"abc", 4)


def string_part(counts: tuple[int, int] | None, *, key: bytes = b"") -> Part:
    """A string of JSON, with any characters or, if `key` is given, with this text or text that begins with other characters than ``a``;
    then a comma.
    """
    builder = PartBuilder()
    start, free, before, closed, end = (builder.state() for _ in range(5))
    first = start
    if counts:
        first = builder.state()
        builder.enter(start, *counts, first)
    first = builder.text(first, b'"')
    if key:
        builder.text(first, key + b'"', closed)
        other = np.array([0x20, 0x22, 0x23, 0x5C, 0x5D, 0x61, 0x62, 0x110000])
        builder.character(first, other, free)
        builder.text(first, b'"', closed)
    else:
        builder.skip(first, free)
    if counts:
        builder.count(free, before)
    else:
        builder.skip(free, before)
    builder.character(before, np.array([0x20, 0x22, 0x23, 0x5C, 0x5D, 0x110000]), free)
    inner, arcs = any_escape()
    states = [before, free, *(builder.state() for _ in range(inner))]
    for source, low, high, target in arcs.tolist():
        builder.read(states[source], low, high, states[target])
    quoted = free
    if counts:
        quoted = builder.state()
        builder.exit(free, quoted)
    builder.text(quoted, b'"', closed)
    builder.text(closed, b",", end)
    part = builder.part(start, [end], free=[free])
    assert part is not None
    return part


STRINGS = {
    "any": string_part(None),
    "short": string_part((0, 3)),
    "long": string_part((2, 21)),
    "at least": string_part((3, UNLIMITED)),
    "key": string_part(None, key=b"aa"),
    "pattern": part_of_regex('"([^"\\\\]|\\\\.)*"[,}]'),
    "controls": part_of_regex('"[^"]*",'),
    "one character": part_of_regex('"[a-z]*",'),
    "loop": part_of_regex("([a-l]|é)[a-lé]*[,}]"),
    "class": part_of_regex("[a-l]+(-[a-l]+|é)*,"),
    "chain": part_of_regex("([a-l]{8}-){2}[a-l]{5}"),
    "counted": part_of_regex("[a-l]{5,70},"),
    "four": part_of_regex("[a-l]{4}[0-9]"),
    "unlike": part_of_regex("[a-l]{6}[a-k]{3}!?"),
    "keywords": part_of_regex("( *([a-l]+|if|dead|0)[,-] *)*"),
    "joined": part_of_regex("([a-l]+(asc|de)?[,-])*"),
    "spaced": part_of_regex("([a-l][a-l0]* |0 +)*,"),
    "spaced chain": part_of_regex("([a-l]{5,40} ){2}[a-l]{9}-"),
    "spaced counts": part_of_regex("(-[a-l]{3} [a-l]{7,}é)*"),
    "space inside": part_of_regex("[a-l ][a-l é]*[,}]|0"),
    "all but one": part_of_regex('[^,"]+,'),
}


@pytest.mark.parametrize("name", STRINGS)
def test_masks_are_the_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask contains exactly the tokens that lead to a set, at every place of a string, with few rows of steps, too."""
    for rows in (walker.MAX_ROWS, 2):
        monkeypatch.setattr(walker, "FIRST_ROWS", 2)
        monkeypatch.setattr(walker, "MAX_ROWS", rows)
        known = vocabulary(JSON_TOKENS + WORDS)
        states = LateStates(OnePart(STRINGS[name]), known)
        found, waiting = {states.start}, [states.start]
        for state in waiting:  # the loop appends to `waiting`
            after = [states.step(state, number) for number in range(known.size)]
            bits = np.unpackbits(states.mask(state).view(np.uint8), bitorder="little")
            assert np.flatnonzero(bits).tolist() == [number for number, each in enumerate(after) if each], state
            new = [each for each in dict.fromkeys(after) if each and each not in found]
            found |= {*new}
            waiting += new[: 60 - len(waiting)]


def test_masks_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many masks at once, which threads make from copies of the sets, are the masks of the states one by one."""
    monkeypatch.setenv("FST_NUM_THREADS", "3")
    monkeypatch.setattr(late_states, "PATIENCE", 0)
    monkeypatch.setattr(late_states, "MIN_SECONDS", 0)
    known = vocabulary(JSON_TOKENS)
    grammar = read_lark('start: /"[^"]*"/ start /,|}/ | "a"{2,40} | "b"')
    states = LateStates(GrammarParts(grammar, lambda _: OnePart(part_of_regex("a"))), known)
    found = [states.start]
    for state in found:  # the loop appends to `found`
        new = [states.step(state, number) for number in range(known.size)]
        found += [each for each in dict.fromkeys(new) if each and each not in found][: 40 - len(found)]
    one_by_one = [states.mask(state) for state in found]
    for _ in range(3):
        assert all((row == other).all() for row, other in zip(states.masks(found), one_by_one, strict=True))


def test_too_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that can be read in too many ways at once is refused, instead of taking all memory."""
    monkeypatch.setattr(walker, "MAX_ITEMS", 1 << 9)
    many = vocabulary([b"a" * 100])
    states = LateStates(OnePart(part_of_regex("((a|aa|aaa){1,900}b?){1,900}")), many)
    with pytest.raises(UnsupportedError, match="can be read in more than 512 ways at once"):
        states.step(states.start, 0)


def test_late_guides_are_guides() -> None:
    """Late guides can be pickled but not saved; a state that is not found yet is refused, and only the end follows the end."""
    tokens = ["[UNK]", "[SEP]", "[", '##"', "##a", "##]"]
    found = fst.Guide(fst.Tokenizer(wordpiece(tokens)), schema={"const": ["a"]}, end_id=1)
    ids = [tokens.index(each) for each in ("[", '##"', "##a", '##"', "##]")]
    assert found.forced(found.start) == [*ids, 1]
    last = found.advance(found.start, ids)
    assert (found.is_final(last), found.forced(last)) == (True, [1])
    after = found.step(last, 1)
    assert (found.forced(after), found.step(after, 1)) == ([], after)
    again = pickle.loads(pickle.dumps(found))
    assert again.allowed(again.start).tolist() == found.allowed(found.start).tolist()
    assert copy.copy(found) is found
    with pytest.raises(ValueError, match="a state is 999"):
        found.mask(999)
    with pytest.raises(UnsupportedError, match="makes masks late"):
        found.save("guide.npz")
