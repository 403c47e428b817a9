"""Canonical token masks: exactly the tokens that the tokenizer itself gives."""

from __future__ import annotations

import json
import pickle
import random
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of
from support.core.guides import spaced
from support.kept import assemble
from support.machines import documents
from support.naive import canonical
from support.shared_data import SHARED, needs_shared
from support.tiers import LONG, thinned

import fst
from fst.compile import guide as compile_guide
from fst.compile import tokenizer, wordpiece
from fst.compile.machines.bpe.last_tokens import composed_texts, cuts_of
from fst.compile.machines.guide import canonical_table
from fst.compile.machines.guide.regex import from_regex
from fst.compile.pretokens.splits import GPT2
from fst.compile.pretokens.splitter import splitter
from fst.compile.sources.read import read
from fst.errors import UnsupportedError
from fst.machines.guide import canonical_states
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.vocabulary import marked as marked_tokens
from fst.machines.guide.vocabulary import vocabulary_of

SMALL = ("bpe automaton", "bpe ranks", "bpe longest match")
REFUSED = {
    "word level": "decoding does not join",
    "wordpiece auto": "marks",
    "bpe ignored merges": "not what merges make",
    "bpe normalized": "a normalizer",
    "bpe queue": "merges without an automaton",
    "bpe missing bytes": "bytes without tokens",
    "bpe characters": "symbols that are characters",
    "unigram": "decoding changes only",
    "unigram model": "segmented one by one",
    "unigram bytes": "decoding changes only",
}
LETTERS = (r"(a|b| |é|世){0,4}", r"(un|a|able|\[|x| |1){1,3}", r"(a|b|ab|11|\n|  |'s|<s>){0,3}", r"(日|本|a| |b){1,4}", r"ab( ab| a)?")
REAL = {
    "gpt2": ("vocab_bpe/gpt2/tokenizer.json", "BPE"),
    "bert": ("vocab/bert-base-uncased", "WordPiece"),
    "t5": ("vocab_unigram/t5/tokenizer.json", "Unigram"),
    "cl100k": ("vocab_bpe/cl100k_base", "BPE"),
    "qwen3": ("vocab_bpe/qwen3/tokenizer.json.gz", "BPE"),
}
# Patterns, each with the vocabulary of its default test; the slow tier tests a sample of the other pairs.
PATTERNS = {
    r"hello( world| wor| worlds)?": "gpt2",
    r"(it's|its|it'll|' ll|'l|l){1,2}": "gpt2",
    r"(<\|endoftext\|>|<extra_id_0>|\[SEP\]|a|<|\[| |_){1,2}": "t5",
    r"(don't|do not|n't| ' |'|,|\.| do| not){1,2}": "bert",
    r"(\n|\t| |a|1|!){1,3}": "gpt2",
    r"a{1,60}": "t5",
    r"(ab){45,52}c?": "bert",
    r"(é|\u0301|e|東京|\u0323| ){1,3}": "bert",
    r"[a-c]{1,5}": "",
    r"(th|e|in|g|er| ){1,4}": "",
    r"( |\r|\n|x|\.){1,5}": "",
    r"[\"!{}: ]{1,4}": "",
    r"(-|=|\*|_){1,6}": "",
}
VALUES = {"gpt2": r'(\{"name": "[A-Za-z .]{1,20}", "age": [0-9]{1,3}\})?', "bert": r"[a-z ,.!?]{1,30}", "t5": r"[\w\s'()]{0,12}"}


def cases(patterns: dict[str, str]) -> list[Any]:
    """Every pattern with its own vocabulary, and a sample of patterns with other real vocabularies, marked slow."""
    pairs = [(name, regex, name == default) for name, (regex, default) in product(REAL, patterns.items())]
    others = [pytest.param(name, regex, marks=pytest.mark.slow) for name, regex, is_default in pairs if not is_default]
    return [*(pytest.param(name, regex) for name, regex, is_default in pairs if is_default), *thinned(others, 4)]


TOKENS = ["[UNK]", "[SEP]", "a", "##a", "b", "##b", "ab", "##ab", "bb", "##bb", "aab", ".", "(", "##c"]


@cache
def real(name: str) -> fst.Tokenizer:
    """The tokenizer of a real vocabulary."""
    path, kind = REAL[name]
    return fst.Tokenizer(assemble(read(SHARED / path, {}, kind), "auto"))


