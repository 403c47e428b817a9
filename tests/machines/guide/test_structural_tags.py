"""Structural tags, in the JSON form that XGrammar documents."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product
from typing import Any

import pytest
from support.machines.byte_automata import accepts
from support.naive.parts import Parts, assert_sound

from fst.compile.machines.guide.grammar.parts import GrammarParts
from fst.compile.machines.guide.grammar.reader import read_grammar
from fst.compile.machines.guide.grammar.structural_tags import read_structural_tag
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.texts import automaton_of
from fst.errors import FstError, UnsupportedError, VocabularyError
from fst.machines.guide.parts import Part

ANY = {"type": "any_text"}
ONE, TWO = ({"type": "const_string", "value": value} for value in "12")


class _Boolean:
    """The parts of a nested schema: the word true or false."""

    def part(self, number: int) -> Part:
        assert number == 0
        builder = PartBuilder()
        start, end = builder.state(), builder.state()
        builder.strings(start, [b"true", b"false"], end)
        found = builder.part(start, [end])
        assert found is not None
        return found


def _tag(begin: str, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def _triggered(**options: Any) -> dict[str, Any]:
    tags = [_tag("<<a>", ONE, "</a>"), _tag("<<b>", TWO, "</b>")]
    return {"type": "triggered_tags", "triggers": ["<<"], "tags": tags, **options}


def _separated(**options: Any) -> dict[str, Any]:
    return {"type": "tags_with_separator", "separator": ",", "tags": [_tag("a", ONE, "b"), _tag("c", TWO, "d")], **options}


def _dispatch(**options: Any) -> dict[str, Any]:
    return {"type": "dispatch", "rules": [["<f>", ONE], ["<g>", TWO]], **options}


def _sequence(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": [*elements]}


def _parts(form: Any) -> GrammarParts:
    return GrammarParts(read_structural_tag({"type": "structural_tag", "format": form}, read_grammar), lambda _: _Boolean())


# A format, texts that it reads, and texts that it does not read; all are as `xgrammar` 0.2.9 reads them.
READ: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (ONE, ["1"], ["", "11"]),
    ({"type": "json_schema", "json_schema": {"type": "boolean"}, "style": "json"}, ["true"], ["1"]),
    ({"type": "regex", "pattern": "a+b"}, ["aab"], ["b"]),
    ({"type": "grammar", "grammar": 'root ::= "a" root | "b"'}, ["aab"], ["a"]),
    ({"type": "grammar", "grammar": 'start: "(" start ")" | "x"', "syntax": "lark"}, ["((x))"], ["((x)"]),
    (ANY, ["", "a<é\n"], []),
    ({**ANY, "excludes": ["ab", "ba"]}, ["", "aa", "bb"], ["ab", "aabb"]),
    ({**ANY, "max_chars": 2}, ["", "a", "é€"], ["abc"]),
    ({**ANY, "max_chars": 0}, [""], ["a"]),
    (_tag("[", {**ANY, "max_chars": 2}, "]"), ["[]", "[é€]"], ["[abc]", "[a]]"]),
    (_tag("(", ANY, "]]"), ["(x]]", "(x]]]"], ["(x]", "(]]]]"]),
    (_tag("[", ANY, ["]]", "]!"]), ["[a]!", "[a]]"], ["[a]", "[a]!]]"]),
    (_tag("(", _sequence(ANY, {"type": "const_string", "value": "k"}), "]]"), ["(xk]]", "(xkk]]"], ["(x]]k]]"]),
    (_tag("(", {"type": "or", "elements": [ONE, ANY]}, "]]"), ["(1]]", "(k]]"], ["(k]]x]]"]),
    (_tag("(", {"type": "optional", "content": ANY}, "]]"), ["(]]", "(x]]"], ["(k]]x]]"]),
    (_tag("(", {"type": "star", "content": ANY}, "]]"), ["(]]", "(k]]x]]"], ["("]),
    ({"type": "plus", "content": ONE}, ["1", "11"], [""]),
    ({"type": "repeat", "min": 1, "max": 2, "content": ONE}, ["1", "11"], ["", "111"]),
    ({"type": "repeat", "min": 1, "max": -1, "content": ONE}, ["1", "111"], [""]),
    (_triggered(), ["", "x<<a>1</a>y<<b>2</b>z", "x<", "<<a>1</a><<b>2</b>"], ["x<<", "<<<a>1</a>", "<<c"]),
    (_triggered(at_least_one=True), ["<<a>1</a>", "<<a>1</a>x<<b>2</b>"], ["", "x<<a>1</a>"]),
    (_triggered(stop_after_first=True), ["", "x<", "x<<a>1</a>"], ["<<a>1</a>x", "<<a>1</a><<b>2</b>"]),
    (_triggered(at_least_one=True, stop_after_first=True), ["<<a>1</a>"], ["", "x<<a>1</a>", "<<a>1</a>x"]),
    (_triggered(excludes=["ee"]), ["", "e<<a>1</a>e"], ["free"]),
    (_tag("[", _triggered(), "]"), ["[x]", "[x<<a>1</a>]", "[<]"], ["[]x", "[x]y]", "[<<]"]),
    (_sequence(_tag("<t>", ANY, "</t>"), _triggered()), ["<t>so</t>", "<t></t>x<<b>2</b>"], ["x", "<t><<a>1</a>"]),
    (_separated(), ["", "a1b", "a1b,c2d"], ["a1b,", "a1bc2d"]),
    (_separated(at_least_one=True), ["a1b", "a1b,c2d"], [""]),
    (_separated(stop_after_first=True), ["", "a1b"], ["a1b,c2d"]),
    (_dispatch(), ["", "x<f>1y<g>2z", "<f", "x</e>"], ["<f>", "<f>2"]),
    (_dispatch(loop=False), ["x", "x<f>1"], ["x<f>1y"]),
    (_sequence(_dispatch(excludes=["</e>"]), {"type": "const_string", "value": "</e>"}), ["</e>", "<f>1</e>", "x<</e>"], ["x</e></e>"]),
    (_tag("[", _dispatch(), "]"), ["[x]", "[x]y]"], ["x"]),
]


@pytest.mark.parametrize(("form", "read", "unread"), READ)
def test_a_format_is_read_as_documented(form: dict[str, Any], read: list[str], unread: list[str]) -> None:
    """Each format has the texts that XGrammar's documentation defines."""
    parts = _parts(form)
    assert_sound(parts.part(0), may_be_empty=True)
    walks = Parts(cache(parts.part))
    assert [text for text in [*read, *unread] if walks.reads(text.encode())[1]] == read


