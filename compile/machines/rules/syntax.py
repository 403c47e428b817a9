"""Read rewrite rules: ``phi -> psi / left _ right``, where phi, left and right are regular expressions, and psi is a string."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fst.compile.patterns.code_points import Set
from fst.compile.patterns.parser import END_OF_TEXT, parse
from fst.compile.patterns.sets import ANY, Dialect
from fst.compile.patterns.tree import Atomic, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, walk
from fst.errors import UnsupportedError, VocabularyError, quoted

DIALECT: Dialect = "fancy-regex"  # the syntax of Rust's `regex`, as in guides
ARROW, SLASH, GAP, EDGE_OF_WORD = "->", "/", "_", r"\b"
NOTHING, START_OF_TEXT = Sequence(()), LookBehind(ANY, negative=True, name="^")
CAPTURE = re.compile(r"\(\?P?<\w")  # the beginning of a named group, in a pattern without escapes and brackets
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Rule(NamedTuple):
    """A rule: the strings of `phi` become `psi` between `left` and `right`.

    Attributes:
        text: the rule as it was given.
        phi, left, right: the regular expressions, with definitions inserted and without whitespace.
        psi: a string.
    """

    text: str
    phi: str
    psi: str
    left: str
    right: str


class Trees(NamedTuple):
    """The regular expressions of a rule as trees."""

    phi: Node
    left: Node
    right: Node


def of_string(phi: str, psi: str, left: str, right: str, definitions: Mapping[str, str]) -> Rule:
    """Make the rule that replaces a string; `left` and `right` are regular expressions."""
    contexts = [expanded(_without_whitespace(context), definitions) for context in (left, right)]
    return Rule(f"{phi} {ARROW} {psi}", re.escape(phi), psi, *contexts)


def of_text(text: str, definitions: Mapping[str, str]) -> Rule:
    """Read a rule from its text."""
    phi, arrow, rest = _partition(text, ARROW)
    if not arrow:
        raise VocabularyError(f"the rule {quoted(text)} has no '->'; expected 'phi -> psi / left _ right'")
    if _partition(rest, ARROW)[1]:
        raise VocabularyError(f"the rule {quoted(text)} has two '->'; expected one; write '\\->' for the characters")
    psi, slash, contexts = _partition(rest, SLASH)
    left, gap, right = _partition(contexts, GAP)
    if slash and not gap:
        raise VocabularyError(f"the rule {quoted(text)} has no '_' after '/'; expected 'phi -> psi / left _ right'")
    if _partition(right, GAP)[1]:
        raise VocabularyError(f"the rule {quoted(text)} has two '_' after '/'; expected one; write '\\_' for the character")
    patterns = (expanded(_without_whitespace(pattern), definitions) for pattern in (phi, left, right))
    phi, left, right = patterns
    return Rule(text.strip(), phi, _string(psi.strip(), text), left, right)


def trees(rule: Rule) -> Trees:
    """Parse the regular expressions of a rule."""
    found = []
    for name, pattern in (("phi", rule.phi), ("left", rule.left), ("right", rule.right)):
        try:
            if CAPTURE.search("".join(part for part in pieces(pattern) if len(part) == 1)):
                raise UnsupportedError(f"{name} has a named group, a capture; expected a group without a name, as in (a|b)")
            tree = parse(pattern, DIALECT) if pattern else NOTHING
            _check(tree, name)
        except UnsupportedError as error:
            raise UnsupportedError(f"the rule {quoted(rule.text)}: {error}") from None
        found.append(tree)
    return Trees(*found)


def mirrored(parsed: Trees) -> Trees:
    """The regular expressions that match the reverses of the given expressions' matches."""
    return Trees(reversed_tree(parsed.phi), reversed_tree(parsed.right), reversed_tree(parsed.left))


def reversed_tree(node: Node) -> Node:
    """The expression that matches the reverse of each match of an expression."""
    if isinstance(node, Sequence):
        return Sequence(tuple(reversed_tree(part) for part in reversed(node.parts)))
    if isinstance(node, Choice) and not is_edge(node):
        return Choice(tuple(map(reversed_tree, node.parts)))
    if isinstance(node, Repeat):
        return replace(node, body=reversed_tree(node.body))
    return START_OF_TEXT if is_end(node) else END_OF_TEXT if is_start(node) else node


def is_start(node: Node) -> bool:
    """Whether a node is the assertion for the start of the text."""
    return isinstance(node, LookBehind) and node.negative and node.edges is ANY


def is_end(node: Node) -> bool:
    """Whether a node is the assertion for the end of the text."""
    return node is END_OF_TEXT


def is_edge(node: Node) -> bool:
    """Whether a node is the assertion for the edge of a word."""
    first = node.parts[0] if isinstance(node, Choice) else None
    behind = first.parts[0] if isinstance(first, Sequence) and first.parts else None
    return isinstance(behind, LookBehind) and behind.name == EDGE_OF_WORD


