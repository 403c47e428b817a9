"""Token masks by their definition: every token is tried at every state."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.conformance.ways import table_of
from support.naive import guides
from support.naive.guides import Writer

import fst
from fst.compile import guide, wordpiece
from fst.compile.machines.guide import mask_store
from fst.compile.machines.guide.compiler import with_classes
from fst.compile.machines.guide.regex import from_regex
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import FAR, NO_STATE
from fst.machines.guide.kernels.scan import agreement
from fst.machines.guide.scanning import scan_row, working
from fst.machines.guide.table import GuideTable
from fst.machines.guide.vocabulary import vocabulary_of
from fst.runtime.machines.guide import guide as late_guide

TEXTS = (
    ["a", "ab", "abab", "ab a", "b  é", "a é1", "éa"],
    ["", "11 1", "日本 a", "日", " a", "  ", "a,b .", "ab, a!"],
    ["\U0001f600a", "\u302e b", "世 界", "un able", "unable", "aaa"],
)
TOKENIZERS = (
    *("wordpiece auto", "wordpiece one word", "word level", "bpe automaton", "bpe normalized", "bpe ranks", "bpe missing bytes"),
    *("bpe characters", "bpe characters and bytes", "bpe model", "bpe model of characters", "unigram", "unigram bytes", "unigram model"),
    *("unigram words", "unigram model and bytes"),
)
LLAMA: list[dict[str, Any]] = [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
]


# Every tokenizer with every set of texts; all but one set of each are marked slow.
CASES = [
    pytest.param(name, texts, marks=() if place == number % len(TEXTS) else pytest.mark.slow)
    for (number, name), (place, texts) in product(enumerate(TOKENIZERS), enumerate(TEXTS))
]


def pattern_of(texts: Sequence[str]) -> str:
    """A regular expression for a set of texts."""
    return "|".join(map(re.escape, texts))


def small() -> fst.Tokenizer:
    """A WordPiece tokenizer."""
    return fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##1", "##2", "##12", "a", "##a"]))


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("name", "texts"), CASES)
def test_every_token_at_every_state(name: str, texts: Sequence[str]) -> None:
    """After every path, a mask allows exactly the tokens after which a text can still be completed, and the end exactly after a complete
    text.
    """
    tok = fst.Tokenizer(table_of(name))
    write = Writer(tok)
    found = fst.Guide(guide(tok, regex=pattern_of(texts), end_id=min(write.silent, default=None)))
    waiting: dict[int, guides.Path] = {found.start: ()}
    for state in (queue := [found.start]):
        path = waiting[state]
        expected = guides.allowed(write, texts, path, found.end_id)
        assert found.allowed(state).tolist() == expected
        assert found.is_final(state) == (write(path) in [text.encode() for text in texts])
        for number in {*expected} - {found.end_id}:
            after = found.step(state, number)
            assert after != NO_STATE
            if after not in waiting:
                waiting[after] = (*path, number)
                queue.append(after)
    assert len(waiting) > 1


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_writer_is_the_decoder(name: str) -> None:
    """The bytes that the definition gives for tokens are those of the decoded text."""
    tok = fst.Tokenizer(table_of(name))
    write, draw = Writer(tok), np.random.default_rng(5)
    for _ in range(50):
        path = tuple(draw.choice(write.ids, draw.integers(1, 6)).tolist())
        try:
            expected = write(path).decode()
        except UnicodeDecodeError:
            continue
        assert tok.decode(path) == expected
    assert len(write.ids) > 3


def test_llama_removes_the_first_space() -> None:
    """With a decoder that strips the first space of a text, the first token has one space less."""
    from support.conformance.samples import SAMPLES

    table = table_of("bpe characters and bytes")
    header = {**table.header, "decoder": {"steps": LLAMA}}
    tok = fst.Tokenizer(type(table)(header, **table.arrays()))
    assert SAMPLES["bpe characters and bytes"].kind == "bpe"
    write, texts = Writer(tok), ["a ab", "ab"]
    found = fst.Guide(guide(tok, regex=pattern_of(texts)))
    for number in found.allowed(found.start).tolist():
        assert tok.decode([number]) == write((number,)).decode()
        assert found.allowed(found.step(found.start, number)).tolist() == guides.allowed(write, texts, (number,), found.end_id)
    assert tok.token_to_id("▁a") in found.allowed(found.start)


LETTERS = st.text("ab\u00e9 ", min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=8, unique=True), st.lists(LETTERS, min_size=1, max_size=4), st.booleans())
def test_masks_are_those_of_the_walk(tokens: list[str], pattern: list[str], loops: bool) -> None:
    """Stored masks, masks made at their first use and the slow walk allow the same tokens in all states."""
    tokens = [*dict.fromkeys([*tokens, pattern[0][0]])]  # at least one token begins a text
    tok = fst.Tokenizer(wordpiece(["[UNK]", *tokens, *(f"##{token}" for token in tokens)]))
    regex = f"({pattern_of(pattern)}){'*' if loops else ''}"
    table = guide(tok, regex=regex)
    table.prove()
    stored, late = fst.Guide(table), fst.Guide(tok, regex=regex)
    pairs, waiting = {stored.start: late.start}, [stored.start]
    for state in waiting:  # the loop appends to `waiting`
        other = pairs[state]
        assert stored.allowed(state).tolist() == table.allowed(state).tolist() == np.flatnonzero(table.mask(state)).tolist()
        assert (stored.mask(state) == late.mask(other)).all()
        assert stored.is_final(state) == late.is_final(other)
        for number in range(stored.size + 1):
            after, expected = late.step(other, number), table.step(state, number) if number < stored.size else NO_STATE
            assert stored.step(state, number) == expected
            assert (after == NO_STATE) == (expected == NO_STATE)
            if expected not in pairs and expected != NO_STATE:
                pairs[expected] = after
                waiting.append(expected)


def test_schemas() -> None:
    """The masks of a schema are those of a pattern for its values; options of schemas are refused for patterns."""
    tok = fst.Tokenizer(table_of("bpe ranks"))
    schema: dict[str, Any] = {"type": "array", "items": {"enum": ["ab", 1]}, "maxItems": 2}
    for whitespace, space in ((" ?", " ?"), ("", "")):
        items = rf'("ab"|1)({space},{space}("ab"|1))?'
        expected = fst.Guide(guide(tok, regex=rf"\[{space}({items}{space})?\]"))
        for found in (fst.Guide(guide(tok, schema=schema, whitespace=whitespace)), fst.Guide(tok, schema=schema, whitespace=whitespace)):
            for text in ('["ab", 1]', '["ab",1]', "[]", '["'):
                ids = tok.encode(text).tolist()
                for length in range(len(ids)):
                    states = [each.advance(each.start, ids[:length]) for each in (found, expected)]
                    assert found.allowed(states[0]).tolist() == expected.allowed(states[1]).tolist()
    with pytest.raises(TypeError, match="depth is given with regex; expected it only with schema"):
        guide(tok, regex="a", depth=2)


def test_many_masks() -> None:
    """A store of masks grows for any number of different masks, and equal masks have the same number."""
    draw, words = np.random.default_rng(3), 7
    masks, kept = mask_store.Masks(words), list[np.ndarray[Any, Any]]()
    base = draw.integers(0, 1 << 32, words, np.uint32)
    for place in range(500):
        row = draw.integers(0, 1 << 32, words, np.uint32) if place % 3 else base.copy()
        row[place % words] ^= np.uint32(1 << place % 32)
        kept.append(row)
    numbers = [masks.add(row) for row in kept]
    assert [masks.add(row) for row in kept] == numbers
    found = masks.arrays()
    for number, row in zip(numbers, kept, strict=True):
        flips = found["flips"][found["flip_ends"][number - 1] if number else 0 : found["flip_ends"][number]]
        made = found["rows"][found["bases"][number]].copy()
        for flip in flips.tolist():
            made[flip // 32] ^= np.uint32(1 << flip % 32)
        assert (made == row).all()
    assert (np.diff(flips.astype(np.int64)) > 0).all()


def test_too_many_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks that take more memory than a table may have are refused."""
    monkeypatch.setattr(mask_store, "MAX_FILE_BYTES", 100)
    with pytest.raises(UnsupportedError, match=r"masks of .* kinds of states take more than 100 bytes; make masks late"):
        [*map(mask_store.Masks(4).add, np.random.default_rng(0).integers(0, 1 << 32, (99, 4), np.uint32))]


