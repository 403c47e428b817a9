"""Grammars of late guides: three syntaxes, and the parts of their rules."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from support.machines.drawn_grammars import GRAMMARS, NAMES
from support.naive.earley import Earley
from support.naive.parts import Parts, assert_sound
from support.shared_data import TESTS

from fst.compile.machines.guide.grammar.lark import COMMON, read_lark
from fst.compile.machines.guide.grammar.parts import GrammarParts
from fst.compile.machines.guide.grammar.reader import READERS, read_grammar
from fst.compile.machines.guide.grammar.tree import Grammar
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.errors import FstError, UnsupportedError, VocabularyError
from fst.machines.guide.parts import CALL, Part

GRAMMARS_OF_BENCHMARK = TESTS / "bench" / "grammars"
LONGEST = 4  # length of the texts of drawn grammars
TEXTS = [b"".join(each) for length in range(6) for each in product((b"a", b"b"), repeat=length)]


class _Boolean:
    """The parts of a nested schema: the word true or false, which is a part of its own."""

    def part(self, number: int) -> Part:
        builder = PartBuilder()
        start, end = builder.state(), builder.state()
        if number:
            builder.strings(start, [b"true", b"false"], end)
        else:
            builder.call(start, 1, end)
        found = builder.part(start, [end])
        assert found is not None
        return found


def _parts(grammar: Grammar) -> GrammarParts:
    return GrammarParts(grammar, lambda _: _Boolean())


def _read(syntax: str, grammar: str, text: str) -> bool:
    return Parts(_parts(READERS[syntax](grammar)).part).reads(text.encode())[1]


def _assert_equal(grammar: Grammar) -> None:
    """Assert that the parts of a grammar read the texts, and the beginnings of texts, that Earley's algorithm reads."""
    try:
        parts = _parts(grammar)
    except VocabularyError as error:
        if "is always empty" not in str(error):
            raise
        return
    walks, earley = Parts(cache(parts.part)), Earley(grammar)
    work = [b""]
    for text in work:
        found = earley.reads(text)
        assert walks.reads(text) == found, text
        if found[0] and len(text) < LONGEST:
            work += [text + b"a", text + b"b"]
    for number, name in enumerate(["", *NAMES]):
        if not name or name in parts.rules.nonempty:
            assert_sound(parts.part(number), may_be_empty=not name)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(GRAMMARS)
def test_parts_read_the_texts_of_a_grammar(grammar: Grammar) -> None:
    """The parts of a grammar read exactly its texts, and the beginnings of its texts, whatever the recursion of its rules."""
    _assert_equal(grammar)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, derandomize=True)
@given(GRAMMARS)
def test_parts_read_the_texts_of_many_grammars(grammar: Grammar) -> None:
    """Like the test above, with more grammars."""
    _assert_equal(grammar)


# Left recursion, with the texts of a language that is easy to see.

LEFT = {
    "direct": 'start: start "a" | "b"',
    "indirect": 'start: x "a" | "b"\nx: y\ny: start',
    "hidden behind an empty rule": 'start: x start "a" | "b"\nx: y\ny: |',
    "of rules that may be empty": 'start: "b" x\nx: y | x "a"\ny: x | ',
    "in a repetition": 'start: x+ | "b"\nx: start "a"',
    "in a counted repetition": 'start: x{1,100} | "b"\nx: start "a"',
}


@pytest.mark.parametrize("grammar", LEFT.values(), ids=LEFT)
def test_left_recursion_is_removed(grammar: str) -> None:
    """A rule that calls itself at its start, in one of several ways, reads ``b``, ``ba``, ``baa`` and so on."""
    walks = Parts(_parts(read_lark(grammar)).part)
    read = {text for text in TEXTS if walks.reads(text)[1]}
    if "x+" in grammar or "x{" in grammar:  # several texts one after the other
        assert {b"b", b"ba", b"baa", b"baba"} <= read
        assert not {b"", b"a", b"bb", b"bab"} & read
    else:
        assert read == {b"b", b"ba", b"baa", b"baaa", b"baaaa"}


