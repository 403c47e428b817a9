"""The engines of token masks that `maskbench.py` compares, and the worker that it runs in a separate process for each engine.

An engine makes a *guide* of a schema or a grammar, a JSON text or the text of a grammar in Lark's syntax. A guide follows one text at a
time: `fill` writes the mask at the current position into `bits`, and `take` reads a token.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import process_time
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

TOKENS, RUN = 1_000, 50  # tokens before memory is measured; tokens of a random walk from the start of the text
SCHEMA, GRAMMAR = "schema", "grammar"
# Throw-away schemas: the first one loads an engine's code; all of them load the kernels of this package.
WARM: Sequence[Any] = (
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number", "minimum": 1, "maximum": 12}, "minItems": 2}},
    {"anyOf": [{"enum": ["a", "b", 1]}, {"type": "string", "minLength": 3, "maxLength": 300}, {"type": "string", "pattern": "^a+b"}]},
    {"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}}, {"type": ["null", "boolean"]}], "not": {"const": None}},
    {},
)
WARM_GRAMMAR = 'start: (list | NAME)+\nlist: "[" [start ("," start)*] "]"\nNAME: /[a-z]+/ | "1".."9"\n%ignore " "'
TEXTS = (b'{"a": 1}', b'{"b": [1, 2, 3], "a": [3, 4]}', b'"aab"', b'{"kind": "a", "b": {"c": [null, 1.5e3, "x"]}}', b'["\\u00e9", 1]')


class Vocabulary(NamedTuple):
    """The tokens of a tokenizer, the same for all engines.

    Attributes:
        contents: the bytes of each token; empty for a special token and for a number that is no id.
        special: the special tokens, by name.
        end_id: the token that ends a text.
        table: the path of the tokenizer's compiled table.
        source: the text of the tokenizer's ``tokenizer.json``; empty if it has none.
        pattern: the pattern of a tokenizer without this file.
    """

    contents: list[bytes]
    special: dict[str, int]
    end_id: int
    table: str
    source: str = ""
    pattern: str = r"\S+|\s+"

    @property
    def words(self) -> int:
        """The number of 32-bit words of a mask."""
        return -(-len(self.contents) // 32)


class Guide(Protocol):
    """The masks of a schema or a grammar, along one text at a time."""

    def begin(self) -> None:
        """Go back to the start of the text."""

    def fill(self) -> None:
        """Write the mask at the current position into the engine's `bits`."""

    def take(self, token: int) -> bool:
        """Read a token that the mask allows; False if the engine refuses it."""

    def fault(self) -> str:
        """The error for which the last mask is empty, such as a limit of the engine; empty if there is none."""


class Engine(Protocol):
    """An engine with a vocabulary.

    Attributes:
        bits: uint32[words], the mask that guides fill.
    """

    bits: NDArray[np.uint32]

    def start(self) -> None:
        """Prepare the vocabulary for guides; once for each tokenizer."""

    def guide(self, kind: str, source: str) -> Guide:
        """The guide of a schema or a grammar."""


class Own:
    """Guides of this package, without tables.

    Args:
        vocabulary: the tokens.
        order: the order of properties, "any" or "schema"; it has no effect on a version without this option.
    """

    def __init__(self, vocabulary: Vocabulary, order: str) -> None:
        import fst

        self._tok, self.bits = fst.Tokenizer.load(vocabulary.table), np.zeros(vocabulary.words, np.uint32)
        known = inspect.signature(fst.Guide.__init__).parameters
        self._options = {"end_id": vocabulary.end_id}
        self._of_schema = {"order": order} if "order" in known and order != "schema" else {}
        self._guide: Any = fst.Guide

    def start(self) -> None:
        """See `Engine.start`; the first guide does it."""

    def guide(self, kind: str, source: str) -> Guide:
        """See `Engine.guide`."""
        if kind == SCHEMA:
            return OwnGuide(self._guide(self._tok, schema=source, **self._of_schema, **self._options), self.bits)
        return OwnGuide(self._guide(self._tok, grammar=source, syntax="lark", **self._options), self.bits)


