"""The plugin for SGLang, called by SGLang's own Python code; no model runs."""

from __future__ import annotations

import json
import logging
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.compat.engines import END, ENDS, MODEL_SIZE, SCHEMA, SPECIAL, bools_of, engine

import fst
from fst.runtime.compat.sglang import plugin
from fst.runtime.compat.sglang.backend import ANY_JSON

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the engine
TAGS = {"structures": [{"begin": "<call>", "schema": None, "end": "</call>"}], "triggers": ["<call"]}
REQUESTS = (
    ("json", json.dumps(SCHEMA), '{"name": "Zoë",\n "age": 12, "tags":["red", null]}'),
    ("json", ANY_JSON, '[1, {"a": "ü"}]'),
    ("regex", "[a-z]{3,7}(-[0-9]+)?", "hello-12"),
    ("ebnf", 'root ::= "(" root ")" | [0-9]+', "((12))"),
    ("structural_tag", json.dumps(TAGS), 'so <call>{"name": 1}</call>, yes'),
)
SERVING = {
    "constrained_json_disable_any_whitespace": False,
    "constrained_json_max_whitespace_cnt": None,
    "constrained_json_whitespace_pattern": None,
    "reasoning_parser": None,
    "enable_strict_thinking": False,
}


@pytest.fixture(scope="module")
def own(model: Path) -> Any:
    """The tokenizer of `transformers`."""
    engine("sglang.srt.constrained.base_grammar_backend")
    from transformers import AutoTokenizer

    fst.sglang.register()
    return AutoTokenizer.from_pretrained(model)


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The options of a server that grammar backends read."""
    engine("sglang.srt.constrained.base_grammar_backend")
    from sglang.srt import runtime_context
    from sglang.srt.constrained import base_grammar_backend

    found = SimpleNamespace(**SERVING)
    execution = SimpleNamespace(kernel=SimpleNamespace(grammar_backend="fst"))
    for module in (runtime_context, base_grammar_backend):
        monkeypatch.setattr(module, "get_serving", lambda: found)
        monkeypatch.setattr(module, "get_exec", lambda: execution)
    return found


def made_by(own: Any) -> Any:
    """The backend that SGLang makes for the name ``fst``."""
    from sglang.srt.constrained.base_grammar_backend import create_grammar_backend

    return create_grammar_backend(SimpleNamespace(), fst.hf(own), MODEL_SIZE, ENDS)


def mask_of(grammar: Any) -> Any:
    """The ids that a grammar allows."""
    rows = grammar.allocate_vocab_mask(MODEL_SIZE, 2, "cpu")
    grammar.fill_vocab_mask(rows, 1)
    assert (rows[0] == -1).all()
    return bools_of(rows[1].numpy())


@pytest.mark.parametrize(("kind", "text", "written"), REQUESTS, ids=[kind for kind, *_ in REQUESTS])
def test_masks_are_those_of_xgrammar(kind: str, text: str, written: str, own: Any, serving: SimpleNamespace) -> None:
    """Texts are accepted, and for JSON Schemas and patterns, the mask before each token is that of SGLang's backend with xgrammar."""
    from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend

    assert serving.reasoning_parser is None
    other_backend = XGrammarGrammarBackend(own, vocab_size=MODEL_SIZE, model_eos_token_ids=[*ENDS])
    grammar, other = (made._init_value_dispatch((kind, text), False).copy() for made in (made_by(own), other_backend))
    for number in [*own.encode(written), END]:
        first, second = mask_of(grammar), mask_of(other)
        if text != ANY_JSON and kind in ("json", "regex"):
            assert (np.flatnonzero(first != second) == SPECIAL.index("<|im_start|>")).all()  # xgrammar allows this special token as text
        assert first[number]
        grammar.accept_token(number)
        other.accept_token(number)
        assert grammar.is_terminated() == other.is_terminated()
    grammar.rollback(2)
    other.rollback(2)
    assert mask_of(grammar)[own.encode(written)[-1]]
    grammar.accept_token(own.encode(written)[-1])
    with pytest.raises(ValueError, match="token 1 is not allowed after <Matcher after"):
        grammar.accept_token(1)


def test_rows_of_a_batch(own: Any, serving: SimpleNamespace) -> None:
    """One call fills the rows of several texts, also if a reasoning parser contains some of them; other rows are unchanged."""
    from sglang.srt.constrained.base_grammar_backend import GrammarRow

    made = made_by(own)
    grammars = [made._init_value_dispatch(("regex", text), False) for text in ("[0-9]+", "yes|no", "[0-9]+")]
    grammars[2].accept_token(own.encode("1")[0])
    serving.reasoning_parser = "qwen3"
    thinking = made_by(own)._init_value_dispatch(("regex", "no"), False)
    thinking.maybe_init_reasoning(False)
    for batch in (grammars, [*grammars, thinking]):
        rows = grammars[0].allocate_vocab_mask(MODEL_SIZE, 6, "cpu")
        places = [4, 0, 1, 3][: len(batch)]
        entries = [GrammarRow(row, grammar) for row, grammar in zip(places, batch, strict=True)]
        grammars[0].fill_vocab_mask_batched(entries, rows)
        for place, grammar in zip(places, batch, strict=True):
            np.testing.assert_array_equal(bools_of(rows[place].numpy()), mask_of(getattr(grammar, "grammar", grammar)))
        assert (rows[[2, 5]] == -1).all()
    grammars[0].reset_vocab_mask(rows)
    assert (rows == -1).all()