def test_a_part_is_made_of_one_rule() -> None:
    """A rule that is not small and not left-recursive is called, not copied, so that the parts grow with the grammar."""
    rules = "\n".join(f'r{number}: "{"x" * 20}" r{number + 1} r{number + 1}' for number in range(50))
    parts = _parts(read_lark(f'start: r0\n{rules}\nr50: "{"y" * 20}"'))
    assert max(parts.part(number).states for number in range(52)) < 30


# Syntaxes.

READ = [
    # Lark
    ("lark", 'start: "a" | B\nB: "b"', ["a", "b"], ["", "ab"]),
    ("lark", 'start: "a"\n  | "b" # c\n\n  // d\n  | "c"', ["a", "b", "c"], ["d"]),
    ("lark", '?start: x -> y\n!x: "a"', ["a"], ["b"]),
    ("lark", 'start: ("a"\n  "b") ["c" | "d"]', ["ab", "abc", "abd"], ["abcd"]),
    ("lark", 'start: "a"* "b"+ "c"?', ["b", "aabbc"], ["a", "bcc"]),
    ("lark", 'start: "a"~2 "b"~1..2 "c"{1,2} "d"{,1} "e"{2,} "f"{1} "g"{0}', ["aabceef", "aabbccdeeef"], ["aabceefg", "abceef", "aabcef"]),
    ("lark", 'start: "é\\u0041\\n\\"\\/"', ['éA\n"/'], ["é"]),
    ("lark", 'start: "aé"i "x"', ["aéx", "AÉx"], ["aéX"]),
    ("lark", 'start: "a".."c" "α".."γ"', ["aα", "cβ"], ["dα"]),
    ("lark", "start: /[a-c]{2}\\/\\d/ /./s /x y/x", ["ab/1\nxy"], ["ab/1\nx y"]),
    ("lark", "start: /a(?i)b/ /C/i", ["aBc", "abC"], ["ABc"]),
    ("lark", "start: _a A-1\n_a: B_C\nA-1: /x/\nB_C: A-1 A-1", ["xxx"], ["xx"]),
    ("lark", "start:", [""], ["a"]),
    ("lark", 'start: | "a" ""', ["", "a"], ["aa"]),
    ("lark", 'start[capture="x"]: y\ny[capture]: "a"', ["a"], []),
    ("lark", '%llguidance {"no_forcing": true}\nstart: "a"', ["a"], []),
    ("lark", '%import common.INT\n%import common (WS, CNAME)\n%import common.WORD -> W\nstart: INT WS CNAME WS W', ["1 a_1 b"], ["1a b"]),
    ("lark", '%ignore " "\n%ignore /#.*/\nstart: "a" /b+/ [C]\nC: "c" "d"', ["abb", "a bb  cd", "ab "], [" ab", "abc d"]),
    ("lark", '%llguidance {"allow_initial_skip": true}\n%ignore " "\nstart: "a"', ["a", "  a "], ["b"]),
    ("lark", 'start: "<" %json {"type": "boolean"} ">"', ["<true>", "<false>"], ["<>", "<1>"]),
    ("lark", '%ignore " "\nstart: "<" (%json {\n"type":\n"boolean"}){2} ">"', ["<truefalse>", "< true false >"], ["<true>"]),
    ("lark", 'start: "a"\r\nb: "b"\r\n', ["a"], []),
    ("lark", 'start: sum\nsum: sum "+" x | x\nx: x "*" y | y\ny: "(" sum ")" | /[0-9]+/', ["1", "1+2*(3+4)*5"], ["1+", "(1", "*1"]),
    # GBNF
    ("gbnf", 'root ::= "a" b | # c\n  "d"\nb ::= (\n "x"\n | "y" )\n', ["ax", "ay", "d"], ["a"]),
    ("gbnf", r'root ::= "\x41\u0042\U00000043\n\t\r\"\\\[\]"', ['ABC\n\t\r"\\[]'], []),
    ("gbnf", 'root ::= [a-c] [^a-c] [^\\n] . [-x] [x-]', ["ad\t\n-x", "cé\tfx-"], ["aa\tf--", "ad\nf--"]),
    ("gbnf", 'root ::= "ab"{2} "c"{1,2} "d"{0} "e"{2,} "f"* "g"+ "h"?', ["ababceeg", "ababcceeeffggh"], ["ababceg", "ababdceeg"]),
    ("gbnf", 'root ::= ("a"+)* "b"?*', ["", "aab", "bbb"], ["ba"]),
    ("gbnf", 'root ::= R-1_x\nR-1_x ::= "x"', ["x"], []),
    ("gbnf", "root ::=\n  item+\nitem ::= [^x]\n", ["a"], ["", "x"]),
    # EBNF
    ("ebnf", 'root ::= "a"\n  b.c |\n  "d"\n# e\n b.c ::= "x"', ["ax", "d"], ["a"]),
    ("ebnf", r'root ::= "\x41\u0042\U00000043\x1F600z" "\"\\\/\'\?\n\r\t\b\f\a\v\0\e"', ["ABC\U0001f600z\"\\/'?\n\r\t\b\f\a\v\0\x1b"], []),
    ("ebnf", r"root ::= [a-c] [^a-c] [^] [\]\^\-\$] [-x]", ["ad\n]x", "cé\0^-"], ["aa\n]x"]),
    ("ebnf", 'root ::= "a"{2} "b"{1,2} "c"{0} "d"{2,} () ("e"+)+', ["aabdde", "aabbdddee"], ["aabde", "aabcdde"]),
    ("ebnf", 'root ::= root "a" | "a"', ["a", "aaa"], [""]),
    ("ebnf", 'root ::= a[b]\na ::= "x"', ["xb"], ["x"]),
]


