r"""Grammars in Lark's syntax, as llguidance documents it.

The texts are defined without a lexer: a text is in the language if some derivation reads it. A *lexeme* is a string, a range, a regular
expression or the name of a terminal in a rule. Text of ``%ignore`` may follow any lexeme and any nested schema, and may begin the text with
``%llguidance {"allow_initial_skip": true}``; it is never inside a lexeme. llguidance divides a text into lexemes first, each as long as
possible; so these texts are read here but not by llguidance:

- a lexeme that could be longer: ``start: /a+/ "a"`` reads ``aa``; ``start: NAME "if"`` reads ``xif``, where the name is ``x``;
- ignored text before a nested schema, and after the last lexeme.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import NamedTuple

from fst.compile.machines.guide.grammar import tree
from fst.compile.machines.guide.grammar.tree import Call, Grammar, Place, Places, Rule, Schema
from fst.compile.machines.guide.regex import Pattern
from fst.compile.patterns import properties
from fst.compile.patterns.code_points import Set, of_runs, of_text, union
from fst.compile.patterns.sets import MAX_DEPTH
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence, walk
from fst.errors import FstError, UnsupportedError, VocabularyError, quoted, reason

START, WHOLE, IGNORED, COMMENT = "start", "%start", "%ignore", "%comment"  # `IGNORED`: ignored text that is not empty
FLOAT = r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
COMMON = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[a-fA-F0-9]",
    "INT": "[0-9]+",
    "SIGNED_INT": "[+-]?[0-9]+",
    "DECIMAL": r"[0-9]+\.[0-9]*|\.[0-9]+",
    "_EXP": "[eE][+-]?[0-9]+",
    "FLOAT": FLOAT,
    "SIGNED_FLOAT": f"[+-]?({FLOAT})",
    "NUMBER": f"[0-9]+|{FLOAT}",
    "SIGNED_NUMBER": f"[+-]?([0-9]+|{FLOAT})",
    "ESCAPED_STRING": r'"([^"\\]|\\.)*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[_A-Za-z][_A-Za-z0-9]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "C_COMMENT": r"/\*([^*]|\*+[^*/])*\*+/",
    "SQL_COMMENT": r"--[^\n]*",
}
OPTIONS = ("no_forcing", "allow_initial_skip")  # forcing changes no text
REFUSED = ("%declare", "%extend", "%lark", "%override", "%regex", "&", "~")
TOKENS = {
    "rule": r"!?[_?]?[a-z][_a-z0-9-]*",
    "terminal": r"_?[A-Z][_A-Z0-9-]*",
    "string": r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"i?',
    "number": r"[+-]?[0-9]+",
    "sign": r"->|\.\.|[:,.()\[\]{}~|=+*?&]",
    "newline": r"\r?\n|\r",
    "comment": r"(?:#|//)[^\n]*",
    "regex": r"/(?:\\.|[^/\\])+/[imslux]*",
    "statement": r"%[a-z_]+",
    "token": r"<[^<>\s]+>",
    "reference": r"@[\w{}-]+",
}
TOKEN = re.compile(r"[ \t]*(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in TOKENS.items()) + ")")
NAMES = ("rule", "terminal")
MAX_DIGITS = 19  # of a count
REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
MAYBE_IGNORED = Repeat(Call(IGNORED, Place(1, 1)), 0, 1)
COUNTERS = (*REPEATS, "~", "{")
ENDS = ("|", ")", "]", "->")  # of a sequence


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def read_lark(text: str) -> Grammar:
    """Read a grammar in Lark's syntax, whose rule `start` reads whole texts.

    Raises:
        VocabularyError: the grammar is malformed; the message contains line and column.
        UnsupportedError: a construct is not supported; the message contains its name, line and column.
    """
    return _Reader(text).grammar()


def _tokens(text: str) -> list[_Token]:
    """The tokens of a grammar without whitespace and comments; a nested schema is one token."""
    found: list[_Token] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            begin = at + len(text[at:]) - len(text[at:].lstrip(" \t"))
            expected = "a string in double quotes, a regular expression, a name or a sign"
            raise VocabularyError(f"{Places(text).of(begin)}: found {quoted(text[begin])}; expected {expected}")
        kind, at = match.lastgroup or "", match.end()
        token, begin = match[kind], match.start(kind)
        if kind in NAMES and text[at : at + 1].isalnum():
            expected = "lower-case letters for a rule, upper-case letters for a terminal"
            raise VocabularyError(f"{Places(text).of(begin)}: a name has letters of both cases; expected {expected}")
        if kind == "statement" and token in ("%json", "%llguidance"):
            kind, token, at = token, *_json(text, at)
        if kind != "comment":
            found.append(_Token(kind, token, begin))
    return [*found, _Token("newline", "", at)]


def _json(text: str, at: int) -> tuple[str, int]:
    """The JSON value at a position, and the position after it."""
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except ValueError as error:
        where = error.pos if isinstance(error, json.JSONDecodeError) else begin
        raise VocabularyError(f"{Places(text).of(where)}: the JSON is malformed: {reason(error)}; expected a JSON object") from None
    except RecursionError:
        raise UnsupportedError(f"{Places(text).of(begin)}: the JSON has too many levels; make it flatter") from None
    return text[begin:end], end


class _Reader:
    def __init__(self, text: str) -> None:
        self._places, self._tokens, self._next = Places(text), _tokens(text), 0
        self._has_ignored = any(token.text == IGNORED for token in self._tokens)
        self._rules: dict[str, Rule] = {}
        self._ignored: list[Node] = []
        self._options: dict[str, object] = {}
        self._in_terminal = False
        self._depth = 0

    def grammar(self) -> Grammar:
        """All rules and terminals."""
        while self._skip_newlines():
            token = self._take()
            if token.kind in NAMES:
                self._definition(token)
            elif token.kind == "%llguidance":
                self._set_options(token)
            elif token.text == IGNORED:
                self._ignored.append(self._terminal_choice())
            elif token.text == "%import":
                self._import()
            else:
                raise self._refused(token, "the definition of a rule or terminal, %ignore or %import")
            if self._peek().kind != "newline":
                raise self._refused(self._peek(), "the end of the line")
        return self._checked()

    def _checked(self) -> Grammar:
        if START not in self._rules:
            raise VocabularyError(f"{Place(1, 1)}: there is no rule {START!r}; expected one, which reads whole texts")
        terminals = {name: rule for name, rule in self._rules.items() if _is_terminal(name)}
        calls = {name: [node for node in walk(rule.tree) if isinstance(node, Call)] for name, rule in terminals.items()}
        called = {name: {call.name for call in each} & terminals.keys() for name, each in calls.items()}
        for group in tree.components(called):
            name = min(group, key=lambda each: terminals[each].place)
            if len(group) > 1 or name in called[name]:
                remedy = "write a rule, with a name in lower case, for recursion"
                raise VocabularyError(f"{terminals[name].place}: terminal {quoted(name)} calls itself; {remedy}")
        start = START
        if self._ignored:
            self._rules[IGNORED] = Rule(Repeat(self._one_ignored(), 1, None), Place(1, 1))
            if self._options.get("allow_initial_skip"):
                start = WHOLE
                self._rules[start] = Rule(Sequence((MAYBE_IGNORED, Call(START, Place(1, 1)))), Place(1, 1))
        return Grammar(self._rules, start)

    def _one_ignored(self) -> Node:
        """A node of which ignored text is any number of repetitions: single characters, such as whitespace, and a call of a rule for other
        text. ``/[ ]+/`` is repeated, so it is the character.
        """
        sets: list[Set] = []
        others: list[Node] = []
        work = self._ignored[::-1]
        while work:
            node = each = work.pop()
            while isinstance(each, Call) and each.name in self._rules:
                each = self._rules[each.name].tree
            if isinstance(each, Repeat) and each.least <= 1 and each.most is None:
                each = each.body
            if isinstance(each, Choice):
                work += reversed(each.parts)
            elif isinstance(each, Characters):
                sets.append(each.edges)
            else:
                others.append(node)
        parts: list[Node] = [Characters(union(*sets))] if sets else []
        if others:
            self._rules[COMMENT] = Rule(Choice(tuple(others)), Place(1, 1))
            parts.append(Call(COMMENT, Place(1, 1)))
        return Choice(tuple(parts))

    # Tokens.

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += self._next < len(self._tokens) - 1
        return token

    def _follows(self, *texts: str) -> bool:
        return self._peek().text in texts

    def _skip(self, text: str) -> bool:
        """Skip a token with a text, if it follows."""
        is_there = self._peek().text == text
        if is_there:
            self._take()
        return is_there

    def _skip_newlines(self) -> bool:
        """Skip ends of lines; return whether a token follows."""
        while self._peek().kind == "newline":
            if self._next == len(self._tokens) - 1:
                return False
            self._next += 1
        return True

    def _place(self, token: _Token) -> Place:
        return self._places.of(token.at)

    def _refused(self, token: _Token, expected: str) -> FstError:
        found = "the end of the line" if token.kind == "newline" else quoted(token.text)
        place = self._place(token)
        if token.kind == "token":
            return UnsupportedError(f"{place}: the token {found} is not supported; write its text as a string")
        if token.kind == "reference":
            return UnsupportedError(f"{place}: {found}, another grammar, is not supported; write its rules into this one")
        if token.text in REFUSED:
            return UnsupportedError(f"{place}: {found} is not supported; write the texts in another way")
        return VocabularyError(f"{place}: found {found}; expected {expected}")

    def _expect(self, *texts: str) -> _Token:
        token = self._take()
        if token.text not in texts:
            raise self._refused(token, " or ".join(map(repr, texts)))
        return token

    def _expect_kind(self, noun: str, *kinds: str) -> _Token:
        token = self._take()
        if token.kind not in kinds:
            raise self._refused(token, noun)
        return token

    # Statements.

    def _definition(self, token: _Token) -> None:
        name, place = token.text, self._place(token)
        self._in_terminal = token.kind == "terminal"
        name = name if self._in_terminal else name.removeprefix("!").removeprefix("?")
        if self._follows("{"):
            raise UnsupportedError(f"{place}: {quoted(name)} is a template, which is not supported; write a rule for each use")
        if self._follows("."):
            raise UnsupportedError(f"{place}: {quoted(name)} has a priority, which is not supported; remove it")
        if not self._in_terminal and self._skip("["):
            self._attributes(name)
        self._expect(":")
        node = self._choice()
        tree.defined(self._rules, name, Rule(node, place), "terminal" if self._in_terminal else "rule")

    def _attributes(self, name: str) -> None:
        """Read the attributes of a rule. A capture changes no text."""
        while not self._skip("]"):
            token = self._expect_kind("an attribute", "rule")
            if token.text != "capture":
                found = f"the attribute {quoted(token.text)} of rule {quoted(name)}"
                raise UnsupportedError(f"{self._place(token)}: {found} is not supported; remove it")
            if self._skip("="):
                self._expect_kind("a string", "string")
            if not self._follows("]"):
                self._expect(",")

    def _set_options(self, token: _Token) -> None:
        options = json.loads(token.text)
        for name, value in options.items() if isinstance(options, dict) else [("", options)]:
            if name not in OPTIONS or not isinstance(value, bool):
                raise UnsupportedError(f"{self._place(token)}: the option {quoted(name)}: {quoted(value)} is not supported; remove it")
            self._options[name] = value

    def _import(self) -> None:
        library = self._expect_kind("the library common", *NAMES)
        if library.text != "common":
            found = f"the library {quoted(library.text)} is not supported"
            raise UnsupportedError(f"{self._place(library)}: {found}; write its rules into this grammar")
        if self._skip("("):
            while True:
                self._import_one(self._expect_kind("a name", *NAMES), None)
                if not self._follows(","):
                    break
                self._take()
            self._expect(")")
            return
        self._expect(".")
        token = self._expect_kind("a name", *NAMES)
        self._import_one(token, self._expect_kind("a name", "terminal") if self._skip("->") else None)

    def _import_one(self, token: _Token, alias: _Token | None) -> None:
        if token.text not in COMMON:
            raise VocabularyError(f"{self._place(token)}: common has no {quoted(token.text)}; expected one of {', '.join(COMMON)}")
        name = (alias or token).text
        tree.defined(self._rules, name, Rule(_pattern(COMMON[token.text]), self._place(alias or token)), "terminal")

    # Choices, down to single lexemes.

    def _terminal_choice(self) -> Node:
        self._in_terminal = True
        return self._choice()

    def _choice(self) -> Node:
        """Read alternatives; the next line may begin with ``|``."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            place = self._place(self._peek())
            raise UnsupportedError(f"{place}: there are more than {MAX_DEPTH} groups inside one another; make rules of them")
        parts = [self._sequence()]
        while self._skip_bar():
            parts.append(self._sequence())
        self._depth -= 1
        return _chosen(parts)

    def _skip_bar(self) -> bool:
        before = self._next
        if self._skip_newlines() and self._skip("|"):
            return True
        if self._depth == 1:
            self._next = before
        return False

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while True:
            if self._depth > 1:
                self._skip_newlines()
            token = self._peek()
            if token.kind == "newline" or (token.kind == "sign" and token.text in ENDS):
                break
            parts.append(self._repeated())
        if self._skip("->"):
            self._expect_kind("the name of an alias", "rule")
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Node:
        node, token = self._atom(), self._peek()
        if token.kind != "sign" or token.text not in COUNTERS:
            return node
        self._take()
        if token.text in REPEATS:
            return Repeat(node, *REPEATS[token.text])
        least = 0 if token.text == "{" and self._follows(",") else self._number()
        most: int | None = least
        if token.text == "~":
            most = self._number() if self._skip("..") else least
        else:
            if self._skip(","):
                most = None if self._follows("}") else self._number()
            self._expect("}")
        return Repeat(node, *tree.counts(least, most, self._place(token)))

    def _number(self) -> int:
        token = self._expect_kind("a number", "number")
        if not token.text.isdigit() or len(token.text) > MAX_DIGITS:
            raise VocabularyError(f"{self._place(token)}: the count is {quoted(token.text)}; expected 0 to {tree.MAX_COUNT:,}")
        return int(token.text)

    def _atom(self) -> Node:
        token = self._take()
        if token.kind in NAMES:
            return self._named(token)
        if token.text == "(":
            node = self._choice()
            self._expect(")")
            return node
        if token.text == "[":
            node = self._choice()
            self._expect("]")
            return Repeat(node, 0, 1)
        if token.kind == "%json":
            if self._in_terminal:
                raise VocabularyError(f"{self._place(token)}: a terminal has %json; expected it in a rule, in lower case")
            return self._followed(Schema(token.text, self._place(token)))
        if token.kind == "string":
            node = self._string(token)
            return node if isinstance(node, Sequence) and not node.parts else self._followed(node)
        if token.kind == "regex":
            return self._followed(self._regex(token))
        raise self._refused(token, "a string, a regular expression, a name, ( or [")

    def _followed(self, node: Node) -> Node:
        """A lexeme, and the ignored text after it."""
        return Sequence((node, MAYBE_IGNORED)) if self._has_ignored and not self._in_terminal else node

    def _named(self, token: _Token) -> Node:
        place = self._place(token)
        if self._follows("{") and self._tokens[self._next + 1].kind != "number" and self._tokens[self._next + 1].text != ",":
            raise UnsupportedError(f"{place}: {quoted(token.text)} is a template, which is not supported; write a rule for each use")
        call = Call(token.text, place)
        if token.kind == "terminal":
            return self._followed(call)
        if self._in_terminal:
            raise VocabularyError(f"{place}: a terminal calls rule {quoted(token.text)}; expected terminals, in upper case")
        return call

    def _string(self, token: _Token) -> Node:
        first, flag = self._unquoted(token)
        if not self._skip(".."):
            if not flag:
                return tree.literal(first)
            return Sequence(tuple(map(_in_all_cases, first)))
        last, other = self._unquoted(self._expect_kind("a string", "string"))
        if flag or other or len(first) != 1 or len(last) != 1 or last < first:
            raise VocabularyError(f"{self._place(token)}: the ends of a range are not two characters in order; expected two, without flags")
        return Characters(of_runs([(ord(first), ord(last))]))

    def _unquoted(self, token: _Token) -> tuple[str, str]:
        """The content of a string, and its flag."""
        text = token.text.removesuffix("i")
        if "\\" not in text:
            return text[1:-1], token.text[len(text) :]
        content: str = json.loads(text)
        if any("\ud800" <= char <= "\udfff" for char in content):
            raise VocabularyError(f"{self._place(token)}: the string has a lone surrogate; expected characters")
        return content, token.text[len(text) :]

    def _regex(self, token: _Token) -> Node:
        end = token.text.rindex("/")
        flags, pattern = token.text[end + 1 :], token.text[1:end]
        if "l" in flags:
            raise UnsupportedError(f"{self._place(token)}: the flag l of a regular expression is not supported; remove it")
        try:
            return _pattern(f"(?{flags}){pattern}" if flags else pattern)
        except FstError as error:
            raise type(error)(f"{self._place(token)}: {error}") from None


def _chosen(parts: list[Node]) -> Node:
    """A choice, in which all lexemes with ignored text after them become one choice of lexemes with ignored text after it."""
    lexemes = [part.parts[0] for part in parts if isinstance(part, Sequence) and part.parts[1:] == (MAYBE_IGNORED,)]
    if len(lexemes) > 1:
        others = [part for part in parts if not (isinstance(part, Sequence) and part.parts[1:] == (MAYBE_IGNORED,))]
        parts = [*others, Sequence((Choice(tuple(lexemes)), MAYBE_IGNORED))]
    return parts[0] if len(parts) == 1 else Choice(tuple(parts))


@lru_cache(maxsize=1 << 10)
def _pattern(pattern: str) -> Node:
    return Pattern(pattern).tree


@lru_cache(maxsize=1 << 10)
def _in_all_cases(char: str) -> Node:
    return Characters(properties.fold(of_text(char)))


def _is_terminal(name: str) -> bool:
    return name.removeprefix("_")[0].isupper()