@pytest.mark.parametrize("strings", [["<<"], ["aab", "b<"], ["<a<", "ab"]])
def test_free_text_contains_no_stop(strings: list[str]) -> None:
    """All short texts: free text contains no excluded string, and the content of a pattern follows the pattern's first occurrence."""
    excludes = Parts(cache(_parts({**ANY, "excludes": strings}).part))
    found = Parts(cache(_parts({"type": "dispatch", "rules": [[each, ONE] for each in strings]}).part))
    for text in map("".join, (each for length in range(6) for each in product("ab<1", repeat=length))):
        assert excludes.reads(text.encode())[1] == (not any(each in text for each in strings))
        rest, is_read = text, True
        while is_read and any(each in rest for each in strings):
            first = min(rest.find(each) + len(each) for each in strings if each in rest)
            is_read, rest = rest[first:].startswith("1"), rest[first + 1 :]
        assert found.reads(text.encode())[1] == is_read


def test_the_older_form_and_the_text_of_json() -> None:
    """A structural tag may be the text of JSON, and have the older form with `structures` and `triggers`."""
    structure = {"begin": "<f>", "schema": {"type": "boolean"}, "end": "</f>"}
    text = json.dumps({"type": "structural_tag", "structures": [structure], "triggers": ["<f"]})
    walks = Parts(cache(GrammarParts(read_grammar(text, "structural_tag"), lambda _: _Boolean()).part))
    assert walks.reads(b"x<f>true</f>y") == (True, True)
    assert walks.reads(b"<f>1") == (False, False)


