"""Decoders in steps: each step changes the tokens, and the tokens after the last step are joined to a text. A step is a decoder of
``tokenizers``, and has the same name.

- ``Replace``: a string is replaced in each token.
- ``Strip``: a character is removed from the ends of each token, at most a given number of times.
- ``Metaspace``: the symbol becomes a space in each token; in the first token, the symbol is removed, unless ``prepend_scheme`` is "never".
- ``BPEDecoder``: the suffix becomes a space in each token; in the last token, the suffix is removed.
- ``ByteFallback``: a run of tokens such as ``<0xC3>`` becomes its text; if the bytes are not UTF-8, each byte becomes U+FFFD.
- ``Fuse``: all tokens become one token.

The decoder of ``sentencepiece`` is one step, ``SentencePiece``, after which only ``Strip`` may follow. ▁ becomes a space, the unknown token
becomes its surface, and bytes become characters; each byte outside of a valid character becomes U+FFFD. A run of bytes also ends at an
empty token and at a control piece. Depending on the field ``leading``, a leading ▁ is removed from no token, from the first token, or from
all tokens up to the first token with other text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

UNKNOWN = "\ufffd"
SPACE = " "
REPLACE, STRIP, METASPACE, SUFFIX, BYTES, FUSE = "Replace", "Strip", "Metaspace", "BPEDecoder", "ByteFallback", "Fuse"
PIECES, SYMBOL = "SentencePiece", "▁"
NONE, FIRST, ALL = LEADING = "none", "first", "all"  # the values of `leading`: the tokens from which a leading ▁ is removed
MAX_STEPS = 64
MAX_CUTS = (1 << 31) - 1

_ESCAPED = re.compile("[\udc80-\udcff]")

Step = Mapping[str, Any]
Steps = Sequence[Step]
Fields = Mapping[str, Callable[[Any], bool]]


def _is_string(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _is_character(value: Any) -> bool:
    return _is_string(value) and len(value) == 1


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_CUTS


def _is_pattern(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"String"} and _is_string(value["String"]) and value["String"] != ""


KNOWN: Mapping[str, Fields] = {
    REPLACE: {"pattern": _is_pattern, "content": _is_string},
    STRIP: {"content": _is_character, "start": _is_count, "stop": _is_count},
    METASPACE: {
        "replacement": _is_character,
        "prepend_scheme": lambda value: value in ("always", "first", "never"),
        "split": lambda value: type(value) is bool,
    },
    SUFFIX: {"suffix": lambda value: _is_string(value) and value != ""},
    BYTES: {},
    FUSE: {},
}
PIECES_FIELDS: Fields = {
    "unknown": _is_string,
    "surface": lambda value: _is_string(value) and value != "",
    "leading": lambda value: value in LEADING,
    "has_bytes": lambda value: type(value) is bool,
}


def is_step(value: Any) -> bool:
    """Whether a value is a valid step in the format of a ``tokenizer.json``."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    fields = {**KNOWN, PIECES: PIECES_FIELDS}.get(kind) if isinstance(kind, str) else None
    return fields is not None and value.keys() == {"type", *fields} and all(holds(value[name]) for name, holds in fields.items())


def are_steps(value: Any) -> bool:
    """Whether a value is a valid list of at most `MAX_STEPS` steps. ``SentencePiece`` may only be first, and only ``Strip`` may follow."""
    if not (isinstance(value, list | tuple) and len(value) <= MAX_STEPS and all(map(is_step, value))):
        return False
    kinds = [step["type"] for step in value]
    return PIECES not in kinds or (kinds[0] == PIECES and {*kinds[1:]} <= {STRIP})


def joined(steps: Steps, tokens: Sequence[str]) -> str:
    """Decode tokens to a text.

    Examples:
        >>> strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        >>> joined([{"type": "ByteFallback"}, {"type": "Fuse"}, strip], [" caf", "<0xC3>", "<0xA9>"])
        'café'
    """
    for step in steps:
        tokens = _after(step, tokens)
    return "".join(tokens)


def _after(step: Step, tokens: Sequence[str]) -> Sequence[str]:
    """Apply a step to all tokens of a text."""
    if step["type"] == PIECES:
        return [_of_pieces(step, tokens)]
    if step["type"] == FUSE:
        return ["".join(tokens)]
    if step["type"] == BYTES:
        return [*_without_bytes(tokens)]
    last = len(tokens) - 1
    return [changed(step, token, is_first=place == 0, is_last=place == last) for place, token in enumerate(tokens)]


def changed(step: Step, token: str, *, is_first: bool, is_last: bool) -> str:
    """Apply a step to one token. The step must change each token independently of the others."""
    kind = step["type"]
    if kind == REPLACE:
        return token.replace(step["pattern"]["String"], step["content"])
    if kind == PIECES:
        text = step["surface"] if token == step["unknown"] else token.replace(SYMBOL, SPACE)
        return text[leading(step, token) :] if is_first else text
    if kind == SUFFIX:
        return token.replace(step["suffix"], "" if is_last else SPACE)
    if kind == METASPACE:
        return token.replace(step["replacement"], "" if is_first and step["prepend_scheme"] != "never" else SPACE)
    return _stripped(token, step["content"], step["start"], step["stop"])