class OwnGuide:
    """See `Guide`."""

    def __init__(self, guide: Any, bits: NDArray[np.uint32]) -> None:
        self._guide, self._state, self._out = guide, np.array([guide.start]), bits[None]

    def begin(self) -> None:
        """See `Guide.begin`."""
        self._state[0] = self._guide.start

    def fill(self) -> None:
        """See `Guide.fill`."""
        self._guide.masks(self._state, out=self._out)

    def take(self, token: int) -> bool:
        """See `Guide.take`."""
        self._state[0] = after = self._guide.step(int(self._state[0]), token)
        return bool(after >= 0)

    def fault(self) -> str:
        """See `Guide.fault`."""
        return ""


class LlGuidance:
    """Matchers of llguidance.

    Args:
        vocabulary: the tokens.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._tokenizer = vocabulary, None
        self.bits = np.zeros(vocabulary.words, np.uint32)
        self._ranks = {content: number for number, content in enumerate(vocabulary.contents) if content}

    def start(self) -> None:
        """See `Engine.start`."""
        from llguidance import LLTokenizer

        named: Any = LLTokenizer
        given: dict[str, Any] = {"n_vocab": len(self._vocabulary.contents), "eos_token": self._vocabulary.end_id}
        if self._vocabulary.source:
            self._tokenizer = named(self._vocabulary.source, **given)
        else:
            special, pattern = self._vocabulary.special, self._vocabulary.pattern
            self._tokenizer = named.from_tiktoken(encoder=self._ranks, special_tokens=special, pattern=pattern, **given)

    def guide(self, kind: str, source: str) -> Guide:
        """See `Engine.guide`."""
        from llguidance import LLMatcher

        named: Any = LLMatcher
        grammar = (named.grammar_from_json_schema if kind == SCHEMA else named.grammar_from_lark)(source)
        matcher = named(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return LlGuidanceGuide(matcher, self.bits)


class LlGuidanceGuide:
    """See `Guide`."""

    def __init__(self, matcher: Any, bits: NDArray[np.uint32]) -> None:
        self._matcher = matcher
        self.begin, self.take, self.fault = matcher.reset, matcher.consume_token, matcher.get_error
        self.fill: Callable[[], None] = partial(matcher.unsafe_compute_mask_ptr, bits.ctypes.data, bits.nbytes)


class XGrammar:
    """Matchers of xgrammar, on one thread, with any whitespace and with other properties where the schema allows them.

    Args:
        vocabulary: the tokens.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self._vocabulary, self._module = vocabulary, xgrammar
        self._compiler: Any = None
        self.bits = np.zeros(vocabulary.words, np.uint32)
        self._tensor = torch.from_numpy(self.bits.view(np.int32)[None])

    def start(self) -> None:
        """See `Engine.start`."""
        kind, size = self._module.VocabType.RAW, len(self._vocabulary.contents)
        end_id = self._vocabulary.end_id
        known = self._module.TokenizerInfo(self._vocabulary.contents, kind, vocab_size=size, stop_token_ids=[end_id])
        self._compiler = self._module.GrammarCompiler(known, max_threads=1, cache_enabled=False)

    def guide(self, kind: str, source: str) -> Guide:
        """See `Engine.guide`."""
        make = self._compiler.compile_lark if kind == GRAMMAR else partial(self._compiler.compile_json_schema, strict_mode=False)
        return XGrammarGuide(self._module.GrammarMatcher(make(source)), self._tensor)


class XGrammarGuide:
    """See `Guide`."""

    def __init__(self, matcher: Any, tensor: Any) -> None:
        self.begin, self.take = matcher.reset, matcher.accept_token
        self.fill: Callable[[], None] = partial(matcher.fill_next_token_bitmask, tensor)

    def fault(self) -> str:
        """See `Guide.fault`."""
        return ""


