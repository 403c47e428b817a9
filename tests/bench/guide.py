"""Measure token masks, and compare with outlines-core and llguidance.

    pip install outlines-core llguidance && python tests/bench/guide.py [FOLDER] [VOCABULARY…]

FOLDER contains the vocabularies (default: the shared data). The first table contains seconds of processor time from a pattern or a schema
to all masks, including the automaton; outlines-core first turns a schema into a pattern. The second table contains µs per mask: from a
table and without a table, for 64 states in one call; canonical masks; and masks of llguidance in the same states. Two lines contain ms
from a pattern to the first mask, and ms by the clock for masks of 64 states of a new guide, by one thread and by two. Kernels are warm;
medians are over the patterns, or over rounds in turns.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from turns import in_turns

import fst
from fst.compile import tokenizer
from fst.compile.machines.guide.compiler import compile_masks
from fst.compile.machines.guide.texts import automaton_of
from fst.core.threads import VARIABLE
from fst.machines.guide.table import GuideTable
from fst.machines.guide.vocabulary import vocabulary_of

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "vocab_bpe"
PATTERNS = {
    "date": r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]",
    "mail": r"[a-z0-9._]{1,20}@[a-z0-9]{1,15}\.(com|org|net)",
    "line": r"[^\n]{1,60}",
    "words": r"([A-Z][a-z]{1,11} ){1,8}[A-Z][a-z]{1,11}\.",
    "number": r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?",
}
NAME = {"type": "string", "maxLength": 20}


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of objects with these properties and no others, because outlines-core allows no others in any schema."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


SCHEMAS: Mapping[str, Any] = {
    "person": closed(name=NAME, age={"type": "integer"}),
    "choice": {"enum": ["red", "green", "blue", "yellow", "black", "white"]},
    "point": closed(x={"type": "number"}, y={"type": "number"}, z={"type": "number"}),
    "tags": {"type": "array", "items": NAME, "minItems": 1, "maxItems": 4},
    "order": closed(id={"type": "integer"}, status={"enum": ["new", "sent"]}, paid={"type": "boolean"}, note=NAME),
}
STATES, REPEATS = 64, 50


def main() -> None:
    """Print the tables of each vocabulary."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    for name in sys.argv[2:] or ("cl100k_base", "qwen3"):
        tok = tokenizer_of(folder / name)
        print(f"\n{name}\n\n| | states | fst, s | outlines-core, s | ratio | bytes a state |\n| --- | ---: | ---: | ---: | ---: | ---: |")
        ratios = []
        for kind, source in [*PATTERNS.items(), *SCHEMAS.items()]:
            own, table = timed(partial(all_masks, tok, source))
            other, _ = timed(partial(outlines, tok, source))
            ratios.append(other / own)
            arrays = (table.mask_of, table.bases, table.flip_ends, table.flips, table.rows, table.targets)
            size = sum(array.nbytes for array in arrays) / len(table.finals)
            print(f"| {kind} | {len(table.finals):,} | {own:.3f} | {other:.2f} | {ratios[-1]:.0f}× | {size:,.0f} |", flush=True)
        print(f"| median | | | | {median(ratios):.0f}× | |")
        print_masks(tok)
        print_threads(tok)