def test_outputs() -> None:
    """Masks are copied in place to arrays of words and of bool; elements past the last id become 0."""
    found = fst.Guide(guide(small(), regex="12*a|2", end_id=1))
    states = [found.start, NO_STATE, found.step(found.start, 2)]
    expected = np.array([[number in found.allowed(state) for number in range(found.size)] for state in states])
    for dtype in (np.uint32, np.int32):
        for more in (0, 3):
            out = np.full((3, found.words + more), 77, dtype)
            assert found.masks(np.array(states, np.int32), out=out) is out
            assert (np.unpackbits(out.view(np.uint8), axis=1, bitorder="little")[:, : found.size] == expected).all()
            assert not out[:, found.words :].any()
    for width in (0, 5, found.size, found.size + 90):
        bits = np.ones((3, width), np.bool_)
        assert found.masks(states, out=bits) is bits
        both = min(width, found.size)
        assert (bits[:, :both] == expected[:, :both]).all()
        assert not bits[:, both:].any()
    assert found.masks([]).shape == (0, found.words)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("out", [[], np.empty((1, 1)), np.empty((2, 1), np.uint32), np.empty((1, 0), np.uint32), np.empty(1, np.bool_)])
def test_wrong_outputs(out: Any) -> None:
    """Another array is refused, and so are arrays that cannot be written in place."""
    found = fst.Guide(small(), regex="1")
    with pytest.raises((TypeError, ValueError), match=r"^out (is|has the shape)"):
        found.masks([0], out=out)
    with pytest.raises(ValueError, match="C-contiguous, aligned and writable"):
        found.masks([0, 0], out=np.empty((4, 4), np.uint32)[::2])