def leading(step: Step, token: str) -> int:
    """The number of characters that a step `PIECES` removes from the beginning of the first token of a text."""
    return int(step["leading"] != NONE and token != step["unknown"] and token.startswith(SYMBOL))


def _of_pieces(step: Step, tokens: Sequence[str]) -> str:
    """Decode tokens to a text with a step `PIECES`."""
    text, data, is_first = "", bytearray(), True
    for token in tokens:
        if not token:
            text += each_byte_unknown(data.decode(errors="surrogateescape"))
            data.clear()
            continue
        byte = byte_of(token) if step["has_bytes"] else None
        data += changed(step, token, is_first=is_first, is_last=False).encode() if byte is None else bytes([byte])
        is_first = is_first and not text and not data and step["leading"] == ALL
    return text + each_byte_unknown(data.decode(errors="surrogateescape"))


def each_byte_unknown(text: str) -> str:
    """Replace surrogates, which Python's ``surrogateescape`` writes for invalid bytes, with U+FFFD."""
    return _ESCAPED.sub(UNKNOWN, text)


def _stripped(token: str, content: str, start: int, stop: int) -> str:
    begin = min(len(token) - len(token.lstrip(content)), start)
    return token[begin : max(len(token) - min(len(token) - len(token.rstrip(content)), stop), begin)]


def _without_bytes(tokens: Sequence[str]) -> Iterator[str]:
    """Replace each run of byte tokens with one token: the text of the run."""
    for is_byte, run in groupby(((byte_of(token), token) for token in tokens), lambda pair: pair[0] is not None):
        if is_byte:
            yield text_of(bytes(byte or 0 for byte, _ in run))
        else:
            yield from (token for _, token in run)


def text_of(run: bytes) -> str:
    """Decode a run of bytes; if the run is not UTF-8, each byte becomes U+FFFD."""
    try:
        return run.decode()
    except UnicodeDecodeError:
        return UNKNOWN * len(run)


def byte_of(token: str) -> int | None:
    """The byte of a byte token; None for other tokens. As in the reference, hexadecimal digits may be lower-case, and a plus may replace
    the first digit.
    """
    if len(token) != 6 or not token.isascii() or not (token.startswith("<0x") and token.endswith(">")):
        return None
    digits = token[3:5].removeprefix("+")
    return int(digits, 16) if all(digit in "0123456789abcdefABCDEF" for digit in digits) and digits else None


class Plan(NamedTuple):
    """Steps in three groups, in the order of nearly all decoders.

    Attributes:
        alone: the steps that change each token independently.
        has_bytes: whether the next step is ``ByteFallback``.
        tail: the steps after ``Fuse``, which change the text as one token.
    """

    alone: Steps
    has_bytes: bool
    tail: Steps

    def changed(self, token: str, *, is_first: bool = False, is_last: bool = False) -> str | int:
        """Apply the steps `alone` to a token. Return the result, or the byte if the result is a byte token."""
        for step in self.alone:
            token = changed(step, token, is_first=is_first, is_last=is_last)
        byte = byte_of(token) if self.has_bytes else None
        return token if byte is None else byte

    def content(self, token: str, *, is_first: bool = False, is_last: bool = False) -> bytes:
        """The result of `changed`, as bytes."""
        found = self.changed(token, is_first=is_first, is_last=is_last)
        return found.encode() if isinstance(found, str) else bytes([found])

    @property
    def drops_at_most_one(self) -> bool:
        """Whether the steps `tail` do no more than remove at most one character from the beginning of a text."""
        return len(self.tail) <= 1 and all(step["type"] == STRIP and step["start"] <= 1 and not step["stop"] for step in self.tail)

    def first(self, token: str) -> bytes:
        """The bytes of a token that is the first of a text, for steps with `drops_at_most_one`."""
        found = self.content(token, is_first=True)
        return found.removeprefix(self.tail[0]["content"].encode()) if self.tail and self.tail[0]["start"] else found


def plan(steps: Steps) -> Plan | None:
    """Divide steps into the three groups of a `Plan`; None if the steps do not have the order of these groups."""
    kinds = [step["type"] for step in steps]
    if kinds[:1] == [PIECES]:
        return Plan(steps[:1], bool(steps[0]["has_bytes"]), steps[1:])
    count = next((place for place, kind in enumerate(kinds) if kind in (BYTES, FUSE)), len(kinds))
    has_bytes = kinds[count : count + 1] == [BYTES]
    rest = count + has_bytes
    if kinds[rest : rest + 1] not in ([], [FUSE]):
        return None
    return Plan(steps[:count], has_bytes, steps[rest + 1 :])