@pytest.mark.parametrize(("syntax", "grammar", "read", "unread"), READ)
def test_a_syntax_is_read_as_documented(syntax: str, grammar: str, read: list[str], unread: list[str]) -> None:
    """Each construct of a syntax has the texts that its documentation defines."""
    assert [text for text in [*read, *unread] if _read(syntax, grammar, text)] == read


COMMON_TEXTS = {
    "DIGIT": ("1", "12"),
    "HEXDIGIT": ("fA9", "g"),
    "INT": ("012", "-1"),
    "SIGNED_INT": ("-12", "1."),
    "DECIMAL": ("1.", "."),
    "_EXP": ("e+1", "e"),
    "FLOAT": ("1e5", "1"),
    "SIGNED_FLOAT": ("-.5E-1", "-1"),
    "NUMBER": ("1", "-1"),
    "SIGNED_NUMBER": ("+1.5", "+"),
    "ESCAPED_STRING": ('"a\\""', '"a"b"'),
    "LCASE_LETTER": ("a", "A"),
    "UCASE_LETTER": ("A", "a"),
    "LETTER": ("A", "_"),
    "WORD": ("aB", "a1"),
    "CNAME": ("_a1", "1a"),
    "WS_INLINE": (" \t", "\n"),
    "WS": (" \f\r\n", ""),
    "CR": ("\r", "\n"),
    "LF": ("\n", "\r"),
    "NEWLINE": ("\r\n\n", "\r"),
    "SH_COMMENT": ("# a", "#\n"),
    "CPP_COMMENT": ("// a", "/ a"),
    "C_COMMENT": ("/* * /\n**/", "/*a*/*/"),
    "SQL_COMMENT": ("-- a", "- a"),
}


def test_common_terminals() -> None:
    """Every terminal of Lark's library has its texts."""
    assert COMMON_TEXTS.keys() == COMMON.keys()
    for name, (read, unread) in COMMON_TEXTS.items():
        grammar = f"%import common.{name} -> X\nstart: X"
        assert all(_read("lark", grammar, text) for text in ([*read] if name == "HEXDIGIT" else [read])), name
        assert not _read("lark", grammar, unread), name