class Outlines:
    """Guides of outlines-core, by a pattern that it makes of the schema.

    Args:
        vocabulary: the tokens.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._end_id, self._known = vocabulary.end_id, None
        self.bits = np.zeros(vocabulary.words, np.uint32)
        self._ids: dict[bytes, list[int]] = {}
        for number, content in enumerate(vocabulary.contents):
            if content:
                self._ids.setdefault(content, []).append(number)

    def start(self) -> None:
        """See `Engine.start`."""
        import outlines_core

        self._known = outlines_core.Vocabulary(self._end_id, self._ids)

    def guide(self, kind: str, source: str) -> Guide:
        """See `Engine.guide`."""
        import outlines_core

        if kind != SCHEMA:
            raise ValueError("grammars are not supported")
        index = outlines_core.Index(outlines_core.json_schema.build_regex_from_schema(source), self._known)
        return OutlinesGuide(outlines_core.Guide(index), self.bits)


class OutlinesGuide:
    """See `Guide`."""

    def __init__(self, guide: Any, bits: NDArray[np.uint32]) -> None:
        self._guide = guide
        self.begin: Callable[[], None] = guide.reset
        self.fill: Callable[[], None] = partial(guide.write_mask_into, bits.ctypes.data, len(bits), bits.itemsize)

    def take(self, token: int) -> bool:
        """See `Guide.take`."""
        self._guide.advance(token, return_tokens=False)
        return True

    def fault(self) -> str:
        """See `Guide.fault`."""
        return ""


ENGINES: Mapping[str, tuple[str, Any]] = {  # the module and the class of each engine
    "fst": ("fst", Own),
    "llguidance": ("llguidance", LlGuidance),
    "xgrammar": ("xgrammar", XGrammar),
    "outlines-core": ("outlines_core", Outlines),
}


def has(bits: NDArray[np.uint32], token: int) -> bool:
    """Whether a mask allows a token."""
    return bool(int(bits[token >> 5]) >> (token & 31) & 1)


class Worker:
    """An engine in a process.

    Args:
        name: a key of `ENGINES`.
        order: the order of properties, for this package.
        tiny: a small vocabulary, for throw-away guides.
        vocabulary: the tokens.
        limit: the seconds after which a schema ends the process, by the clock.
    """

    def __init__(self, name: str, order: str, tiny: Vocabulary, vocabulary: Vocabulary, limit: float) -> None:
        self._limit, self._vocabulary = limit, vocabulary
        named = partial(ENGINES[name][1], **({"order": order} if name == "fst" else {}))
        small = named(tiny)
        small.start()
        single = {content: number for number, content in enumerate(tiny.contents)}
        ids = [[single[bytes([byte])] for byte in text] for text in TEXTS]
        sources = [(SCHEMA, json.dumps(schema)) for schema in (WARM if name == "fst" else WARM[:1])]
        for kind, source in [*sources, (GRAMMAR, WARM_GRAMMAR)]:
            measured(small, tiny.end_id, kind, source, [(True, each) for each in ids])
        self._engine = named(vocabulary)
        schema = json.dumps(WARM[0])
        first = _seconds(lambda: (self._engine.start(), self._engine.guide(SCHEMA, schema).fill()))
        self._share = max(0.0, first - _seconds(lambda: self._engine.guide(SCHEMA, schema).fill()))

    def share(self) -> float:
        """The seconds for the vocabulary, once for each tokenizer, before and in the first guide."""
        return self._share

    def measure(self, kind: str, source: str, tests: Sequence[tuple[bool, Sequence[int]]]) -> dict[str, Any]:
        """Make a guide and walk texts.

        Args:
            kind: `SCHEMA` or `GRAMMAR`.
            source: its text.
            tests: for each text, whether it is valid, and its tokens.

        Returns:
            "first", the seconds of processor time of a new guide and its first mask; "masks", the seconds of a step and the mask after it,
            at each position of the valid texts, at its first visit; "stops", for each text, the number of tokens that are allowed before
            the first one that is not, where the end of the text counts as a token, or -1 if the text is accepted. Or "first" and
            "refused", the engine's reason.
        """
        with self._limited():
            return measured(self._engine, self._vocabulary.end_id, kind, source, tests)

    def memory(self, kind: str, source: str, tests: Sequence[tuple[bool, Sequence[int]]]) -> int:
        """The bytes of a guide after `TOKENS` tokens: the valid texts, and random walks; in a process with PYTHONMALLOC=malloc."""
        engine, end_id, draw = self._engine, self._vocabulary.end_id, np.random.default_rng(1)
        single = np.array([number for number, content in enumerate(self._vocabulary.contents) if len(content) == 1])
        with self._limited():
            before, left = _allocated(), TOKENS
            guide = engine.guide(kind, source)
            for ids in (ids[:left] for valid, ids in tests if valid and left > 0):
                walked(guide, engine.bits, ids, end_id, {}, [])
                left -= len(ids)
            while left > 0:
                left -= self._wander(guide, min(left, RUN), single, draw)
            gc.collect()
            return _allocated() - before

    def _wander(self, guide: Guide, most: int, single: NDArray[np.int64], draw: np.random.Generator) -> int:
        """Walk at most `most` random tokens from the start, often of a single byte; return the number of masks. No array outlives the walk:
        it would count as memory of the guide.
        """
        bits, end_id = self._engine.bits, self._vocabulary.end_id
        guide.begin()
        for count in range(1, most + 1):
            guide.fill()
            allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
            few = single[(bits[single >> 5] >> (single & 31).astype(np.uint32) & 1).astype(bool)]
            some = few if len(few) and draw.random() < 0.6 else allowed[allowed != end_id]
            if not len(some) or not guide.take(int(draw.choice(some))):
                return count
        return most

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Collect garbage, and then limit the time; the signal ends the process.

        A timer of processor time, ITIMER_PROF, would reduce the resolution of `process_time` to 4 ms.
        """
        gc.collect()
        signal.setitimer(signal.ITIMER_REAL, self._limit)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def measured(engine: Engine, end_id: int, kind: str, source: str, tests: Sequence[tuple[bool, Sequence[int]]]) -> dict[str, Any]:
    """See `Worker.measure`."""
    begun = process_time()
    try:
        guide = engine.guide(kind, source)
        guide.fill()
    except BaseException as error:  # a panic in Rust is not an Exception
        return {"refused": f"{error}" or type(error).__name__, "first": process_time() - begun}
    first, seen, masks, stops = process_time() - begun, dict[tuple[int, int], int](), list[float](), [0] * len(tests)
    for place in sorted(range(len(tests)), key=lambda place: not tests[place][0]):  # valid texts first: their positions are timed
        valid, ids = tests[place]
        try:
            stops[place] = walked(guide, engine.bits, ids, end_id, seen, masks if valid else [])
        except BaseException as error:
            return {"failed": f"text {place}: {error}", "first": first}
    return {"first": first, "masks": masks, "stops": stops}