def test_torch() -> None:
    """Masks are copied in place to tensors."""
    torch = pytest.importorskip("torch")
    found = fst.Guide(small(), regex="12*")
    out, bits = torch.zeros((1, found.words), dtype=torch.int32), torch.zeros((1, found.size), dtype=torch.bool)
    assert found.masks(torch.tensor([found.start]), out=out) is out
    found.masks([found.start], out=bits)
    assert out[0, 0] == 4
    assert bits[0].nonzero().tolist() == [[2]]


def test_steps_and_ends() -> None:
    """Tokens lead from state to state; only the end follows the end, and no token follows a forbidden token."""
    for found in (fst.Guide(guide(small(), regex="12*a", end_id=1)), fst.Guide(small(), regex="12*a", end_id=1)):
        state = found.advance(found.start, [2, 5, 5])
        assert [found.is_final(state), found.allowed(state).tolist()] == [False, [5, 8]]
        final = found.step(state, 8)
        ended = found.step(final, 1)
        assert [found.is_final(each) for each in (found.start, NO_STATE, final, ended)] == [False, False, True, True]
        assert found.allowed(ended).tolist() == found.allowed(final).tolist() == [1]
        assert found.advance(ended, [1, 1]) == ended
        assert found.step(final, 2) == found.step(NO_STATE, 2) == found.step(found.start, 99) == found.advance(state, [8, 8]) == NO_STATE
        assert found.step(found.start, 1) == NO_STATE
        assert not found.mask(NO_STATE).any()


def test_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """`forced` returns tokens until there is a choice, the end, or a limit."""
    found = fst.Guide(small(), regex="1a(1|a)", end_id=1)
    assert found.forced(found.start) == [2, 8]
    found = fst.Guide(guide(small(), regex="1a2", end_id=1))
    assert found.forced(found.start) == [2, 8, 5, 1]
    assert found.forced(NO_STATE) == found.forced(found.advance(found.start, [2, 8, 5, 1])) == []
    monkeypatch.setattr(late_guide, "MAX_FORCED", 3)
    assert found.forced(found.start) == [2, 8, 5]


