"""Differences between the masks of this package, outlines-core and llguidance, each with its cause.

Walks of tokens are followed in both libraries at once. If only one library allows a token, the text is completed with this library to a
whole text. Independent judges decide whether the text is right: Python's ``re`` for patterns, and ``jsonschema`` for schemas. If the text
is right, the cause is the smallest set of `FREEDOMS` with which the other library accepts this text, too.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from support.machines.byte_automata import of_texts, state_after
from support.shared_data import SHARED

import fst
from fst.errors import UnsupportedError
from fst.machines.guide.vocabulary import vocabulary_of

UNEXPLAINED, DEPTH = "unexplained", 2  # the maximum depth of recursive schemas
SAMPLED, MAX_STEPS, MAX_ENDING = 3, 16, 120  # maximum numbers of tokens: of a difference, of a walk, of the completion of a text
LARGEST_PATTERN = 20_000  # maximum number of characters of a pattern that outlines-core makes from a schema


class Reader(Protocol):
    """A language, read piece by piece. A state of a library is any hashable object."""

    name: str
    start: Any

    def read(self, state: Any, data: bytes) -> Any:
        """The state after some bytes, or None."""

    def is_final(self, state: Any) -> bool:
        """Whether a text may end in a state."""


class Tokens:
    """The vocabulary of a byte-level tokenizer.

    Args:
        tok: the tokenizer.
    """

    def __init__(self, tok: fst.Tokenizer) -> None:
        known = vocabulary_of(tok._table)
        self.tok, self.size, self.end_id = tok, known.size, known.end_id
        self.contents = {number: content for number in range(known.size) if (content := known.content(number))}
        self.of_bytes = {content[0]: number for number, content in self.contents.items() if len(content) == 1}
        self.single = np.array(sorted(self.of_bytes.values()))
        self.few = {number: content for number, content in self.contents.items() if number < 3_000 or len(content) == 1}

    def bits(self, ids: Iterable[int]) -> NDArray[np.bool_]:
        """A mask of some ids."""
        found = np.zeros(self.size, np.bool_)
        found[[*ids]] = True
        return found

    def text(self, ids: Iterable[int]) -> bytes:
        """The bytes of some ids."""
        return b"".join(self.contents[number] for number in ids)


class Own:
    """The masks of this package.

    Args:
        tokens: the vocabulary.
        texts: arguments of `fst.Guide`.
    """

    name, start = "fst", 0

    def __init__(self, tokens: Tokens, **texts: Any) -> None:
        self.automaton = of_texts(**texts)
        self._guide = fst.Guide(tokens.tok, **texts)
        self._tokens = tokens

    def allowed(self, ids: Sequence[int]) -> NDArray[np.bool_]:
        """The mask of the tokens that may follow some ids."""
        return self._tokens.bits(self._guide.allowed(self._guide.advance(self._guide.start, ids)))

    def read(self, state: int, data: bytes) -> int | None:
        """See `Reader`."""
        after = state_after(self.automaton, data, state)
        return after if after >= 0 else None

    def is_final(self, state: int) -> bool:
        """See `Reader`."""
        return bool(self.automaton.is_final[state])

    def completed(self, text: bytes, _: Sequence[int]) -> bytes:
        """A shortest text of the language that begins with a given text."""
        begun = self.read(0, text)
        assert begun is not None
        paths = {begun: b""}
        for state in (queue := [begun]):
            if self.automaton.is_final[state]:
                return text + paths[state]
            for byte in (*b'a"0', *range(256)):
                after = int(self.automaton.targets[state, byte])
                if after >= 0 and after not in paths:
                    paths[after] = paths[state] + bytes([byte])
                    queue.append(after)
        raise AssertionError("no end can be reached")


class Outlines:
    """The index of outlines-core over a part of the vocabulary.

    Args:
        tokens: the vocabulary.
        texts: as in `Own`.
    """

    name = "outlines-core"

    def __init__(self, tokens: Tokens, *, regex: str | None = None, schema: Any = None, **_: Any) -> None:
        import outlines_core

        regex = outlines_core.json_schema.build_regex_from_schema(json.dumps(schema)) if regex is None else regex
        if len(regex) > LARGEST_PATTERN:
            raise ValueError("the pattern is too long")
        self._tokens = tokens
        self._index = outlines_core.Index(regex, outlines_core.Vocabulary(tokens.end_id, {text: [n] for n, text in tokens.few.items()}))
        self.start, self._finals = self._index.get_initial_state(), self._index.get_final_states()
        self._next: dict[int, tuple[int, int]] = {}  # a token after which a text may end, and the state after this token
        transitions, before = self._index.get_transitions(), dict[int, list[tuple[int, int]]]()
        for state, targets in transitions.items():
            for token, target in targets.items():
                before.setdefault(target, []).append((state, token))
        waiting, reached = deque(self._finals), {*self._finals}
        while waiting:
            state = waiting.popleft()
            for earlier, token in before.get(state, []):
                if earlier not in reached and token != tokens.end_id:
                    reached.add(earlier)
                    self._next[earlier] = token, state
                    waiting.append(earlier)

    def _after(self, ids: Sequence[int]) -> int | None:
        state: int | None = self.start
        for number in ids:
            state = None if state is None else self._index.get_next_state(state, number)
        return state

    def allowed(self, ids: Sequence[int]) -> NDArray[np.bool_]:
        """See `Own.allowed`."""
        return self._tokens.bits(self._index.get_allowed_tokens(self._after(ids)) or [])

    def read(self, state: int, data: bytes) -> int | None:
        """See `Reader`."""
        for byte in data:
            following = self._index.get_next_state(state, self._tokens.of_bytes[byte])
            if following is None:
                return None
            state = following
        return state

    def is_final(self, state: int) -> bool:
        """See `Reader`."""
        return state in self._finals

    def completed(self, text: bytes, ids: Sequence[int]) -> bytes | None:
        """A text that begins with the text of the given ids, or None."""
        state = self._after(ids)
        while state is not None and state not in self._finals:
            if state not in self._next:
                return None
            token, state = self._next[state]
            text += self._tokens.contents[token]
        return text


class LlGuidance:
    """A matcher of llguidance.

    Args:
        tokens: the vocabulary.
        texts: as in `Own`.
    """

    name, start = "llguidance", b""

    def __init__(self, tokens: Tokens, *, regex: str | None = None, schema: Any = None, **_: Any) -> None:
        from llguidance import LLMatcher

        named: Any = LLMatcher
        grammar = named.grammar_from_json_schema(json.dumps(schema)) if regex is None else named.grammar_from_regex(regex)
        if named.validate_grammar(grammar):
            raise ValueError(named.validate_grammar(grammar))
        self._tokens = tokens
        self._matcher = LLMatcher(_tokenizer_of(tokens), grammar)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())
        self._at: list[int] = []

    def _go(self, ids: list[int]) -> bool:
        """Move to the position after some ids; False if the ids are not allowed."""
        differ = (place for place, (one, other) in enumerate(zip(ids, self._at, strict=False)) if one != other)
        same = next(differ, min(len(ids), len(self._at)))
        if same < len(self._at):
            self._matcher.rollback(len(self._at) - same)
        taken = self._matcher.try_consume_tokens(ids[same:]) if same < len(ids) else 0
        self._at = ids[: same + taken]
        return len(self._at) == len(ids)

    def allowed(self, ids: Sequence[int]) -> NDArray[np.bool_]:
        """See `Own.allowed`."""
        assert self._go([*ids])
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        return np.unpackbits(bits, bitorder="little")[: self._tokens.size].astype(np.bool_)

    def read(self, state: bytes, data: bytes) -> bytes | None:
        """See `Reader`."""
        return state + data if self._go([self._tokens.of_bytes[byte] for byte in state + data]) else None

    def is_final(self, state: bytes) -> bool:
        """See `Reader`."""
        return self._go([self._tokens.of_bytes[byte] for byte in state]) and bool(self._matcher.is_accepting())

    def completed(self, _: bytes, ids: Sequence[int]) -> bytes | None:
        """See `Outlines.completed`."""
        for attempt in range(3):
            draw, path = np.random.default_rng(attempt), [*ids]
            while len(path) < MAX_ENDING and self._go(path):
                if self._matcher.is_accepting():
                    return self._tokens.text(path)
                allowed = self.allowed(path)
                allowed[self._tokens.end_id] = False
                if not allowed.any():
                    break
                single = self._tokens.single[allowed[self._tokens.single]]
                closing = [number for byte in b'"}]0:,' if allowed[number := self._tokens.of_bytes[byte]]]
                others = single if len(single) else np.flatnonzero(allowed)
                path.append(closing[0] if closing and draw.random() < 0.8 else int(draw.choice(others)))
        return None


_tokenizers: dict[int, Any] = {}


def _tokenizer_of(tokens: Tokens) -> Any:
    """The vocabulary for llguidance."""
    from llguidance import LLTokenizer

    if id(tokens) not in _tokenizers:
        ranks = {content: number for number, content in tokens.contents.items()}
        special = {token: number for token, number in tokens.tok.get_vocab().items() if number not in tokens.contents}
        named: Any = LLTokenizer
        _tokenizers[id(tokens)] = named.from_tiktoken(
            encoder=ranks, special_tokens=special, pattern=r"\S+|\s+", eos_token=tokens.end_id, n_vocab=tokens.size
        )
    return _tokenizers[id(tokens)]


# Texts of JSON in the forms that some freedoms allow.

FREEDOMS = ("whitespace", "numbers", "escapes", "order", "control characters", "levels")
MOST_FREEDOMS, DEEP = 3, 2  # the least level at which arrays and objects may be left out
TOKEN = re.compile(r'([ \t\n\r]*)("(?:[^"\\]|\\.)*"|[^\s"\[\]{},:]+|[\[\]{},:])', re.DOTALL)
MAX_TRIED = 300  # maximum number of sets of members that are tried


class Leaf(NamedTuple):
    """A number, a string or a literal, with the whitespace before it."""

    space: str
    text: str


class Group(NamedTuple):
    """An array, whose parts are values and commas, or an object, whose parts are names, colons, values and commas."""

    begin: Leaf
    parts: list[tuple[Any, ...]]
    commas: list[Leaf]
    end: Leaf


def parsed(text: str) -> Leaf | Group:
    """The syntax tree of a text of JSON."""
    found = [Leaf(*match.groups()) for match in TOKEN.finditer(text)][::-1]

    def value() -> Leaf | Group:
        first = found.pop()
        if first.text not in "[{":
            return first
        parts, commas = list[tuple[Any, ...]](), list[Leaf]()
        while found[-1].text not in "]}":
            if parts:
                commas.append(found.pop())
            parts.append((value(),) if first.text == "[" else (found.pop(), found.pop(), value()))
        return Group(first, parts, commas, found.pop())

    return value()


class Free:
    """Reads a text of JSON in any of the ways that some freedoms allow.

    Args:
        reader: the language.
        freedoms: some of `FREEDOMS`.
    """

    def __init__(self, reader: Reader, freedoms: Iterable[str]) -> None:
        self._reader, self._freedoms, self._tried = reader, {*freedoms}, 0

    def accepts(self, tree: Leaf | Group) -> bool:
        """Whether the language contains the text of a tree, with the freedoms."""
        return any(map(self._reader.is_final, self._after({self._reader.start}, tree)))

    def _after(self, states: set[Any], tree: Leaf | Group, depth: int = 0) -> set[Any]:
        if isinstance(tree, Leaf):
            return self._read(states, tree)
        found = set[Any]()
        if "levels" in self._freedoms and depth >= DEEP:
            found = found.union(*(self._read(states, Leaf(tree.begin.space, text)) for text in ("null", "{}", "[]")))
        states = self._read(states, tree.begin)
        return found | self._ended(states, tree, frozenset(range(len(tree.parts))), depth)

    def _ended(self, states: set[Any], group: Group, left: frozenset[int], depth: int) -> set[Any]:
        """The states after some parts of an array or object, and after its end."""
        self._tried += 1
        if not states or self._tried > MAX_TRIED:
            return set()
        if not left:
            return self._read(states, group.end)
        found, read = set[Any](), len(group.parts) - len(left)
        if read:
            states = self._read(states, group.commas[read - 1])
        for place in sorted(left) if "order" in self._freedoms and group.begin.text == "{" else [min(left)]:
            after = states
            for part in group.parts[place]:
                after = self._after(after, part, depth + 1)
            found |= self._ended(after, group, left - {place}, depth)
        return found

    def _read(self, states: set[Any], token: Leaf) -> set[Any]:
        spaces = {token.space, ""} if "whitespace" in self._freedoms else {token.space}
        texts = [(space + text).encode() for space in spaces for text in self._texts(token.text)]
        found = (self._reader.read(state, text) for state in states for text in texts)
        return {state for state in found if state is not None}

    def _texts(self, text: str) -> set[str]:
        """The texts of a token of JSON."""
        found = {text}
        if text[0] == '"':
            value = json.loads(text, strict=False)
            if "escapes" in self._freedoms:
                found.add(json.dumps(value, ensure_ascii=False))
            if "control characters" in self._freedoms:
                found.add(json.dumps(re.sub("[\x7f-\x9f]", "a", value), ensure_ascii=False))
        elif "numbers" in self._freedoms and text[0] in "-0123456789":
            number = Decimal(text)
            if abs(number.adjusted()) < 40:
                plain = f"{number:f}"
                found |= {plain, plain.rstrip("0").rstrip(".") if "." in plain else plain, f"{number:.1f}"}
                found |= {"0" if each in ("-0", "") else each for each in [*found]}
            found |= {re.sub(r"([eE])(?=[0-9])", r"\1+", text), re.sub(r"\.?[0-9]*[eE].*", "", text)}
        return found


def freedoms_of(reader: Reader, text: str) -> str | None:
    """The smallest set of freedoms with which a language contains a text of JSON, or None."""
    tree = parsed(text)
    for count in range(MOST_FREEDOMS + 1):
        for chosen in combinations(FREEDOMS, count):
            if Free(reader, chosen).accepts(tree):
                return " + ".join(chosen)
    return None


# Judges.

Change = Callable[[dict[str, Any]], dict[str, Any]]  # changes a schema whose inner schemas are already changed
# Keywords from which outlines-core infers the type of a schema without one.
IMPLIED = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern"),
}


def typed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the type that its keywords imply."""
    found = [name for name, keywords in IMPLIED.items() if {*keywords} & schema.keys()]
    return schema if "type" in schema or not found else {**schema, "type": found}


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose objects have only the properties that the schema contains."""
    return {**schema, "additionalProperties": False} if "properties" in schema else schema


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose arrays have all items of ``prefixItems``, and other items only if the schema allows them explicitly."""
    return {"items": False, **schema, "minItems": len(schema["prefixItems"])} if "prefixItems" in schema else schema