WRONG: list[tuple[str, str, type[FstError], str]] = [
    ("lark", 'start: "a" b', VocabularyError, "line 1, column 12: rule 'b' is not defined"),
    ("lark", 'start: "a"\nx: B', VocabularyError, "line 2, column 4: rule 'B' is not defined"),
    ("lark", 'start: x\nx: "a" x', VocabularyError, "line 2, column 1: rule 'x' has no finite text; add an alternative"),
    ("lark", "start: x\nx: /[^\\s\\S]/", VocabularyError, "line 2, column 1: rule 'x' has no finite text; correct its sets"),
    ("lark", 'start: "c" a\na: b |\nb: a |', VocabularyError, "line 2, column 1: rule 'a' is always empty, in a cycle"),
    ("lark", 'start: "a"\nstart: "b"', VocabularyError, "line 2, column 1: rule 'start' is already defined in line 1"),
    ("lark", '%import common.INT\nINT: "a"\nstart: INT', VocabularyError, "line 2, column 1: terminal 'INT' is already defined"),
    ("lark", 'start: A\nA: "a" B\nB: A | "b"', VocabularyError, "line 2, column 1: terminal 'A' calls itself"),
    ("lark", 'start: A\nA: start', VocabularyError, "line 2, column 4: a terminal calls rule 'start'"),
    ("lark", 'start: A\nA: %json {}', VocabularyError, "line 2, column 4: a terminal has %json"),
    ("lark", 'x: "a"', VocabularyError, "line 1, column 1: there is no rule 'start'"),
    ("lark", "start: 'a'", VocabularyError, "line 1, column 8: found \"'\"; expected a string in double quotes"),
    ("lark", "start: Foo", VocabularyError, "line 1, column 8: a name has letters of both cases"),
    ("lark", 'start: ("a"', VocabularyError, "line 1, column 12: found the end of the line; expected ')'"),
    ("lark", 'start: "a" )', VocabularyError, "line 1, column 12: found ')'; expected the end of the line"),
    ("lark", 'start: *', VocabularyError, "line 1, column 8: found '*'; expected a string"),
    ("lark", 'start "a"', VocabularyError, "line 1, column 7: found '\"a\"'; expected ':'"),
    ("lark", 'start: "a"~3..2', VocabularyError, "line 1, column 11: the counts are 3 to 2"),
    ("lark", 'start: "a"~-1', VocabularyError, "line 1, column 12: the count is '-1'"),
    ("lark", 'start: "a"{9999999999}', UnsupportedError, "line 1, column 11: a count is 9,999,999,999"),
    ("lark", 'start: "ab".."c"', VocabularyError, "line 1, column 8: the ends of a range are not two characters"),
    ("lark", 'start: "\\ud800"', VocabularyError, "line 1, column 8: the string has a lone surrogate"),
    ("lark", "\nstart: /(/", UnsupportedError, "line 2, column 8: "),
    ("lark", "start: /(?=a)a/", UnsupportedError, "line 1, column 8: the pattern has a look-ahead"),
    ("lark", "start: /a/l", UnsupportedError, "line 1, column 8: the flag l"),
    ("lark", "%import common.FOO\nstart: FOO", VocabularyError, "line 1, column 16: common has no 'FOO'"),
    ("lark", "%import python.NAME\nstart: NAME", UnsupportedError, "line 1, column 9: the library 'python' is not supported"),
    ("lark", 'start.2: "a"', UnsupportedError, "line 1, column 1: 'start' has a priority"),
    ("lark", 'start: x{"a"}\nx{y}: y', UnsupportedError, "line 1, column 8: 'x' is a template"),
    ("lark", 'start[lazy]: "a"', UnsupportedError, "line 1, column 7: the attribute 'lazy' of rule 'start' is not supported"),
    ("lark", 'start: <|end|>', UnsupportedError, "line 1, column 8: the token '<|end|>' is not supported"),
    ("lark", 'start: @other', UnsupportedError, "line 1, column 8: '@other', another grammar, is not supported"),
    ("lark", 'start: A\nA: %regex {"substring_chars": "a"}', UnsupportedError, "line 2, column 4: '%regex' is not supported"),
    ("lark", 'start: A\nA: /a/ & /b/', UnsupportedError, "line 2, column 8: '&' is not supported"),
    ("lark", '%declare A\nstart: A', UnsupportedError, "line 1, column 1: '%declare' is not supported"),
    ("lark", '%llguidance {"x": 1}\nstart: "a"', UnsupportedError, "line 1, column 1: the option 'x': 1 is not supported"),
    ("lark", 'start: "a" %json {"a"', VocabularyError, "line 1, column 22: the JSON is malformed"),
    ("lark", "start: " + "(" * 200, UnsupportedError, "there are more than 100 groups inside one another"),
    ("gbnf", "root ::= a", VocabularyError, "line 1, column 10: rule 'a' is not defined"),
    ("gbnf", "root ::= a\na ::= b\nb ::= a", VocabularyError, "line 2, column 1: rule 'a' has no finite text"),
    ("gbnf", 'root ::= "a"\nroot ::= "b"', VocabularyError, "line 2, column 1: rule 'root' is already defined in line 1"),
    ("gbnf", 'start ::= "a"', VocabularyError, "line 1, column 1: there is no rule 'root'"),
    ("gbnf", 'root = "a"', VocabularyError, "line 1, column 6: found '='; expected '::='"),
    ("gbnf", 'root ::= "a"\n  "b"', VocabularyError, "line 2, column 3: found '\"'; expected the name of a rule"),
    ("gbnf", 'root ::= "a" )', VocabularyError, "line 1, column 14: found ')'; expected the end of the line"),
    ("gbnf", 'root ::= ("a"', VocabularyError, "line 1, column 14: found the end; expected ')'"),
    ("gbnf", 'root ::= "a', VocabularyError, "line 1, column 12: found the end; expected the quotation mark"),
    ("gbnf", "root ::= [a", VocabularyError, "line 1, column 12: found the end; expected the ] that ends the set"),
    ("gbnf", "root ::= [z-a]", VocabularyError, "line 1, column 11: the range ends before it begins"),
    ("gbnf", "root ::= []", VocabularyError, "line 1, column 10: the set is empty"),
    ("gbnf", 'root ::= "\\q"', VocabularyError, "line 1, column 11: the escape \\q is unknown"),
    ("gbnf", 'root ::= "\\uD800"', VocabularyError, "line 1, column 11: \\uD800 is not a character"),
    ("gbnf", 'root ::= "a"{,2}', VocabularyError, "line 1, column 13: found '{'; expected {2}, {2,} or {2,3}"),
    ("gbnf", 'root ::= "a"{3,2}', VocabularyError, "line 1, column 13: the counts are 3 to 2"),
    ("gbnf", "root ::= <think>", UnsupportedError, "line 1, column 10: tokens, such as <name>, are not supported"),
    ("ebnf", 'root ::= "a" (= "b")', UnsupportedError, "line 1, column 14: a look-ahead"),
    ("ebnf", 'root ::= "a"+*', VocabularyError, "line 1, column 14: found '*'; expected no repetition of a repetition"),
    ("ebnf", "root ::= [\\d]", VocabularyError, "line 1, column 11: the escape \\d is unknown"),
    ("ebnf", 'root ::= "a" b ::= "b"', VocabularyError, "line 1, column 16: found ':'"),
    ("ebnf", 'root ::= x\nx[temperature=1] ::= "a"', UnsupportedError, "line 2, column 2: options of a rule are not supported"),
    ("ebnf", 'root ::= TagDispatch(("a", x))\nx ::= "b"', UnsupportedError, "line 1, column 10: the macro TagDispatch is not supported"),
    ("ebnf", 'root ::= "a\n"', VocabularyError, "line 1, column 12: found '\\n'; expected the quotation mark"),
    ("ebnf", "root ::= " + "(" * 200, UnsupportedError, "there are more than 100 groups inside one another"),
]