def test_ends() -> None:
    """The end is the argument, or the token that the source names, or the special token with the first of the known names."""
    tok = small()
    assert fst.Guide(tok, regex="1").end_id == 1
    assert fst.Guide(tok, regex="1", end_id=0).end_id == 0
    assert fst.Guide(fst.Tokenizer(wordpiece(["[UNK]", "1"])), regex="1").end_id is None
    for wrong in (2, 99, -1):
        with pytest.raises(UnsupportedError, match=f"end_id is {wrong}; expected the id of a special token"):
            fst.Guide(tok, regex="1", end_id=wrong)


@pytest.mark.parametrize("name", ["wordpiece auto", "unigram", "bpe characters"])
def test_texts_that_no_token_begins(name: str) -> None:
    """If no token begins a text, tables and guides without a table, with or without calls, are refused, unless the empty text matches."""
    tok = fst.Tokenizer(table_of(name))
    for make in (guide, fst.Guide):
        with pytest.raises(UnsupportedError, match="no token begins a text of the pattern"):
            make(tok, regex="\\{a|§")
        make(tok, regex="(\\{a)?")
        make(tok, regex="\\{|a")
    with pytest.raises(UnsupportedError, match="no token begins a text of the pattern or the schema"):
        fst.Guide(tok, schema={"const": {"a": 1}})


def test_first_tokens_that_write_nothing() -> None:
    """A first token that writes nothing is allowed only if the token after it, if that is not a first token again, can begin a text."""
    table = table_of("bpe characters")
    llama = fst.Tokenizer(type(table)({**table.header, "decoder": {"steps": LLAMA}}, **table.arrays()))
    found = fst.Guide(llama, regex=" a")
    assert {llama.decode([number]) for number in found.allowed(found.start)} == {""}
    for tok, regex in ((llama, "§"), (fst.Tokenizer(table_of("unigram model")), " a")):
        for make in (guide, fst.Guide):
            with pytest.raises(UnsupportedError, match="no token begins"):
                make(tok, regex=regex)


@pytest.mark.slow
def test_wrong_arguments() -> None:
    """Numbers that are not states, tables of other kinds, and patterns that are missing are refused."""
    found = fst.Guide(guide(small(), regex="1"))
    for wrong in (-2, 4, 1 << 40):
        for each, most in ((found, 3), (fst.Guide(small(), regex="1"), 1)):
            for call in (each.mask, each.is_final, partial(each.step, number=2)):
                with pytest.raises(ValueError, match=f"a state is {wrong}; expected -1 to {most}"):
                    call(wrong)
    for states in ([[0]], 0, [0.5], ["0"], [1 << 70]):
        with pytest.raises(TypeError, match="expected a row of whole numbers"):
            found.masks(states)
    with pytest.raises(ValueError, match="no texts are given; expected one of regex, schema"):
        guide(small())
    with pytest.raises(UnsupportedError, match="the table is of kind 'guide'; expected that of a tokenizer"):
        guide(guide(small(), regex="1"), regex="1")
    wrong_options: list[tuple[dict[str, Any], str]] = [
        ({}, "Tokenizer without texts"),
        ({"regx": "1"}, "regx is given without texts"),
        ({"end_id": 1}, "end_id is given without texts"),
        ({"regex": b"1"}, "regex is bytes; expected a str"),
        ({"schema": {}, "dept": 1}, "unexpected keyword argument 'dept'"),
        ({"schema": {}, "depth": "3"}, "depth is given, but recursion has no depth here"),
        ({"schema": {}, "whitespace": 3}, "whitespace is 3; expected a pattern"),
        ({"regex": "1", "depth": 3}, "depth is given with regex; expected it only with schema"),
    ]
    for options, message in wrong_options:
        with pytest.raises(TypeError, match=message):
            fst.Guide(small(), **options)
    with pytest.raises(FileNotFoundError, match=r"bert\.npz"):
        guide("bert.npz", regex="1")
    with pytest.raises(UnsupportedError, match="the table is of kind 'wordpiece'"):
        fst.Guide(wordpiece(["[UNK]"]))
    with pytest.raises(UnsupportedError, match="the table is of kind 'guide'; expected that of a tokenizer"):
        fst.Guide(guide(small(), regex="1"), regex="1")
    affixes = table_of("bpe affixes")
    with_suffix = type(affixes)({**affixes.header, "decoder": {"steps": [{"type": "BPEDecoder", "suffix": "</w>"}]}}, **affixes.arrays())
    with pytest.raises(UnsupportedError, match="the steps BPEDecoder, by which a token writes text that depends on the tokens after it"):
        guide(with_suffix, regex="a")