# Changes of a schema that forbid more texts, by their names.
CHANGES: dict[str, Change] = {"types": typed, "other properties": closed, "prefix items": filled}


def changed(schema: Any, change: Change) -> Any:
    """Apply a change to a schema, after all schemas below it."""
    if isinstance(schema, list):
        return [changed(each, change) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return change({name: changed(value, change) for name, value in schema.items()})


def names_twice(text: str) -> bool:
    """Whether an object of a text contains a name twice."""
    found: list[bool] = []

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len({name for name, _ in pairs}) < len(pairs))
        return dict(pairs)

    json.loads(text, object_pairs_hook=kept, strict=False)
    return any(found)


class SchemaJudge:
    """A judge of whether a text is a value of a schema.

    Args:
        schema: the schema.
    """

    def __init__(self, schema: Any) -> None:
        self.schema, self._validator = schema, _validator(schema)

    def causes(self, text: bytes) -> list[str]:
        """The names of the changes of the schema that forbid a text."""
        value = json.loads(text)
        return [name for name, change in CHANGES.items() if not _validator(changed(self.schema, change)).is_valid(value)]

    def fault(self, text: bytes) -> str:
        """The reason for which a text is wrong; empty if the text is right."""
        try:
            data = text.decode()
        except UnicodeDecodeError:
            return "is not UTF-8"
        try:
            value = json.loads(data, parse_constant=lambda _: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return "is not JSON"
        error = next(self._validator.iter_errors(value), None)
        return "" if error is None else f"violates {error.validator}"


def _validator(schema: Any) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    return validator_for(schema, default=Draft202012Validator)(schema)


class PatternJudge:
    """A judge of whether a pattern matches a text."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def fault(self, text: bytes) -> str:
        """See `SchemaJudge.fault`."""
        try:
            return "" if self._pattern.fullmatch(text.decode()) else "is not matched"
        except UnicodeDecodeError:
            return "is not UTF-8"


# The comparison.


class Difference(NamedTuple):
    """A token that one library allows and the other does not.

    Attributes:
        allows: the library that allows it.
        other: the other library.
        cause: why.
        ids: the ids up to the token.
        text: the whole text to which the token was completed; the token's own text, if there is no whole text.
        source: the pattern or the schema.
    """

    allows: str
    other: str
    cause: str
    text: bytes
    ids: list[int]
    source: Any


def differences(own: Any, peer: Any, tokens: Tokens, judge: Any, walks: Iterable[Sequence[int]], source: Any) -> Iterator[Difference]:
    """The differences of two libraries after all beginnings of some walks that both libraries allow."""
    both, draw, few = dict[tuple[int, ...], NDArray[np.bool_]](), np.random.default_rng(2), tokens.bits(tokens.few)
    few[tokens.end_id] = True
    for walk in walks:
        for length in range(len(walk) + 1):
            ids = tuple(walk[:length])
            if ids not in both:
                mine, theirs = own.allowed(ids), peer.allowed(ids)
                if peer.name == "outlines-core":
                    mine &= few
                both[ids] = mine & theirs
                for one, other, more in ((own, peer, mine & ~theirs), (peer, own, theirs & ~mine)):
                    every = np.flatnonzero(more)
                    for token in draw.choice(every, min(SAMPLED, len(every)), replace=False).tolist():
                        yield Difference(one.name, other.name, *_cause(one, other, tokens, judge, [*ids, token]), [*ids, token], source)
            if length < len(walk) and not both[ids][walk[length]]:
                break


def _cause(one: Any, other: Any, tokens: Tokens, judge: Any, ids: list[int]) -> tuple[str, bytes]:
    """The cause for which only one library allows the last token, and a whole text."""
    begun = tokens.text(number for number in ids if number != tokens.end_id)
    text = begun if ids[-1] == tokens.end_id else one.completed(begun, ids)
    if text is None:
        return "a dead end", begun
    fault = judge.fault(text)
    if isinstance(judge, SchemaJudge) and not fault.startswith("is not") and names_twice(text.decode()):
        return "right: a name twice", text
    if fault:
        return f"wrong: {fault}", text
    state = other.read(other.start, text)
    if state is not None and other.is_final(state):
        return "tokens: other tokens of the text are allowed", text
    if one.name == "fst" and not _is_text(begun):
        return "tokens: a part of a character", text
    if isinstance(judge, PatternJudge):
        return "right: matched", text
    found = freedoms_of(other, text.decode()) or next(iter(judge.causes(text)), None) or _format(other, tokens, text, judge)
    return f"right: {found or UNEXPLAINED}", text


def _format(other: Any, tokens: Tokens, text: bytes, judge: SchemaJudge) -> str | None:
    """The cause for a text that is refused if formats restrict strings, but is right if they do not."""
    own = Own(tokens, schema=judge.schema, depth=DEPTH, formats=other.name != "fst")
    state = own.read(0, text)
    return "formats" if (state is not None and own.is_final(state)) == (other.name == "fst") else None


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def walks_of(own: Own, peer: Any, tokens: Tokens, texts: Iterable[str], count: int) -> Iterator[list[int]]:
    """Walks along some texts, and random walks, as far as both libraries allow them."""
    vocabulary = tokens.few if peer.name == "outlines-core" else tokens.contents
    for text in texts:
        for ids in (tokens.tok.encode(text, add_special_tokens=False).tolist(), [tokens.of_bytes[byte] for byte in text.encode()]):
            if len(ids) <= 4 * MAX_STEPS and all(number in vocabulary for number in ids):
                yield ids
    every, short = tokens.bits(vocabulary), tokens.bits(tokens.of_bytes[byte] for byte in b'{}[]":,0123456789-aA')
    for attempt in range(count):
        draw, path = np.random.default_rng(attempt), list[int]()
        while len(path) < MAX_STEPS:
            both = own.allowed(path) & peer.allowed(path) & every
            some = both & short if draw.random() < 0.6 and (both & short).any() else both
            if not some.any():
                break
            path.append(int(draw.choice(np.flatnonzero(some))))
        yield path


# All cases.

Case = tuple[Any, list[Any]]  # a pattern or a schema, and values that it allows


def cases(patterns: Iterable[str], share: int) -> Iterator[Case]:
    """Patterns, and one in the given number of published schemas, each with values that it allows."""
    yield from ((pattern, []) for pattern in patterns)
    for name in ("json_schema_test_suite", "maskbench"):
        with gzip.open(SHARED / "oracles" / "schemas" / f"{name}.jsonl.gz", "rt") as lines:
            for line in [*lines][::share]:
                case = json.loads(line)
                yield case["schema"], [test["data"] for test in case["tests"] if test["valid"]]


def compared(tokens: Tokens, kind: Any, source: Any, values: Sequence[Any], walks: int) -> Iterator[Difference]:
    """The differences for a pattern or a schema; a refused schema is one difference.

    Args:
        tokens: the vocabulary.
        kind: `Outlines` or `LlGuidance`.
        source: a pattern or a schema.
        values: values that the schema allows.
        walks: the number of random walks.
    """
    texts: dict[str, Any] = {"regex": source} if isinstance(source, str) else {"schema": source}
    try:
        own = Own(tokens, **texts)
    except UnsupportedError as error:
        if "is recursive" not in str(error):
            return
        own = Own(tokens, **texts, depth=DEPTH)
    try:
        peer = kind(tokens, **texts)
    except Exception as error:  # each library has its own vocabulary
        yield Difference("fst", kind.name, "refused", str(error).encode(), [], source)
        return
    judge = PatternJudge(source) if isinstance(source, str) else SchemaJudge(source)
    written = (json.dumps(value, ensure_ascii=False, separators=marks) for value in values[:3] for marks in ((",", ":"), (", ", ": ")))
    yield from differences(own, peer, tokens, judge, walks_of(own, peer, tokens, written, walks), source)
