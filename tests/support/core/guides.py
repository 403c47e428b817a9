"""The part of the fuzzer that makes token masks."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of

import fst
from fst.compile import guide, wordpiece
from fst.compile import guide as compile_guide
from fst.compile.machines.guide.languages import intersection, union
from fst.compile.machines.guide.mask_store import Masks
from fst.compile.machines.guide.regex import whole
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import NO_STATE
from fst.runtime.machines.guide import late_states
from fst.tables.strings import order_of, stored_bytes

PARTS = ("a", "b", "é", " ", "ab", "世", "[^a]", "[ab]{1,3}", "(?:é|a)*")


def spaced(table: Any) -> fst.Tokenizer:
    """A tokenizer of a Unigram table whose decoder writes spaces."""
    decoder = {"steps": [{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]}
    return fst.Tokenizer(type(table)({**table.header, "decoder": decoder}, **table.arrays()))


def drive_canonical(draw: random.Random, tok: fst.Tokenizer, regex: str) -> None:
    """Walk along canonical masks, check that other masks also allow the tokens, and compare the ids with the ids of the text."""
    try:
        guide, other = fst.Guide(tok, regex=regex, canonical=True), fst.Guide(tok, regex=regex)
        stored = fst.Guide(compile_guide(tok, regex=regex, canonical=True))
    except UnsupportedError:
        return
    state, found, ids, at = guide.start, other.start, list[int](), stored.start
    if not len(guide.allowed(state)):  # the tokenizer cannot write any text of the pattern
        return
    while len(ids) < 30 and (number := draw.choice(guide.allowed(state).tolist())) != guide.end_id:
        assert number in other.allowed(found)
        state, found, at = guide.step(state, number), other.step(found, number), stored.step(at, number)
        assert (stored.mask(at) == guide.mask(state)).all()
        assert not (guide.mask(state, max_tokens=1 << 20) & ~guide.mask(state)).any()
        ids.append(number)
        if guide.is_final(state):
            assert tok.encode(tok.decode(ids), add_special_tokens=False).tolist() == ids
            if guide.end_id is None and not len(guide.allowed(state)):
                return


PIECES = ['"', "a", "b", "c", "[", "]", ",", "{", "}", ":", "\\", "\\u00e9", "\\u00", "é", "ab", 'a"', '"}', '",', '":']


LETTERS = "abcdefghijkl"
# Patterns whose masks are found by classes: a chain, a chain before a loop, a loop, and a loop after a space.
CLASSES = ("([a-l]{6}-){2}", "[a-lé]{3,}-", "([a-l]+|é)(-[a-l]+)*", "-( *[a-l]+-)*")


def drive_classes(draw: random.Random) -> None:
    """Compare masks of classes of characters with stored masks; count canonical tokens; look for names that leave those of a schema."""
    pieces = [*LETTERS, "-", "é", '"', "{", "}", ":", "1"]
    tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", *pieces, *(f"##{each}" for each in [*pieces, "ab", "cd-", "l", '{"'])]))
    for regex in CLASSES:
        late, stored = fst.Guide(tok, regex=regex), fst.Guide(compile_guide(tok, regex=regex))
        states = [(late.start, stored.start)]
        for at, found in states:
            assert (late.mask(at) == stored.mask(found)).all()
            if len(states) < 20 and len(allowed := late.allowed(at).tolist()):
                number = draw.choice(allowed)
                states.append((late.step(at, number), stored.step(found, number)))
    names = fst.Guide(tok, schema={"type": "object", "properties": {"ab": {"const": 1}}})
    begun = [2 + pieces.index("{"), 2 + len(pieces) + pieces.index('"')]
    assert len(names.allowed(names.advance(names.start, begun)))
    for kind, regex in (("bpe automaton", "(a|ab|b){2,6}"), ("bpe ranks", "a(b| b)"), ("bpe ranks", "(é|世|aab ){1,2}")):
        guide = fst.Guide(fst.Tokenizer(table_of(kind)), regex=regex, canonical=True)
        for state in (guide.start, *(guide.step(guide.start, number) for number in guide.allowed(guide.start).tolist())):
            guide.mask(state, max_tokens=30)
    for text in ("", "ab a", " é"):
        assert len(fst.Tokenizer(table_of("bpe automaton")).covers(text).endings)


def drive_late_guides(draw: random.Random, texts: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Write texts of schemas and grammars with calls, counts and keys, also within a budget; make masks on threads; use tuned tables."""
    tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", *PIECES, *(f"##{each}" for each in PIECES)]))
    names = {"a": {"type": "string", "maxLength": 3}, "b": {"type": "string"}}
    schema = {"type": "array", "items": {"type": "object", "properties": names, "required": ["a"]}, "maxItems": 9}
    grammar = 'start: "[" (start ","){5,9} "]" | /[^"]*"/ | x "a"\nx: "b" x "c" | "b"'
    for late in (fst.Guide(tok, schema=schema, order="any"), fst.Guide(tok, grammar=grammar, syntax="lark")):
        states = [late.start]
        for _ in range(40):
            allowed = late.allowed(states[-1]).tolist()
            if not allowed or (number := draw.choice(allowed)) == late.end_id:
                break
            states.append(late.step(states[-1], number))
            late.is_final(states[-1])
            late.mask(states[-1], max_tokens=400)
    quote, letter = 2 + PIECES.index('"'), 2 + len(PIECES) + PIECES.index("a")
    for options in ({"schema": {"type": "string"}}, {"schema": {"type": "string", "minLength": 2, "maxLength": 30}}):
        string = fst.Guide(tok, **options)
        states = [string.step(string.start, quote)]
        for _ in range(9):
            states.append(string.step(states[-1], letter))
        expected = [string.mask(state) for state in states]
        with patch.context() as threads:
            threads.setenv("FST_NUM_THREADS", "2")
            threads.setattr(late_states, "PATIENCE", 0)
            threads.setattr(late_states, "MIN_SECONDS", 0)
            again = pickle.loads(pickle.dumps(string))
            walked = [again.step(again.start, quote)]
            for _ in range(9):
                walked.append(again.step(walked[-1], letter))
            assert (again.masks(walked) == np.array(expected)).all()
    schema = {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 30}  # many states
    stored, late = fst.Guide(compile_guide(tok, schema=schema)), fst.Guide(tok, schema=schema)
    assert stored.allowed(stored.start).tolist() == late.allowed(late.start).tolist()
    drive_classes(draw)
    for kind in ("bpe automaton tuned", "unigram tuned"):
        fst.Tokenizer(table_of(kind)).encode_batch(texts)
    words = [draw.randbytes(draw.randint(9, 20)) for _ in range(300)]
    order_of(*stored_bytes([b"the same beginning" + word for word in words]))