def test_saved_copied_and_pickled(tmp_path: Path) -> None:
    """A guide is the same after it is saved and loaded, copied, or pickled; a guide without a table cannot be saved."""
    table = guide(small(), regex="12*", end_id=1)
    fst.Guide(table).save(tmp_path / "guide.npz")
    loaded = fst.load(tmp_path / "guide.npz")
    assert isinstance(loaded, fst.Guide)
    late = fst.Guide(small(), regex="12*", end_id=1)
    assert copy.copy(loaded) is copy.deepcopy(loaded) is loaded
    stored = (fst.Guide.load(tmp_path / "guide.npz"), pickle.loads(pickle.dumps(loaded)))
    states = [*range(len(table.mask_of))]
    for other in stored:
        assert (other.masks(states) == fst.Guide(table).masks(states)).all()
        assert repr(other) == "<fst.Guide, 2 states, 9 ids>"
    for other in (*stored, late, pickle.loads(pickle.dumps(late))):
        assert other.end_id == 1
        after = [guide.advance(guide.start, ids) for guide in (loaded, other) for ids in ([], [2], [2, 5], [2, 5, 1], [3])]
        assert (loaded.masks(after[:5]) == other.masks(after[5:])).all()
    with pytest.raises(UnsupportedError, match="makes masks late"):
        late.save(tmp_path / "late.npz")


def test_threads() -> None:
    """Threads that share a guide get the same masks, even if masks that are made at their first use are dropped all the time."""
    tok = fst.Tokenizer(table_of("bpe automaton"))
    found, late = fst.Guide(guide(tok, regex="(ab|é){3,9}")), fst.Guide(tok, regex="(ab|é){3,9}", kept_bytes=16)
    texts = [tok.encode(text[:length]).tolist() for text in ("abababéé", "éababéab") for length in (0, 2, 4, 6, 8)]
    expected = found.masks([found.advance(found.start, ids) for ids in texts])

    def masks(_: int) -> Any:
        return late.masks([late.advance(late.start, ids) for ids in texts])

    with ThreadPoolExecutor(4) as pool:
        assert all((got == expected).all() for got in pool.map(masks, range(40)))


def test_summary() -> None:
    """The summary of a table contains its sizes and its pattern."""
    table: GuideTable = guide(small(), regex="12*", end_id=1)
    assert table.summary == {
        "kind": "guide",
        "states": 2,
        "masks": 4,
        "ids": 9,
        "bytes_per_state": table.summary["bytes_per_state"],
        "end_id": 1,
        "canonical": False,
        "pattern": "12*",
    }
    assert table.run("122a") == [1, 1, 1]


SIMILAR = ("a{0,50}", "(a|é){3,40}|b", "(ab?){0,30}é|[^b]{9,44}", "a*b|a{20,30}", "(é{1,3}a)*")  # states that read the same short strings
LOOPS = ('"(a|é)*"a!(é|a)*!(b|"(a|é)*")', '"[^"]*"[^"!]*!("[^"]*"|!)*', "([^!]*!(a[^!]*!b)?)*", '(a|é)*(!a|"(a|é)*!!)*')