@pytest.mark.parametrize(("syntax", "grammar", "kind", "message"), WRONG)
def test_an_error_has_line_and_column(syntax: str, grammar: str, kind: type[FstError], message: str) -> None:
    """A grammar that is malformed, or has a construct that is not supported, is refused with its position and the construct's name."""
    with pytest.raises(kind, match=re.escape(message)):
        _parts(READERS[syntax](grammar))


def test_the_syntax_is_given() -> None:
    """The syntax of a grammar is never guessed."""
    for syntax, message in ((None, "no syntax is given"), ("bnf", "expected 'lark', 'gbnf', 'ebnf' or 'structural_tag'")):
        with pytest.raises(ValueError, match=message):
            read_grammar('root ::= "a"', syntax)


def test_an_error_of_a_nested_schema_has_line_and_column() -> None:
    """What is refused in a nested schema is refused at the position of the schema."""

    def refuse(source: str) -> _Boolean:
        raise UnsupportedError(f"{source} is not supported")

    with pytest.raises(UnsupportedError, match=re.escape("line 2, column 4: {} is not supported")):
        GrammarParts(read_lark("start: x\nx: %json {}"), refuse)


DEEP = [
    ("lark", "start: " + "(" * 99 + "/" + "(" * 99 + "a" + ")" * 99 + "/" + ")" * 99),
    ("lark", "start: " + '("b"+ ' * 99 + '"a"' + ")+" * 99),
    ("gbnf", "root ::= " + '("b"+ ' * 99 + '"a"' + ")+" * 99),
    ("lark", "start: /" + "(b(" * 49 + "a" + ")+)+" * 49 + "/"),
    ("lark", "start: %json " + "[" * 100_000),
]


