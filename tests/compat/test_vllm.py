"""The plugin for vLLM, called by vLLM's own Python code; no model runs."""

from __future__ import annotations

import json
import logging
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.compat.engines import END, ENDS, MODEL_SIZE, SCHEMA, bools_of, engine
from support.compat.transformers import Two, library

import fst

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the engine
TAGS = {"structures": [{"begin": "<call>", "schema": SCHEMA, "end": "</call>"}], "triggers": ["<call"]}
# Kinds of requests, their texts, and a text that is allowed.
REQUESTS = (
    ("JSON", json.dumps(SCHEMA), '{"name": "Zoë",\n "age": 12, "tags":["red", null]}'),
    ("JSON_OBJECT", "", '{"a": [1, true, null, {"b": "ü"}]}'),
    ("REGEX", "[a-z]{3,7}(-[0-9]+)?", "hello-12"),
    ("CHOICE", json.dumps(["yes", "no", "maybe not"]), "maybe not"),
    ("GRAMMAR", 'root ::= "(" root ")" | [0-9]+', "((12))"),
    ("GRAMMAR", 'start: "(" start ")" | /[0-9]+/', "((12))"),
    ("STRUCTURAL_TAG", json.dumps(TAGS), 'so <call>{"name": "a", "age": 1}</call>, yes'),
)
EQUAL = ("JSON", "JSON_OBJECT", "REGEX", "CHOICE")  # kinds for which xgrammar has the same masks
DEEP: Any = reduce(lambda inner, _: {"items": inner}, range(9999), dict[str, Any]())
REFUSED: tuple[dict[str, Any], ...] = (
    *({"json": "{"}, {"json": "[" * 9999}, {"regex": "("}, {"choice": []}, {"grammar": " "}),
    *({"json_object": False}, {"structural_tag": "{}"}, {"json": DEEP}),
)


@pytest.fixture(scope="module")
def both(model: Path) -> Any:
    """The tokenizers of the modes ``hf`` and ``fst``."""
    engine("vllm")
    from vllm.tokenizers import get_tokenizer

    fst.vllm.register()
    return tuple(get_tokenizer(str(model), tokenizer_mode=mode) for mode in ("hf", "fst"))


def config_of(name: str) -> Any:
    """The parts of vLLM's configuration that backends read."""
    from vllm.config import StructuredOutputsConfig

    options = {"is_diffusion": False, "skip_tokenizer_init": True, "hf_config": SimpleNamespace(model_type="gpt2")}
    return SimpleNamespace(
        structured_outputs_config=StructuredOutputsConfig(backend=name),
        model_config=SimpleNamespace(**options, get_vocab_size=lambda: MODEL_SIZE),
        parallel_config=SimpleNamespace(distributed_executor_backend="external_launcher"),
        scheduler_config=SimpleNamespace(max_num_seqs=4),
        speculative_config=SimpleNamespace(num_speculative_tokens=100),
        num_speculative_tokens=2,
    )


def backends(both: Any) -> dict[str, Any]:
    """The backend ``fst``, and two backends of vLLM."""
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend
    from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend

    from fst.runtime.compat.vllm.backend import FstBackend

    own, other = both
    others = {"xgrammar": XgrammarBackend, "guidance": GuidanceBackend}
    made = {name: kind(config_of(name), tokenizer=own, vocab_size=MODEL_SIZE) for name, kind in others.items()}
    return {**made, "fst": FstBackend(config_of("fst"), other, MODEL_SIZE)}


def mask_of(backend: Any, grammar: Any) -> Any:
    """The ids that a grammar allows."""
    rows = backend.allocate_token_bitmask(2)
    grammar.fill_bitmask(rows, 1)
    assert (rows[0] == -1).all()
    return bools_of(rows[1].numpy())


def options(kind: str) -> Any:
    """The kind of a request."""
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    return StructuredOutputOptions[kind]