@pytest.mark.mostly_slow
@pytest.mark.parametrize("regex", [*SIMILAR, *LOOPS])
def test_masks_from_similar_states(regex: str) -> None:
    """A mask that is made from the mask of a similar state equals the mask of a full scan, in any order of the states."""
    names = [*("a" * size for size in range(1, 45)), *("é" * size for size in range(1, 9)), "ab", "ba", "aéa", "b"]
    names += ["".join(some) for some in product('"!aé', repeat=3)]
    vocabulary = vocabulary_of(wordpiece(["[UNK]", *names, *(f"##{name}" for name in names)]))
    automaton = with_classes(from_regex(regex))
    states, row = np.arange(len(automaton.finals)), np.empty(vocabulary.words + 1, np.uint32)

    def scanned(work: Any, state: int) -> list[int]:
        scan_row.call(automaton, vocabulary.trie, state, work, row)
        return [int(word) for word in row[:-1]]

    expected = [scanned(working(automaton, vocabulary.trie, vocabulary.words), state) for state in states.tolist()]
    for order in (states, states[::-1], np.random.default_rng(7).permutation(states)):
        work = working(automaton, vocabulary.trie, vocabulary.words)
        assert [scanned(work, state) for state in order.tolist()] == [expected[state] for state in order]


def test_agreement() -> None:
    """The length up to which two states agree is at most that of the shortest string that only one of them reads, and usually equals it."""
    automaton = with_classes(from_regex("(a|é){0,9}"))
    work = working(automaton, vocabulary_of(small()._table).trie, 1)
    states = [0]
    for _ in range(9):
        states.append(int(automaton.targets[states[-1], automaton.classes[ord("a")]]))
    compared = getattr(agreement, "py_func", agreement)  # the Python function of the kernel
    for one, other in ((0, 1), (1, 0), (2, 5), (0, 9), (3, 3)):
        least = 99 if one == other else 9 - max(one, other)
        assert compared(automaton, states[one], states[other], work) == min(least, FAR)


def test_choices() -> None:
    """A choice has the masks of a pattern of its texts, late and in a table; an empty one, and a single str, are refused."""
    tok = fst.Tokenizer(table_of("bpe ranks"))
    texts = ["ab", "a", "ba.b", "é"]
    expected = fst.Guide(tok, regex="|".join(map(re.escape, texts)))
    for found in (fst.Guide(tok, choice=texts), fst.Guide(guide(tok, choice=texts))):
        for text in texts:
            ids = tok.encode(text).tolist()
            for length in range(len(ids) + 1):
                states = [each.advance(each.start, ids[:length]) for each in (found, expected)]
                assert (found.mask(states[0]) == expected.mask(states[1])).all()
    with pytest.raises(ValueError, match=r"choice is \[\]; expected a list of one or more str"):
        fst.Guide(tok, choice=[])
    with pytest.raises(ValueError, match=r"choice contains '\\ud800', with a lone surrogate"):
        fst.Guide(tok, choice=["a", "\ud800"])
    with pytest.raises(TypeError, match="choice is 'ab'; expected a list of one or more str"):
        guide(tok, choice="ab")


class Model:
    """What guides use of a model of pydantic."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """The schema of the model's values."""
        return {"type": "object", "properties": {"a": {"enum": ["b"]}}, "required": ["a"]}


def test_models_and_closed_objects() -> None:
    """A model of pydantic is the schema of its values; a strict schema has no other properties, in tables, too."""
    tok = fst.Tokenizer(table_of("bpe missing bytes"))
    free, closed = fst.Guide(tok, schema=Model), fst.Guide(tok, schema=Model, strict=True)
    ids = tok.encode('{"a":"b"').tolist()
    after = [each.allowed(each.advance(each.start, ids)).tolist() for each in (free, closed)]
    assert {tok.token_to_id("}")} <= {*after[1]} < {*after[0]}
    tables = [fst.Guide(guide(tok, schema=Model, depth=1, strict=strict)) for strict in (False, True)]
    assert [each.allowed(each.advance(each.start, ids)).tolist() for each in tables] == after
    with pytest.raises(TypeError, match="depth is given, but recursion has no depth here"):
        fst.Guide(tok, schema=Model, depth=2)