def tokenizer_of(folder: Path) -> fst.Tokenizer:
    """The tokenizer of a folder with a tokenizer.json.gz, or with files of ``tiktoken``."""
    packed = folder / "tokenizer.json.gz"
    if not packed.exists():
        return fst.Tokenizer(tokenizer(folder))
    with TemporaryDirectory() as made:
        (Path(made) / "tokenizer.json").write_bytes(gzip.decompress(packed.read_bytes()))
        return fst.Tokenizer(tokenizer(Path(made) / "tokenizer.json"))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of processor time of the second call, and its result; a call over a second is not repeated."""
    for _ in range(2):
        begun = process_time()
        result = run()
        seconds = process_time() - begun
        if seconds > 1:
            break
    return seconds, result


def all_masks(tok: fst.Tokenizer, source: Any) -> GuideTable:
    """The masks of a pattern or of a schema."""
    return compile_masks(vocabulary_of(tok._table), automaton_of(**{"regex" if isinstance(source, str) else "schema": source})[0])


def outlines(tok: fst.Tokenizer, source: Any) -> Any:
    """The index of ``outlines-core``; its vocabulary is made once."""
    import outlines_core

    if not _vocabularies.get(id(tok)):
        known = vocabulary_of(tok._table)
        contents: dict[bytes, list[int]] = {}
        for number in range(known.size):
            if content := known.content(number):
                contents.setdefault(content, []).append(number)
        _vocabularies[id(tok)] = outlines_core.Vocabulary(known.end_id, contents)
    regex = source if isinstance(source, str) else outlines_core.json_schema.build_regex_from_schema(json.dumps(source))
    return outlines_core.Index(regex, _vocabularies[id(tok)])


_vocabularies: dict[int, Any] = {}


def llguidance_of(tok: fst.Tokenizer) -> Any:
    """The vocabulary of a byte-level tokenizer, for ``llguidance``."""
    from llguidance import LLTokenizer

    known = vocabulary_of(tok._table)
    ranks = {content: number for number in range(known.size) if (content := known.content(number))}
    known_ids = {*ranks.values()}
    special = {token: number for token, number in tok.get_vocab().items() if number not in known_ids}
    named: Any = LLTokenizer
    return named.from_tiktoken(encoder=ranks, special_tokens=special, pattern=r"\S+|\s+", eos_token=known.end_id, n_vocab=known.size)


def print_masks(tok: fst.Tokenizer) -> None:
    """Print µs for a mask, and ms from a schema to the first mask."""
    from llguidance import LLMatcher
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

    other, out = llguidance_of(tok), np.empty((STATES, vocabulary_of(tok._table).words), np.uint32)
    single = allocate_token_bitmask(1, vocabulary_of(tok._table).size)
    found: dict[str, list[float]] = {name: [] for name in ("table", "late", "canonical", "llguidance")}
    for regex in PATTERNS.values():
        stored = fst.Guide(all_masks(tok, regex))
        paths = walks(stored)
        states = [stored.advance(stored.start, path) for path in paths]
        begun = process_time()
        for _ in range(REPEATS):
            stored.masks(states, out=out)
        found["table"].append(1e6 * (process_time() - begun) / REPEATS / STATES)
        late, canonical = (fst.Guide(tok, regex=regex, canonical=which) for which in (False, True))
        at = [late.advance(late.start, path) for path in paths]
        begun = process_time()
        late.masks(at, out=out)
        found["late"].append(1e6 * (process_time() - begun) / len({*at}))
        begun = process_time()
        canonical.mask(canonical.start)
        found["canonical"].append(1e6 * (process_time() - begun))
        matcher, spent = LLMatcher(other, LLMatcher.grammar_from_regex(regex)), 0.0
        for path in paths:
            matcher.reset()
            matcher.consume_tokens(path)
            begun = process_time()
            fill_next_token_bitmask(matcher, single)
            spent += process_time() - begun
        found["llguidance"].append(1e6 * spent / len(paths))
    print("\n| µs a mask |", " | ".join(found), "|\n| --- |", "---: | " * len(found))
    print("| median of patterns |", " | ".join(f"{median(times):.1f}" for times in found.values()), "|")
    firsts = first_of, partial(first_of_llguidance, other, single)
    own, theirs = (1e3 * median(timed(partial(first, tok, regex))[0] for regex in PATTERNS.values()) for first in firsts)
    print(f"\nfirst mask of a pattern, ms: fst {own:.2f}, llguidance {theirs:.2f}")


def print_threads(tok: fst.Tokenizer) -> None:
    """Print ms by the clock for masks of different states of a new guide, by one thread and by two."""
    properties = {f"p{number}": {"type": "string", "pattern": f"^[^{chr(0x100 + number)}]{{1,20}}$"} for number in range(STATES)}
    paths = [tok.encode(f'{{"{name}": "', add_special_tokens=False) for name in properties]
    out = np.empty((STATES, vocabulary_of(tok._table).words), np.uint32)

    def milliseconds(threads: int) -> float:
        os.environ[VARIABLE] = str(threads)
        guide = fst.Guide(tok, schema={"type": "object", "properties": properties, "additionalProperties": False})
        states = [guide.advance(guide.start, path) for path in paths]
        begun = perf_counter()
        guide.masks(states, out=out)
        return 1e3 * (perf_counter() - begun)

    found = in_turns({"one": partial(milliseconds, 1), "two": partial(milliseconds, 2)})
    one, two = map(median, found.values())
    print(f"\n{STATES} masks of different states, ms by the clock: one thread {one:.2f}, two {two:.2f}, {one / two:.2f} ×")


def first_of(tok: fst.Tokenizer, regex: str) -> None:
    """Make the first mask of a pattern without a table."""
    guide = fst.Guide(tok, regex=regex)
    guide.mask(guide.start)


def first_of_llguidance(vocabulary: Any, out: Any, _: fst.Tokenizer, regex: str) -> None:
    """Make the first mask of a pattern with ``llguidance``."""
    from llguidance import LLMatcher
    from llguidance.numpy import fill_next_token_bitmask

    fill_next_token_bitmask(LLMatcher(vocabulary, LLMatcher.grammar_from_regex(regex)), out)


def walks(guide: fst.Guide) -> list[list[int]]:
    """Random ids from the start to `STATES` states."""
    draw, found = np.random.default_rng(1), list[list[int]]()
    while len(found) < STATES:
        state, path = guide.start, list[int]()
        for _ in range(int(draw.integers(0, 6))):
            allowed = guide.allowed(state)
            allowed = allowed[allowed != guide.end_id]
            if len(allowed):
                path.append(int(draw.choice(allowed)))
                state = guide.step(state, path[-1])
        found.append(path)
    return found


if __name__ == "__main__":
    main()