def word_of(edge: Node) -> Set:
    """The set of word characters of an assertion for the edge of a word."""
    return next(node.edges for node in walk(edge) if isinstance(node, LookBehind))


def expanded(pattern: str, definitions: Mapping[str, str]) -> str:
    """Replace the names of definitions outside of escapes and brackets; a definition may contain the names of earlier definitions.

    >>> expanded("V+[V]", {"A": "a|á", "V": "A|e"})
    '(?:(?:a|á)|e)+[V]'
    """
    known: dict[str, str] = {}
    for name, value in definitions.items():
        if not name.isidentifier():
            raise VocabularyError(f"the name of a definition is {quoted(name)}; expected an identifier, as in Python")
        known[name] = f"(?:{replaced(_without_whitespace(value), known)})"
    return replaced(pattern, known)


def replaced(pattern: str, known: Mapping[str, str]) -> str:
    """Replace names outside of escapes and brackets, the longest first."""
    names, parts, at = sorted(known, key=len, reverse=True), [], 0
    while at < len(pattern):
        end = _after(pattern, at)
        found = next((name for name in names if end == at + 1 and pattern.startswith(name, at)), None)
        parts.append(pattern[at:end] if found is None else known[found])
        at = end if found is None else at + len(found)
    return "".join(parts)


def _check(tree: Node, name: str) -> None:
    """Refuse nodes that no rule may contain, or that this part of a rule may not contain."""
    inside = {id(node.body) for node in walk(tree) if isinstance(node, LookAhead)}
    inside |= {id(node) for edge in walk(tree) if is_edge(edge) for node in walk(edge)}
    for node in walk(tree):
        fault = None
        if isinstance(node, Repeat) and node.lazy:
            fault = "a lazy repetition; matches are always the longest"
        elif isinstance(node, Atomic):
            fault = "an atomic group or a possessive repetition"
        elif is_start(node):
            fault = "'^'; expected it in the left context only" if name != "left" else None
        elif is_end(node):
            fault = "'$'; expected it in the right context only" if name != "right" else None
        elif is_edge(node):
            fault = r"a word boundary, '\b'; expected it in contexts only, as in '/ \b _'" if name == "phi" else None
        elif isinstance(node, LookAhead | LookBehind) and id(node) not in inside:
            fault = r"a look-around or '\B'; write contexts, as in '/ left _ right'"
        if fault:
            raise UnsupportedError(f"{name} has {fault}")


def _partition(text: str, sign: str) -> tuple[str, str, str]:
    """Partition a text at the first `sign` outside of escapes and brackets."""
    at = 0
    while at < len(text):
        if text.startswith(sign, at):
            return text[:at], sign, text[at + len(sign) :]
        at = _after(text, at)
    return text, "", ""


def _after(text: str, at: int) -> int:
    """Find the end of the escape, of the brackets, or of the character at a position."""
    if text[at] == "\\":
        close = text.find("}", at)
        return close + 1 if text[at + 1 : at + 3] in ("p{", "P{", "x{", "u{") and close > 0 else min(at + 2, len(text))
    return _after_brackets(text, at) if text[at] == "[" else at + 1


def _after_brackets(text: str, at: int) -> int:
    """Find the end of brackets, which may contain escapes and brackets; an opening bracket without an end is a character."""
    begin, depth = at, 0
    while at < len(text):
        if text[at] == "[":
            depth, at = depth + 1, at + 1
            at += text.startswith("^", at)
            at += text.startswith("]", at)
        elif text[at] == "]":
            depth, at = depth - 1, at + 1
            if not depth:
                return at
        else:
            at += 2 if text[at] == "\\" else 1
    return begin + 1


def _without_whitespace(pattern: str) -> str:
    """Remove whitespace outside of escapes and brackets."""
    return "".join(part for part in pieces(pattern) if not part.isspace())


def pieces(pattern: str) -> Iterator[str]:
    """The escapes, brackets and other characters of a pattern."""
    at = 0
    while at < len(pattern):
        end = _after(pattern, at)
        yield pattern[at:end]
        at = end


def _string(psi: str, text: str) -> str:
    """Resolve the escapes of a string."""
    parts = []
    for part in re.findall(r"\\u\{[0-9a-fA-F]{1,6}\}|\\.|[^\\]|\\$", psi, re.DOTALL):
        escaped = part[1:]
        if part.startswith("\\u{") and int(part[3:-1], 16) <= 0x10FFFF:
            parts.append(chr(int(part[3:-1], 16)))
        elif escaped and escaped.isalnum() and escaped not in ESCAPES:
            what = f"the reference {part} to a group" if escaped.isdecimal() else f"the escape {part}"
            raise UnsupportedError(f"the rule {quoted(text)}: psi has {what}; expected a string")
        else:
            parts.append(ESCAPES.get(escaped, escaped) if escaped else part)
    return "".join(parts)