def check(tok: fst.Tokenizer, regex: str, *, stored: bool = False) -> int:
    """Compare all masks of a pattern, made at their first use or stored in a table, with their definition; return the number of paths."""
    paths = canonical.encodings(tok, canonical.texts_of(from_regex(regex)))
    if not paths:
        with pytest.raises(UnsupportedError, match="no text of the pattern"):
            fst.Guide(tok, regex=regex, canonical=True)
        return 0
    expected = canonical.masks(paths)
    guide = fst.Guide(compile_guide(tok, regex=regex, canonical=True)) if stored else fst.Guide(tok, regex=regex, canonical=True)
    after: dict[canonical.Path, int] = {(): guide.start}
    for path in sorted(expected, key=len):
        state = after[path] = guide.step(after[path[:-1]], path[-1]) if path else guide.start
        assert state != NO_STATE, path
        assert {*guide.allowed(state).tolist()} - {guide.end_id} == expected[path], (path, tok.decode(path))
        assert guide.is_final(state) == (path in paths), path
    return len(paths)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("name", "regex", "stored"), thinned(product(SMALL, LETTERS, [False, True]), 4))
def test_masks_are_the_definition(name: str, regex: str, stored: bool) -> None:
    """After every path, a mask allows exactly the next ids of texts whose ids decode to the same text, and the end exactly after such a
    text.
    """
    assert check(fst.Tokenizer(table_of(name)), regex, stored=stored)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("regex", "stored"), thinned(product(LETTERS, [False, True]), 4))
def test_masks_of_wordpiece_are_the_definition(regex: str, stored: bool) -> None:
    """Canonical masks of WordPiece equal their definition."""
    tokens = [token for token in documents.TOKENS if not any(map(unicodedata.combining, token))]
    assert check(fst.Tokenizer(wordpiece([*tokens, "(", "1", "##1", ".", "unable", "##ab"])), regex, stored=stored)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("regex", "stored"), thinned(product(LETTERS, [False, True]), 4))
def test_masks_of_unigram_are_the_definition(regex: str, stored: bool) -> None:
    """Canonical masks of Unigram equal their definition."""
    assert check(spaced(table_of("unigram")), regex, stored=stored)


@needs_shared
@pytest.mark.parametrize(("name", "regex"), cases(PATTERNS))
def test_masks_of_real_vocabularies_are_the_definition(name: str, regex: str) -> None:
    """Canonical masks of real vocabularies equal their definition."""
    assert check(real(name), regex)


def check_budgets(tok: fst.Tokenizer, regex: str) -> None:
    """Compare masks within budgets with all paths: an allowed token leads to a path that is short enough, and a budget that is enough at a
    state is enough after each allowed token.
    """
    paths = canonical.encodings(tok, canonical.texts_of(from_regex(regex)))
    guide, left = fst.Guide(tok, regex=regex, canonical=True), dict[canonical.Path, int]()
    for path in paths:
        for size in range(len(path) + 1):
            left[path[:size]] = min(left.get(path[:size], len(path)), len(path) - size)
    states, ending = {path: guide.advance(guide.start, path) for path in left}, int(guide.end_id is not None)
    for path, state in states.items():
        with pytest.raises(ValueError, match="expected at least") as found:
            guide.mask(state, max_tokens=-1)
        least = int(re.findall("at least ([0-9]+)", str(found.value))[0])
        assert least >= left[path] + ending
        for budget in range(least, least + 3):
            bits = np.unpackbits(guide.mask(state, max_tokens=budget).view(np.uint8), bitorder="little")
            allowed = {*np.flatnonzero(bits).tolist()} - {guide.end_id}
            assert allowed or path in paths
            for number in allowed:
                assert left[(*path, number)] + ending < budget
                guide.mask(states[(*path, number)], max_tokens=budget - 1)


BUDGETS = [
    *product(SMALL, (r"(a|b| |é|世){0,3}", r"(a|ab|b){2,6}", r"ab( ab| a)?")),
    *product(("wordpiece", "unigram"), (r"(un|a|able|x| |1){1,3}", r"(ab|aab|b){1,4}")),
]


@pytest.mark.parametrize(("name", "regex"), BUDGETS)
def test_budgets_are_kept(name: str, regex: str) -> None:
    """With a budget, tokens are allowed only if some canonical text fits, and the number in the error for a small budget is enough."""
    tokens = [token for token in documents.TOKENS if not any(map(unicodedata.combining, token))]
    small = [*tokens, "(", "1", "##1", ".", "unable", "##ab"]
    tok = fst.Tokenizer(wordpiece(small)) if name == "wordpiece" else spaced(table_of(name)) if name == "unigram" else None
    check_budgets(tok or fst.Tokenizer(table_of(name)), regex)