@pytest.mark.parametrize(("syntax", "grammar"), DEEP)
def test_deep_groups_are_refused(syntax: str, grammar: str) -> None:
    """Groups inside one another never end in a RecursionError: there are few, or they are refused."""
    with pytest.raises(FstError, match=r"groups|levels|JSON"):
        _parts(read_grammar(grammar, syntax)).part(0)


def test_a_lone_surrogate_is_refused() -> None:
    """A grammar is text; a lone surrogate is refused with its line and column."""
    with pytest.raises(VocabularyError, match="line 2, column 6: found a lone surrogate"):
        read_grammar('start: a\na: "b\ud800"', "lark")


def test_nested_schemas_share_one_numbering() -> None:
    """Parts of nested schemas have numbers of their own, after those of the rules."""
    parts = _parts(read_lark('start: %json {} x %json {"a": 1}\nx: "' + "x" * 20 + '"'))
    called = [move[2] for move in parts.part(0).moves.tolist() if move[1] == CALL]
    assert sorted(called) == [2, 3, 4]
    assert [[move[2] for move in parts.part(number).moves.tolist()] for number in (3, 4)] == [[5], [6]]


def _lines(name: str) -> list[tuple[str, bool]]:
    """The texts of a grammar of the benchmark, and whether they are read."""
    lines = (GRAMMARS_OF_BENCHMARK / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(each["text"], each["is_read"]) for each in map(json.loads, lines)]


@pytest.mark.parametrize("name", ["json", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sql", "python", "c"))])
def test_grammars_of_the_benchmark(name: str) -> None:
    """Grammars of JSON and of subsets of SQL, Python and C read their texts, and refuse others."""
    parts = _parts(read_lark((GRAMMARS_OF_BENCHMARK / f"{name}.lark").read_text(encoding="utf-8")))
    walks = Parts(cache(parts.part))
    assert [walks.reads(text.encode())[1] for text, _ in _lines(name)] == [is_read for _, is_read in _lines(name)]


@pytest.mark.parametrize("name", ["json", "sql", "python", "c"])
def test_all_parts_of_a_grammar_are_sound(name: str) -> None:
    """No part has an empty text, a dead state, or an arc to its start."""
    parts = _parts(read_lark((GRAMMARS_OF_BENCHMARK / f"{name}.lark").read_text(encoding="utf-8")))
    assert_sound(parts.part(0), may_be_empty=True)
    for rule in parts.rules.nonempty:
        assert_sound(parts.part(parts.rules.number_of(rule)))


def test_many_rules_and_long_chains() -> None:
    """A chain of 3,000 rules is read without recursion in Python, whether it goes on at the left or at the right end."""
    for body in ('r{} "b"', '"b" r{}'):
        rules = "\n".join(f"r{number}: {body.format(number + 1)}" for number in range(3000))
        parts = _parts(read_lark(f"start: r0\n{rules}\nr3000: \"a\""))
        assert parts.part(1).states < 10