def test_mode_gives_the_tokens_of_mode_hf(both: Any) -> None:
    """Ids, chats, decoded texts and settings are those of the mode ``hf``."""
    own, other = both
    for text in ("Zoë is 12, naïve 中文 🙂", "<|im_start|>user\n<|im_end|>", ""):
        assert other.encode(text) == own.encode(text)
        assert other(text, add_special_tokens=False)["input_ids"] == own(text, add_special_tokens=False)["input_ids"]
        assert other.decode(own.encode(text)) == own.decode(own.encode(text))
    chat = [{"role": "user", "content": "hello"}]
    assert other.apply_chat_template(chat, tokenize=False) == own.apply_chat_template(chat, tokenize=False)
    for name in ("truncation_side", "max_token_id", "max_chars_per_token", "all_special_ids", "is_fast", "eos_token_id"):
        assert getattr(other, name) == getattr(own, name)


def streamed(tokenizer: Any, prompt: list[int], ids: list[int], **params: Any) -> tuple[list[str], str, list[int], str | None]:
    """The parts of a text that are shown one by one, the whole text, its ids, and the stop string."""
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer

    made = SamplingParams(**params)
    request = SimpleNamespace(request_id="1", sampling_params=made, prompt_token_ids=prompt, prompt_embeds=None)
    found: Any = IncrementalDetokenizer.from_new_request(tokenizer, request)
    shown, stop = [], None
    for number in ids:
        stop = found.update([number], False)
        shown.append(found.get_next_output_text(stop is not None, True))
        if stop is not None:
            break
    return shown, found.output_text, found.output_token_ids, stop