@needs_shared
@pytest.mark.parametrize(("name", "regex"), [("gpt2", r"hello( world| wor| worlds)?"), ("t5", r"a{1,60}"), ("bert", r"(ab){45,52}c?")])
def test_budgets_of_real_vocabularies_are_kept(name: str, regex: str) -> None:
    """Budgets of canonical tokens are kept with real vocabularies."""
    check_budgets(real(name), regex)


@needs_shared
@pytest.mark.parametrize(("name", "regex"), cases({regex: name for name, regex in VALUES.items()}))
def test_random_walks_are_encodings(name: str, regex: str) -> None:
    """The ids of every walk to a final state equal the tokenizer's ids of the decoded text, and a walk can always go on."""
    tok, draw = real(name), np.random.default_rng(7)
    guide = fst.Guide(tok, regex=regex, canonical=True)
    for _ in range(20 if LONG else 2):
        ids, state = list[int](), guide.start
        while not (guide.is_final(state) and (draw.random() < 0.2 or len(guide.allowed(state)) == 1)):
            ids.append(int(draw.choice([number for number in guide.allowed(state).tolist() if number != guide.end_id])))
            state = guide.step(state, ids[-1])
        assert tok.encode(tok.decode(ids), add_special_tokens=False).tolist() == ids


NFC: dict[str, Any] = {**documents.byte_level(GPT2, [(b"e", b"\xcc"), (b"\xc3", b"\xa9")]), "normalizer": {"type": "NFC"}}


@pytest.fixture
def composing(tmp_path: Path) -> Any:
    """The table of a tokenizer with NFC."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(NFC))
    return tokenizer(tmp_path / "tokenizer.json")


@pytest.mark.slow
def test_texts_that_a_normalizer_changes_are_left_out(composing: Any) -> None:
    """A text is canonical only if NFC does not change it: marks may neither compose nor be in another order."""
    assert check(fst.Tokenizer(composing), r"(e|é|\u0301|\u0323|\u1112|\u1161|\u11ab|하|x){1,3}")


@pytest.mark.slow
def test_automaton_of_composed_texts(composing: Any) -> None:
    """The automaton reads exactly the texts that composition does not change."""
    by = composing.metadata.text.normalizer.composition
    classes, norms = composed_texts(by)
    draw, pairs, marks = random.Random(5), [*by.pairs], [*by.orders]
    for _ in range(5_000):
        (first, second), (other, last) = draw.choices(pairs, k=2)
        syllable = [draw.randrange(0x1100, 0x1113), draw.randrange(0x1161, 0x1176), draw.randrange(0x11A7, 0x11C3)]
        parts = [first, second], [first, draw.choice(marks), second, last], [*syllable, other], [first, *marks[:2]]
        text = "".join(map(chr, draw.choice(parts)))
        for one in (text, by.apply(text)[0], by.apply(text)[0] + chr(last)):
            state = 0
            for char in one:
                state = int(norms[state, classes[ord(char)]]) if state >= 0 else -1
            assert (state >= 0) == (by.apply(one)[0] == one), one


@needs_shared
def test_last_line_break_before_a_word_is_alone() -> None:
    """If and only if a word follows, GPT-2 separates the last line break of a run from the others."""
    tok = real("gpt2")
    guide = fst.Guide(tok, regex=r"\n\n(a|\n)?", canonical=True)
    one, two = (tok.encode(text).tolist() for text in ("\n\na", "\n\n"))
    assert len(one) == 3
    assert len(two) == 1
    state = guide.advance(guide.start, one[:2])
    assert guide.allowed(state).tolist() == one[2:]
    assert not guide.is_final(state)


@pytest.mark.slow
def test_long_words_are_unknown() -> None:
    """A word of more characters than max_input_chars_per_word has no canonical tokens."""
    tok = fst.Tokenizer(wordpiece(TOKENS, max_input_chars_per_word=6))
    guide = fst.Guide(tok, regex="a{5,7}", canonical=True)
    state = guide.advance(guide.start, tok.encode("aaaaaa", add_special_tokens=False).tolist())
    assert guide.is_final(state)
    assert not {*guide.allowed(state).tolist()} - {guide.end_id}
    with pytest.raises(UnsupportedError, match="no text of the pattern"):
        fst.Guide(tok, regex="a{7}", canonical=True)


@pytest.mark.slow
def test_tokens_that_a_longer_token_replaces_need_another_end() -> None:
    """A token is forbidden if a complete search finds no later text that keeps it."""
    tok = fst.Tokenizer(wordpiece(TOKENS))
    first = {regex: fst.Guide(tok, regex=regex, canonical=True).allowed(0).tolist() for regex in ("ab", "abb", "ab?", "a(b|c)", "aab*")}
    number = tok.token_to_id
    assert first == {
        "ab": [number("ab")],
        "abb": [number("ab")],
        "ab?": [number("a"), number("ab")],
        "a(b|c)": [number("a"), number("ab")],
        "aab*": [number("a"), number("aab")],
    }


@pytest.mark.mostly_slow
@pytest.mark.parametrize("regex", ["ab(bb)*", "(a|b|ab| ){0,12}", "[^a]*(ab|\\()"])
def test_table_is_the_late_guide(regex: str, tmp_path: Path) -> None:
    """After all tokens, a saved and loaded table has the masks of the guide without a table, even if texts have no end."""
    tok = fst.Tokenizer(wordpiece([*TOKENS, "##(", "é"]))
    late = fst.Guide(tok, regex=regex, end_id=1, canonical=True)
    fst.Guide(compile_guide(tok, regex=regex, end_id=1, canonical=True)).save(tmp_path / "guide.npz")
    found: Any = fst.load(tmp_path / "guide.npz")
    states = {found.start: late.start}
    queue = [found.start]
    for state in queue:  # the loop appends to `queue`
        other = states[state]
        assert (found.mask(state) == late.mask(other)).all()
        assert found.is_final(state) == late.is_final(other)
        for number in range(found.size):
            after, expected = found.step(state, number), late.step(other, number)
            assert (after == NO_STATE) == (expected == NO_STATE)
            if after not in states:
                states[after] = expected
                queue.append(after)
    inner = [state for state in states if 0 <= state < len(found._table.finals)]
    different = {(found.is_final(state), *(found.step(state, number) for number in range(found.size))) for state in inner}
    assert len(different) == len(inner)  # equal states are merged


def test_tokens_with_the_same_text_are_different() -> None:
    """The bytes of a marked token never begin the bytes of another token, even if both write the same text."""
    vocabulary = vocabulary_of(wordpiece(["[UNK]", "a", "##a", "b", "##.", "."]))
    data, ends = marked_tokens(vocabulary)
    tokens = [data[begin:end].tobytes() for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    assert tokens == [b"", b" a\xff", b"a\xff", b" b\xff", b".\xff", b".\xfe\xff"]


@pytest.mark.slow
def test_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with too many states, steps or nodes is refused, and a search stops after too many states."""
    tok = fst.Tokenizer(wordpiece(TOKENS))
    for name, found in (("MAX_STATES", "states or more, at ' a"), ("MAX_STEPS", "steps or more"), ("MAX_NODES", "beginnings")):
        with monkeypatch.context() as patch:
            patch.setattr(canonical_table, name, 3)
            patch.setattr(canonical_table, "FIRST_NODES", 3)
            with pytest.raises(UnsupportedError, match=f"{found}.*make masks late"):
                compile_guide(tok, regex="(ab|aab|b){1,9}", canonical=True)
    monkeypatch.setattr(canonical_states, "MAX_SEARCH", 0)
    guide = fst.Guide(tok, regex="abb", canonical=True)
    with pytest.raises(UnsupportedError, match="more than 0 states are visited"):
        guide.mask(guide.start)