def drive_guides(draw: random.Random, texts: Sequence[str]) -> None:
    """Draw patterns and vocabularies; compare stored masks with masks that are made at their first use, and steps with the walk's."""
    words = {text[place : place + 3] for text in texts[:20] for place in range(0, min(len(text), 9), 2)}
    names = [*dict.fromkeys(["[UNK]", "[SEP]", "a", *(word for word in sorted(words) if word.strip() == word and word.isalnum())])]
    tok = fst.Tokenizer(wordpiece([*names, *(f"##{name}" for name in names[2:] if draw.random() < 0.7)]))
    regex = "".join(draw.choice(PARTS) for _ in range(draw.randint(1, 6))) + "|" + re.escape(texts[0][:5]) + "|a"
    table = guide(tok, regex=regex)
    table.prove()
    found, late = fst.Guide(table), fst.Guide(tok, regex=regex)
    pairs = {NO_STATE: NO_STATE, found.start: late.start}  # the states of the late guide, by those of the table
    for state in (waiting := [found.start]):  # the loop appends to `waiting`
        for number in [*range(found.size)][:: 1 if len(pairs) < 5 else 7]:
            expected, after = found.step(state, number), late.step(pairs[state], number)
            assert expected == table.step(state, number)
            assert (expected == NO_STATE) == (after == NO_STATE)
            if expected not in pairs:
                pairs[expected] = after
                waiting.append(expected)
    states = [*pairs]
    rows = found.masks(states)
    assert (rows == late.masks([*pairs.values()])).all()
    bits = np.empty((len(states), found.size), np.bool_)
    assert (found.masks(states, out=bits).sum(axis=1) == [len(found.allowed(state)) for state in states]).all()
    for one in (tok, fst.Tokenizer(table_of("bpe automaton")), spaced(table_of("unigram"))):
        drive_canonical(draw, one, regex)
    language = whole(regex)
    assert len(intersection(language, union(language, whole("a*"))).is_final) == len(language.is_final)
    masks = Masks(found.words)
    for row in [*rows, *np.random.default_rng(draw.randrange(99)).integers(0, 1 << 32, (99, found.words), np.uint32)]:
        masks.add(row)
