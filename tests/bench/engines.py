"""Structured output in vLLM: the backend of this package and two of vLLM, in turns in one process. Needs the Python code of vLLM.

python tests/bench/engines.py FOLDER
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median
from types import SimpleNamespace
from typing import Any

import fst
from fst.runtime.compat.vllm.backend import FstBackend

ROUNDS = 15
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "mail": {"type": "string", "pattern": "^[a-z.]{1,40}@[a-z]{1,20}[.]com$"},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
    },
    "required": ["name", "age", "mail", "tags"],
    "additionalProperties": False,
}
TEXT = '{"name": "Ann Miller of Zürich", "age": 41, "mail": "ann.miller@example.com", "tags": ["red", "blue"]}'
REQUESTS = {  # the kind, the text of the request, and a text that a model writes
    "schema": ("JSON", json.dumps(PERSON), TEXT),
    "any object": ("JSON_OBJECT", "", TEXT),
    "pattern": ("REGEX", "[A-Za-z ,.]{1,400}", "It was the best of times, it was the worst of times, it was the age of wisdom."),
    "EBNF": ("GRAMMAR", 'root ::= "(" root ")" | [0-9]+ (" + " root)?', "(12 + 345 + (678 + 90))"),
}


def backends(folder: str) -> dict[str, tuple[Any, Any]]:
    """Each backend with its tokenizer."""
    from vllm.config import StructuredOutputsConfig
    from vllm.tokenizers import get_tokenizer
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend
    from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend

    fst.vllm.register()
    found = {}
    for name, kind, mode in (("fst", FstBackend, "fst"), ("xgrammar", XgrammarBackend, "hf"), ("guidance", GuidanceBackend, "hf")):
        model = SimpleNamespace(hf_config=SimpleNamespace(model_type="qwen3"))
        options = StructuredOutputsConfig(backend=name)
        config = SimpleNamespace(structured_outputs_config=options, model_config=model, speculative_config=None)
        tokenizer: Any = get_tokenizer(folder, tokenizer_mode=mode)
        found[name] = kind(config, tokenizer=tokenizer, vocab_size=-(-len(tokenizer) // 128) * 128), tokenizer
    return found


def measure(backend: Any, kind: str, request: str, ids: list[int]) -> tuple[float, list[float]]:
    """The seconds until the first mask of a request, and the seconds of each token: its mask and its step."""
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    rows = backend.allocate_token_bitmask(1)
    begin = time.perf_counter()
    grammar = backend.compile_grammar(StructuredOutputOptions[kind], request)
    grammar.fill_bitmask(rows, 0)
    first, seconds = time.perf_counter() - begin, []
    for number in ids:
        begin = time.perf_counter()
        grammar.fill_bitmask(rows, 0)
        is_accepted = grammar.accept_tokens("1", [number])
        seconds.append(time.perf_counter() - begin)
        assert is_accepted
    return first, seconds


def main(folder: str) -> None:
    """Print a line for each request and backend: the first request, and the median of a token in it and in later ones."""
    made = backends(folder)
    for backend, tokenizer in made.values():
        for kind, request in (("JSON", '{"const": 1}'), ("GRAMMAR", 'root ::= "1"')):  # work that is done once for each vocabulary
            measure(backend, kind, request, tokenizer.encode("1"))
    for name, (kind, request, text) in REQUESTS.items():
        runs: dict[str, list[tuple[float, list[float]]]] = {each: [] for each in made}
        for _ in range(ROUNDS):
            for each, (backend, tokenizer) in made.items():
                runs[each].append(measure(backend, kind, request, tokenizer.encode(text)))
        for each, found in runs.items():
            start, cold, warm = found[0][0], median(found[0][1]), median(second for _, seconds in found[1:] for second in seconds)
            print(f"{name:<12}{each:<10} first mask {start * 1e3:.2f} ms, a token {cold * 1e6:.1f} µs, later {warm * 1e6:.1f} µs")


if __name__ == "__main__":
    main(*sys.argv[1:])
