"""The common part of the adapters for inference engines, without an engine."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive import matcher as naive

import fst
from fst.compile import tokenizer
from fst.runtime.compat.engines.grammars import Grammars
from fst.runtime.compat.engines.matcher import Matcher, fill_rows

NAMES = ("<unk>", "</s>", "a", "b", "ab", "c", "<|eot|>", "{", "}", '"a":', "1", " ")
SPECIAL = {1: "</s>", 6: "<|eot|>"}
TEXTS = ("ab", "abc", "aab", "bbbb", "cabab", "")
ENDS: tuple[set[int] | None, ...] = (None, {1}, {1, 6}, {6}, {5}, {1, 5})  # 5 writes "c"
WORDS = 2  # more than the tokens need
STEPS = ("accept", "accept", "validate", "rollback", "reset")
IDS = st.integers(-1, len(NAMES) + 40)


@pytest.fixture(scope="module")
def tok(tmp_path_factory: pytest.TempPathFactory) -> fst.Tokenizer:
    """A tokenizer whose tokens are joined without spaces, with two special tokens."""
    path = tmp_path_factory.mktemp("engines") / "tokenizer.json"
    document = {
        "added_tokens": [{"id": number, "content": content, "special": True} for number, content in SPECIAL.items()],
        "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}]},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [[name, -1.0] for name in NAMES]},
    }
    path.write_text(json.dumps(document))
    return fst.Tokenizer(tokenizer(path))


@pytest.fixture(scope="module")
def guide(tok: fst.Tokenizer) -> fst.Guide:
    """The guide of `TEXTS`."""
    return fst.Guide(tok, choice=TEXTS)


@given(
    ends=st.sampled_from(ENDS),
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.lists(IDS, max_size=4)), max_size=12),
    guided=st.randoms(use_true_random=False),
)
def test_matchers_equal_the_naive_one(ends: set[int] | None, steps: list[tuple[str, list[int]]], guided: Any, guide: fst.Guide) -> None:
    """After any tokens, right or wrong, and any steps back, a matcher allows exactly the tokens after which some text is possible."""
    tokens = [None if number in SPECIAL else name for number, name in enumerate(NAMES)]
    tokens[0] = None  # the unknown token
    own, other = Matcher(guide, ends), naive.Matcher(TEXTS, tokens, ends or {1})
    for step, ids in steps:
        if allowed := other.allowed():
            ids = [guided.choice(allowed), *ids]  # so that texts become long
        count = other.validate(ids)
        if step == "accept":
            assert own.accept(ids) == count
            other.ids += ids[:count]
        elif step == "validate":
            assert own.validate(ids) == count
        elif step == "reset":
            own.reset()
            other.ids.clear()
        else:
            back = min(len(ids), len(other.ids))
            own.rollback(back)
            del other.ids[len(other.ids) - back :]
        assert own.has_ended == any(number in other.ends for number in other.ids)
        assert own.allowed().tolist() == (other.allowed() if not own.has_ended else sorted(other.ends))
        forced = other.forced()
        assert own.forced() == (forced if other.ends <= {*SPECIAL} else forced[: len(own.forced())])


def test_rows_are_filled_in_one_call(tok: fst.Tokenizer, guide: fst.Guide) -> None:
    """One call writes the masks of texts of several guides into their rows; other rows are unchanged."""
    digits = fst.Guide(tok, regex="1*")
    matchers = [Matcher(guide), Matcher(digits, {6}), Matcher(guide, {1, 6}), Matcher(digits)]
    for matcher, ids in zip(matchers, ([4], [10, 6], [4, 1], [10]), strict=True):
        assert matcher.accept(ids) == len(ids)
    places = [5, 0, 3, 2]
    rows, singly = np.full((7, WORDS), -1, np.int32), np.full((7, WORDS), -1, np.int32)
    fill_rows([*zip(matchers, places, strict=True)], rows)
    for matcher, place in zip(matchers, places, strict=True):
        matcher.fill(singly, place)
    np.testing.assert_array_equal(rows, singly)
    assert (rows[[1, 4, 6]] == -1).all()
    assert rows[[0, 2, 3, 5], 0].tolist() == [1 << 6, 1 << 1 | 1 << 10, 1 << 1 | 1 << 6, 1 << 1 | 1 << 5]
    assert not rows[places, 1].any()


def test_wrong_uses_of_a_matcher(guide: fst.Guide) -> None:
    """`rollback` of more tokens than the text has, and a text without an end, are errors."""
    matcher = Matcher(guide)
    matcher.accept([2])
    with pytest.raises(ValueError, match="is 2; expected 0 to 1"):
        matcher.rollback(2)
    assert len(matcher.forced()) == 0
    with pytest.raises(ValueError, match="no token ends texts"):
        Matcher(fst.Guide(fst.compile.wordpiece(["[UNK]", "a"]), choice=["a"]))


REQUESTS = (
    ("json", '{"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": false}', '{ "a":1 }'),
    ("json_object", "", '{ "a": 1}'),
    ("regex", "[ab]+1", "aab1"),
    ("choice", '["ab", "c"]', "ab"),
    ("grammar", 'root ::= "a" root "b" | "1"', "aa1bb"),
    ("grammar", 'start: "a" start "b" | "1" // ::=\n', "aa1bb"),
    ("structural_tag", '{"triggers": ["{"], "structures": [{"begin": "{", "schema": {"const": 1}, "end": "}"}]}', "a{1}b"),
    ("structural_tag", '{"type": "structural_tag", "format": {"type": "const_string", "value": "ab"}}', "ab"),
)


@pytest.mark.parametrize(("kind", "text", "written"), REQUESTS)
def test_requests_have_guides(kind: str, text: str, written: str, tok: fst.Tokenizer) -> None:
    """Every kind of request has a guide, which allows a text of the request and then its end; equal requests share it."""
    grammars = Grammars(tok)
    matcher = Matcher(grammars.guide(kind, text))
    ids = tok.encode(written, add_special_tokens=False).tolist()
    assert matcher.accept([*ids, 1]) == len(ids) + 1
    assert grammars.guide(kind, text) is matcher.guide


def test_wrong_requests_are_errors(tok: fst.Tokenizer) -> None:
    """A malformed request, also a long or a deep one, raises an error of this package or a ValueError."""
    grammars, deep = Grammars(tok), 10_000
    wrong = [("json", "{"), ("choice", "[]"), ("choice", "a"), ("grammar", "a"), ("regex", "("), ("structural_tag", "[]"), ("unknown", "")]
    wrong += [("json", '{"items":' * deep), ("structural_tag", '{"format":' * deep), ("json", "[" * deep), ("grammar", "a\n" * 10 * deep)]
    for kind, text in wrong:
        with pytest.raises((fst.FstError, ValueError)):
            grammars.guide(kind, text)