def test_a_table_of_a_structural_tag() -> None:
    """A structural tag whose content is regular becomes an automaton with the same texts."""
    form = _sequence(_tag("<t>", ANY, "</t>"), _triggered())
    automaton, _ = automaton_of(grammar=json.dumps({"type": "structural_tag", "format": form}), syntax="structural_tag")
    walks = Parts(cache(_parts(form).part))
    for text in (b"<t></t>", b"<t>x</t>x<<a>1</a>", b"<t></t><<", b"<t></t><<b>1</b>", b"x", "<t>é</t>€".encode(), b"<t>\xff</t>"):
        assert accepts(automaton, text) == walks.reads(text)[1]


WRONG: list[tuple[Any, type[FstError], str]] = [
    ({"type": "x"}, VocabularyError, "the structural tag at #/format: the format is 'x'; expected one of const_string"),
    ({"type": "const_string"}, VocabularyError, "#/format: value is missing; expected a str"),
    (_sequence(ANY, {"type": "regex", "pattern": "("}), UnsupportedError, "#/format/elements/1: "),
    (_sequence(), VocabularyError, "#/format: elements is empty"),
    (_tag("a", {"type": "repeat", "min": 2, "max": 1, "content": ANY}, "b"), VocabularyError, "#/format/content: the counts are 2 to 1"),
    (_tag("a", ANY, []), VocabularyError, "#/format: end is []; expected a str, or a list"),
    ({**_triggered(), "triggers": ["[["]}, VocabularyError, "#/format: the tag '<<a>' begins with 0 triggers"),
    ({**_triggered(), "triggers": ["<", "<<"]}, VocabularyError, "#/format: the tag '<<a>' begins with 2 triggers"),
    ({**ANY, "excludes": [""]}, VocabularyError, "#/format: excludes is ['']; expected strings that are not empty"),
    ({"type": "dispatch", "rules": [["ab", ONE], ["b", ONE]]}, UnsupportedError, "#/format: the trigger 'b' is part of the trigger 'ab'"),
    ({"type": "token", "token": 1}, UnsupportedError, "#/format: the format 'token' is not supported"),
    ({**_tag("a", ANY, "b"), "end": {"type": "token", "token": 1}}, UnsupportedError, "#/format: a token as begin or end"),
    ({**ANY, "max_tokens": 3}, UnsupportedError, "#/format: max_tokens is 3, which is not supported"),
    ({"type": "json_schema", "json_schema": {}, "style": "qwen_xml"}, UnsupportedError, "#/format: style is 'qwen_xml'"),
    ({"type": "json_schema", "json_schema": {}, "any_order": True}, UnsupportedError, "#/format: any_order is True"),
    ({"type": "grammar", "grammar": "root ::= a"}, VocabularyError, "#/format, line 1, column 10: rule '#/format: a' is not defined"),
    ({"type": "grammar", "grammar": "root = a"}, VocabularyError, "the structural tag at #/format: the grammar, line 1, column 6"),
]


@pytest.mark.parametrize(("form", "kind", "message"), WRONG)
def test_an_error_has_the_path(form: Any, kind: type[FstError], message: str) -> None:
    """What is malformed or not supported is refused with its path and name."""
    with pytest.raises(kind, match=re.escape(message)):
        _parts(form)


@pytest.mark.parametrize("source", ["[", "[]", "{}", '{"type": "structural_tag"}', "[" * 100_000])
def test_other_json_is_refused(source: str) -> None:
    """What is not a structural tag is refused."""
    with pytest.raises(FstError, match="structural tag"):
        read_structural_tag(source, read_grammar)