@pytest.mark.parametrize("is_fast", [False, True])
def test_streamed_text_is_that_of_mode_hf(is_fast: bool, both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detokenizer shows the text of vLLM's detokenizer in Rust, never later, and with the same stops; also if vLLM treats every
    tokenizer as a fast one.
    """
    from vllm.v1.engine import detokenizer

    if is_fast:
        monkeypatch.setattr(detokenizer, "uses_fast_detokenizer", lambda _tokenizer: True)
    own, other = both
    draw = np.random.default_rng(1)
    texts = ("Zoë 中文 🧑‍🚀 naïve\n\n  code()  ", "<|im_start|>user\nhi<|im_end|><|im_end|>\n<|im_start|>", "a  b é" * 3)
    for _ in range(40):
        ids = own.encode(texts[draw.integers(3)] * 2)
        ids = draw.integers(0, len(own), 20).tolist() if draw.random() < 0.3 else ids
        cut = int(draw.integers(1, len(ids)))
        if "\ufffd" in own.decode(ids[:cut])[-1:]:
            continue  # vLLM then shows the text of the prompt, too
        skip, joined, included = (draw.random() < 0.5 for _ in range(3))
        stop = [None, ["code"], ["b", "hi"]][draw.integers(3)]
        params = {"skip_special_tokens": skip, "spaces_between_special_tokens": joined, "stop": stop}
        params["include_stop_str_in_output"] = included
        first, second = (streamed(each, ids[:cut], ids[cut:], **params) for each in (own, other))
        assert second[2:] == first[2:]
        assert second[1].rstrip("\ufffd") == first[1].rstrip("\ufffd")  # bytes that are no character are shown at once
        assert all("".join(second[0][:count]).startswith("".join(first[0][:count])) for count in range(len(first[0])))


def test_other_tokenizers_keep_their_detokenizer(both: Any) -> None:
    """The plugin changes nothing for tokenizers of other modes."""
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer, IncrementalDetokenizer

    request: Any = SimpleNamespace(request_id="1", sampling_params=SamplingParams(), prompt_token_ids=[5], prompt_embeds=None)
    assert type(IncrementalDetokenizer.from_new_request(both[0], request)) is FastIncrementalDetokenizer
    assert type(IncrementalDetokenizer.from_new_request(None, request)) is IncrementalDetokenizer


def test_texts_without_a_stream_are_decoded_as_before(two: Two) -> None:
    """If the text of a token depends on its neighbours, as in WordPiece, vLLM's detokenizer in Python decodes the ids."""
    engine("vllm")
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer, SlowIncrementalDetokenizer

    fst.vllm.register()
    ids = two.own.encode("unaffable wolfgang", add_special_tokens=False)
    request: Any = SimpleNamespace(request_id="1", sampling_params=SamplingParams(), prompt_token_ids=ids[:1], prompt_embeds=None)
    assert type(IncrementalDetokenizer.from_new_request(two.other, request)) is SlowIncrementalDetokenizer
    assert streamed(two.other, ids[:1], ids[1:])[1] == streamed(two.own, ids[:1], ids[1:])[1]


@pytest.mark.parametrize("engine_name", ["xgrammar", "guidance"])
@pytest.mark.parametrize(("kind", "text", "written"), REQUESTS, ids=[kind for kind, *_ in REQUESTS])
def test_masks_are_those_of_other_backends(engine_name: str, kind: str, text: str, written: str, both: Any) -> None:
    """Texts are accepted, and the mask before each token contains that of the other backend; for most kinds, it equals xgrammar's."""
    made = backends(both)
    ends = ENDS if engine_name == "xgrammar" else {END}  # guidance uses only the end_id of the tokenizer
    grammars = {name: made[name].compile_grammar(options(kind), text, ends) for name in ("fst", engine_name)}
    for number in [*both[0].encode(written), END]:
        own, other = (mask_of(made[name], grammar) for name, grammar in grammars.items())
        if engine_name == "xgrammar" and kind in EQUAL:
            np.testing.assert_array_equal(own, other)
        elif kind != "STRUCTURAL_TAG":
            assert not (other & ~own).any()
        assert own[number]
        assert [grammar.accept_tokens("1", [number]) for grammar in grammars.values()] == [True, True]
    assert all(grammar.is_terminated() for grammar in grammars.values())


@pytest.mark.parametrize("kind", EQUAL)
def test_steps_are_those_of_xgrammar(kind: str, both: Any) -> None:
    """Random tokens, allowed or not, are accepted, validated and taken back as by vLLM's backend with xgrammar; JSON is valid."""
    made, draw = backends(both), np.random.default_rng(7)
    before_surrogates = both[0].convert_tokens_to_ids("í")  # the byte 0xED, after which xgrammar allows bytes that are not UTF-8
    text = next(text for name, text, _ in REQUESTS if name == kind)
    own, other = (made[name].compile_grammar(options(kind), text, ENDS) for name in ("fst", "xgrammar"))
    for _ in range(6):
        written = list[int]()
        while not own.is_terminated() and len(written) < 90:
            mask = mask_of(made["fst"], own)
            np.testing.assert_array_equal(mask, mask_of(made["xgrammar"], other))
            allowed = np.setdiff1d(np.flatnonzero(mask), [before_surrogates])
            ends = [number for number in allowed.tolist() if number in ENDS]
            number = ends[0] if ends and draw.random() < 0.3 else int(draw.choice(allowed))
            tried = [number, *draw.choice(np.setdiff1d(np.arange(MODEL_SIZE), [before_surrogates]), 2).tolist()]
            assert own.validate_tokens(tried) == other.validate_tokens(tried)
            assert own.accept_tokens("1", [number])
            assert other.accept_tokens("1", [number])
            written.append(number)
            if draw.random() < 0.2:
                back = int(draw.integers(1, len(written) + 1))
                own.rollback(back)
                other.rollback(back)
                del written[len(written) - back :]
            assert own.is_terminated() == other.is_terminated()
        if own.is_terminated() and kind == "JSON":
            library("jsonschema").validate(json.loads(both[0].decode(written[:-1])), SCHEMA)
        own.reset()
        other.reset()


def request_of(both: Any, **structured: Any) -> Any:
    """A request after the checks of vLLM's front end."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.structured_output.request import StructuredOutputRequest

    params = SamplingParams(structured_outputs=StructuredOutputsParams(**structured))
    config = config_of("fst")
    params._validate_structured_outputs(config.model_config, config.structured_outputs_config, both[1])
    params._all_stop_token_ids = ENDS
    made = StructuredOutputRequest.from_sampling_params(params)
    return SimpleNamespace(request_id="1", sampling_params=params, structured_output_request=made, use_structured_output=True)


def test_manager_runs_the_backend(both: Any) -> None:
    """The manager of vLLM makes the backend, fills rows for drafts, and accepts and validates tokens."""
    engine("vllm")
    from vllm.v1.structured_output import StructuredOutputManager
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    from fst.runtime.compat.vllm.backend import FstBackend, FstGrammar

    manager: Any = StructuredOutputManager(config_of("fst"))
    manager.tokenizer = both[1]
    requests = {"1": request_of(both, choice=["yes", "no"]), "2": request_of(both, json=SCHEMA), "3": request_of(both, regex="[0-9]+")}
    for request in requests.values():
        manager.grammar_init(request)
    assert isinstance(manager.backend, StructuredOutputBackend)
    grammars = {name: request.structured_output_request.grammar for name, request in requests.items()}
    assert all(isinstance(grammar, StructuredOutputGrammar) for grammar in grammars.values())
    assert StructuredOutputBackend.__abstractmethods__ <= {*vars(FstBackend)}
    assert StructuredOutputGrammar.__abstractmethods__ <= {*vars(FstGrammar)}
    drafts = {"3": both[0].encode("12")[:2]}
    found = manager.grammar_bitmask(requests, [*requests], drafts)
    assert found.shape == (9, -(-MODEL_SIZE // 32))
    for row, name in ((0, "1"), (3, "2"), (6, "3")):
        np.testing.assert_array_equal(bools_of(found[row]), mask_of(manager.backend, grammars[name]))
    assert bools_of(found[7])[[*ENDS]].all()
    assert not bools_of(found[6])[[*ENDS]].any()
    assert manager.accept_tokens(requests["1"], [*both[0].encode("yes"), 2, 2])
    assert not manager.accept_tokens(requests["3"], both[0].encode("a"))
    assert manager.validate_tokens(requests["3"], [*both[0].encode("1"), -1, -1]) == both[0].encode("1")


@pytest.mark.parametrize("structured", REFUSED, ids=[*map("".join, REFUSED)])
def test_wrong_requests_are_refused(structured: Any, both: Any) -> None:
    """A malformed request raises vLLM's error for wrong requests before it reaches the engine."""
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError):
        request_of(both, **structured)