@pytest.mark.slow
def test_sums_of_long_words_are_relative() -> None:
    """A word without an end has few states, because sums of best paths are compared but not stored."""
    table = compile_guide(spaced(table_of("unigram")), regex="(é|a|b)*", canonical=True)
    assert 1 < len(table.finals) < 100


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """A tokenizer that canonical masks do not cover is refused, and the message contains the reason."""
    with pytest.raises(UnsupportedError, match=REFUSED[name]):
        fst.Guide(table_of(name), regex="a", canonical=True)


SPLITTERS = [r"\s+(?!\S)|\s+|\S+", r"a+b|[\s\S]", r"ab(?!c)|bc|[\s\S]", r"(?:aa)+|a|[^a]+", r"[^a]?b+|\s+(?=a)|[\s\S]"]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", SPLITTERS)
def test_cuts_are_those_of_the_splitter(pattern: str) -> None:
    """The automaton accepts a text with marks where words begin exactly if the splitter cuts the text there."""
    by = splitter(pattern)
    cuts, ends = cuts_of(by)
    for length in range(6):
        for text in map("".join, product("abc ", repeat=length)):
            expected = [int(any(place == begin for begin, _ in by.pretokens(text))) for place in range(length)]
            for marks in product((0, 1), repeat=length):
                state = 0
                for char, mark in zip(text, marks, strict=True):
                    state = int(cuts[state, mark, by.classes[ord(char)]]) if state >= 0 else -1
                assert (state >= 0 and bool(ends[state])) == ([*marks] == expected), (text, marks)