def walked(
    guide: Guide, bits: NDArray[np.uint32], ids: Sequence[int], end_id: int, seen: dict[tuple[int, int], int], masks: list[float]
) -> int:
    """Walk one text; append the seconds of each mask whose position is not in `seen`, the tree of positions. See `Worker.measure`."""
    guide.begin()
    guide.fill()
    at = 0
    for place, token in enumerate(ids):
        if not has(bits, token):
            if fault := guide.fault():
                raise RuntimeError(f"no mask at token {place}: {fault}")
            return place
        begun = process_time()
        if not guide.take(token):
            raise RuntimeError(f"the mask allows token {place}, and the engine refuses it")
        guide.fill()
        spent = process_time() - begun
        if (at, token) not in seen:
            seen[at, token] = len(seen) + 1
            masks.append(spent)
        at = seen[at, token]
    return -1 if has(bits, end_id) else len(ids)


def _seconds(run: Callable[[], Any]) -> float:
    """The seconds of processor time of a call."""
    begun = process_time()
    run()
    return process_time() - begun


class _Mallinfo(ctypes.Structure):
    """The numbers of glibc's ``mallinfo2``; hblkhd: bytes in mappings of their own, uordblks: other bytes in use."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in _names]


def _allocated() -> int:
    """The bytes that are allocated on the heap of this process, by any library."""
    info = ctypes.CDLL(None).mallinfo2
    info.restype = _Mallinfo
    found = info()
    return int(found.uordblks + found.hblkhd)