def test_other_backends_are_checked_as_before(both: Any) -> None:
    """Requests for other backends, or without structured output, pass through vLLM's own checks."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    config = config_of("xgrammar")
    params = SamplingParams(structured_outputs=StructuredOutputsParams(json=SCHEMA))
    params._validate_structured_outputs(config.model_config, config.structured_outputs_config, both[0])
    assert params.structured_outputs is not None
    assert params.structured_outputs._backend == "xgrammar"
    SamplingParams()._validate_structured_outputs(config.model_config, config_of("fst").structured_outputs_config, both[0])
    with pytest.raises(ValueError, match="Input should be"):
        config_of("first")


def test_other_versions_get_a_warning(both: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A part whose interface is missing in this version of vLLM is left out, with a warning that contains its name."""
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer

    monkeypatch.delattr(SamplingParams, "_validate_structured_outputs")
    monkeypatch.setattr(IncrementalDetokenizer, "from_new_request", classmethod(lambda _cls, tokenizer: tokenizer))
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    with caplog.at_level(logging.WARNING):
        fst.vllm.register.__wrapped__()
    messages = [record.getMessage() for record in caplog.records if record.name == "vllm.fst"]
    assert len(messages) == len(both)
    assert "detokenizer 'fst' is left out" in messages[0]
    assert "takes tokenizer; expected tokenizer, request" in messages[0]
    assert "_validate_structured_outputs" in messages[1]