def test_splitters_with_gaps_are_refused() -> None:
    """A splitter whose matches leave characters between them is refused."""
    with pytest.raises(UnsupportedError, match="between its matches"):
        cuts_of(splitter("a+"))


class TestGuide:
    """A canonical guide has the methods of other guides."""

    @pytest.fixture
    def guide(self) -> fst.Guide:
        """A guide of one word."""
        return fst.Guide(fst.Tokenizer(wordpiece(TOKENS)), regex="ab(bb)*", end_id=1, canonical=True)

    @pytest.mark.slow
    def test_states(self, guide: fst.Guide) -> None:
        """The end is a token that is allowed after a text and after itself; after a forbidden token, no token is allowed."""
        ab, bb = (TOKENS.index(name) for name in ("ab", "##bb"))
        state = guide.step(guide.start, ab)
        assert guide.allowed(state).tolist() == [1, bb]
        ended = guide.step(state, 1)
        assert guide.is_final(ended)
        assert guide.allowed(ended).tolist() == [1]
        assert guide.step(ended, 1) == ended
        assert guide.step(ended, bb) == guide.step(guide.start, bb) == guide.step(NO_STATE, ab) == guide.step(state, 99) == NO_STATE
        assert not guide.is_final(NO_STATE)
        assert not guide.masks([NO_STATE]).any()
        assert guide.advance(guide.start, [ab, bb, bb, 1]) == ended
        assert guide.forced(guide.start) == [ab]
        with pytest.raises(ValueError, match="a state is 99"):
            guide.mask(99)
        with pytest.raises(ValueError, match="a state is 99"):
            guide.is_final(99)

    @pytest.mark.slow
    def test_masks_into_arrays(self, guide: fst.Guide) -> None:
        """Masks are copied as bits and as bools."""
        found = guide.masks([guide.start, 1], out=np.ones((2, 20), np.bool_))
        assert [np.flatnonzero(row).tolist() for row in found] == [[TOKENS.index("ab")], [1]]

    @pytest.mark.slow
    def test_kept_masks_are_dropped(self, guide: fst.Guide) -> None:
        """Masks are made again if too many are kept."""
        few = fst.Guide(fst.Tokenizer(wordpiece(TOKENS)), regex="ab(bb)*", end_id=1, canonical=True, kept_bytes=1)
        for _ in range(3):
            state, other = guide.start, few.start
            for name in ("ab", "##bb", "##bb"):
                assert (guide.mask(state) == few.mask(other)).all()
                state, other = (one.step(at, TOKENS.index(name)) for one, at in ((guide, state), (few, other)))

    @pytest.mark.slow
    def test_pickles(self, guide: fst.Guide) -> None:
        """A guide is pickled with its tokenizer and its pattern."""
        copy = pickle.loads(pickle.dumps(guide))
        assert (copy.mask(copy.start) == guide.mask(guide.start)).all()
        assert repr(copy) == "<fst.Guide, canonical, 2 states so far, 14 ids>"

    @pytest.mark.slow
    def test_late_guide_is_not_saved(self, guide: fst.Guide, tmp_path: Path) -> None:
        """There is no table to save."""
        with pytest.raises(UnsupportedError, match="makes masks late"):
            guide.save(tmp_path / "guide.npz")

    @pytest.mark.slow
    def test_threads(self) -> None:
        """Threads that share a guide get the masks of one thread."""
        tok = fst.Tokenizer(wordpiece(TOKENS))
        guide, other = (fst.Guide(tok, regex="(a|b|ab| ){0,12}", canonical=True) for _ in range(2))
        draw = np.random.default_rng(3)
        paths = [tok.encode("".join(draw.choice(["a", "b", "ab"], 4)), add_special_tokens=False).tolist() for _ in range(40)]

        def run(path: list[int], by: fst.Guide = guide) -> Any:
            return by.mask(by.advance(by.start, path)).tolist()

        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(run, paths)] == [run(path, other) for path in paths]

    @pytest.mark.slow
    def test_search_in_full(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without rows for later texts, every token needs a complete search, and masks are the same."""
        tok, regex = fst.Tokenizer(wordpiece(TOKENS)), "(a|b|ab|aab){1,5}"
        usual = fst.Guide(tok, regex=regex, canonical=True)
        monkeypatch.setattr(canonical_states, "CAPACITY", 0)
        assert check(tok, regex)
        few = fst.Guide(tok, regex=regex, canonical=True)
        assert (few.mask(0) == usual.mask(0)).all()