def test_jumps(own: Any, serving: SimpleNamespace) -> None:
    """If only one text is possible, its tokens are found; tokens are replaced by others of the same text."""
    assert not serving.enable_strict_thinking
    made = made_by(own)
    grammar = made._init_value_dispatch(("regex", "(yes|no)"), False)
    assert grammar.try_jump_forward(own) is None
    letters = [own.convert_tokens_to_ids(letter) for letter in "yes"]
    grammar.accept_token(letters[0])
    grammar.jump_and_retokenize(letters[:1], letters[:2], -1)
    jump = grammar.try_jump_forward(own)
    assert jump == (letters[2:], "")
    assert grammar.jump_forward_str_state(jump) == ("", -1)
    with pytest.raises(ValueError, match=r"not all of the tokens .* are allowed; the text is now <Matcher after"):
        grammar.jump_and_retokenize(letters[:2], [letters[1]], -1)


def test_wrong_requests_are_invalid(own: Any, serving: SimpleNamespace) -> None:
    """A malformed request becomes an `InvalidGrammarObject` of SGLang, with a message."""
    from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

    assert serving.reasoning_parser is None
    made = made_by(own)
    for kind, text in (("json", "{"), ("regex", "("), ("ebnf", "root ::= other"), ("structural_tag", "[]"), ("structural_tag", "{}")):
        found = made._init_value_dispatch((kind, text), False)
        assert isinstance(found, InvalidGrammarObject)
        assert found.error_message


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({}, {"[1", "[ 1", "[  \n1"}),
        ({"constrained_json_disable_any_whitespace": True}, {"[1"}),
        ({"constrained_json_max_whitespace_cnt": 1}, {"[1", "[ 1"}),
        ({"constrained_json_whitespace_pattern": "[ ]{2}"}, set()),
    ],
)
def test_whitespace_follows_the_options(options: dict[str, Any], allowed: set[str], own: Any, serving: SimpleNamespace) -> None:
    """The server's options determine the whitespace of JSON."""
    vars(serving).update(options)
    found = set()
    for text in ("[1", "[ 1", "[  \n1"):
        grammar = made_by(own)._init_value_dispatch(("json", ANY_JSON), False)
        ids = own.encode(text)
        if grammar.matcher.validate(ids) == len(ids):
            found.add(text)
    assert found == allowed


def test_tokenizer_backend(model: Path, own: Any) -> None:
    """The tokenizer backend returns the ids and the decoded texts of the tokenizer that SGLang loads; other backends are not changed."""
    tokenizers = engine("sglang.srt.utils.hf_transformers.tokenizer")
    from sglang.srt.plugins.hook_registry import HookRegistry

    HookRegistry.apply_hooks()
    other, plain = (tokenizers.get_tokenizer(str(model), tokenizer_backend=name) for name in ("fst", "huggingface"))
    assert isinstance(other.fst, fst.Tokenizer)
    assert not hasattr(plain, "fst")
    assert other.additional_stop_token_ids == plain.additional_stop_token_ids
    rows = [own.encode(text) for text in ("Zoë is 12 🙂", "<|im_start|>a<|im_end|>", "")]
    assert [other.encode(own.decode(ids)) for ids in rows] == rows
    options = {"skip_special_tokens": True, "spaces_between_special_tokens": False}
    assert other.batch_decode(rows, **options) == plain.batch_decode(rows, **options)


def test_names_are_choices(own: Any) -> None:
    """`fst` is a value of both options of SGLang."""
    assert own is not None
    from sglang.srt.server_args import ServerArgs

    parser = ArgumentParser()
    ServerArgs.add_cli_args(parser)
    found = parser.parse_args(["--model-path", "m", "--tokenizer-backend", "fst", "--grammar-backend", "fst"])
    assert (found.tokenizer_backend, found.grammar_backend) == ("fst", "fst")


def test_other_versions_get_a_warning(own: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A part whose interface is missing in this version of SGLang is left out, with a warning that contains its name."""
    assert own is not None
    from sglang.srt import server_args

    monkeypatch.delattr(server_args, "add_grammar_backend_choices")
    monkeypatch.delitem(server_args.ServerArgs.__annotations__, "tokenizer_backend")
    with caplog.at_level(logging.WARNING):
        plugin.register.__wrapped__()
    messages = [record.getMessage() for record in caplog.records if record.name == "sglang.fst"]
    assert "tokenizer backend 'fst' is left out" in messages[0]
    assert "add_grammar_backend_choices" in messages[1]
