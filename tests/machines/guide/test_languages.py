"""Languages of numbers and of patterns of JSON Schema, compared with arithmetic and with Python's `re`."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fst.compile.machines.guide import languages
from fst.compile.machines.guide.languages import Language, concatenation, difference, intersection, union
from fst.compile.machines.guide.regex import Pattern, whole
from fst.compile.machines.guide.schema.formats import PATTERNS, of_format
from fst.compile.machines.guide.schema.numbers import compared, multiples
from fst.compile.machines.guide.schema.patterns import matching, of_length, of_strings

NUMBERS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.sampled_from([0, 1, 5, 9, 10, 11, 99, 100, 101, 299, 300, 301, 1000, 10**30]),
    st.sampled_from(["", ".0", ".5", ".345", ".3450", ".3451", ".25", ".001", ".00010", ".00005", ".99", ".000"]),
)
BOUNDS = ["0", "1", "9", "10", "-1", "-10", "0.5", "-0.5", "12.345", "-100", "99.99", "300", "0.001", "1e3", "-12.0", "1e30"]
ORDERS = [(0, 1), (1,), (-1,), (-1, 0), (0,), (-1, 1)]
# Patterns that have the same meaning in Python, if ``$`` is written as ``\Z`` and re.ASCII is set.
FOUND = [
    *(
        "",
        "^$",
        "^a+$",
        "b",
        "^a|b$",
        "(^a|c)d",
        "(a*)*b",
        "[\\w.-]+",
        "^[^\\s]{2}$",
        "\\bab\\b",
        "a\\B",
        "(?<=a)b",
        "(?<![ab])b",
        "a(?!b)",
    ),
    *("^(?!foo)[a-z]+$", "^(?=.*\\d)(?=.*[a-z]).{2,5}$", "^x(?!.*y$)", "^(a(?=b)|b){2}$", "a$|^b", "(a|b$)?c", "^(?:(?=a)\\w)?b"),
]
TEXTS = st.text("abcdfoxy1 .-\né", max_size=5)


def has(language: Language, text: str) -> bool:
    """Whether a language contains a text."""
    return text.encode() in language


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(BOUNDS), st.sampled_from(ORDERS), NUMBERS)
def test_decimals_are_compared_like_numbers(bound: str, orders: tuple[int, ...], text: str) -> None:
    """A decimal is in the language of a bound if and only if its number is on the right side of the bound."""
    number, limit = Decimal(text), Decimal(bound)
    assert has(compared(limit, orders), text) == ((number > limit) - (number < limit) in orders)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(["1", "2", "3", "7", "100", "0.5", "2.5", "0.01", "0.0001"]), NUMBERS)
def test_multiples_are_those_of_arithmetic(of: str, text: str) -> None:
    """A decimal is in the language of a divisor if and only if its number is a multiple."""
    assert has(multiples(Decimal(of)), text) == ((Fraction(text) / Fraction(of)).denominator == 1)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(FOUND), TEXTS)
def test_patterns_are_found_like_those_of_python(pattern: str, text: str) -> None:
    """A text is in the language of a pattern if and only if the pattern is found somewhere in it, whatever its assertions."""
    assert has(matching(pattern), text) == (re.search(pattern.replace("$", "\\Z"), text, re.ASCII) is not None)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.sampled_from(["a*", "(ab)*", "[^a]", "b?c", "[^a]*é"]), st.sampled_from(["a*", "b", "[b-z]*", "(ab|c)+"]), TEXTS)
def test_operations_are_those_of_sets(first: str, second: str, text: str) -> None:
    """Union, intersection and difference of languages are those of sets, and a text of a concatenation has a split into two texts."""
    one, other = whole(first), whole(second)
    assert has(union(one, other), text) == (has(one, text) or has(other, text))
    assert has(intersection(one, other), text) == (has(one, text) and has(other, text))
    assert has(difference(one, other), text) == (has(one, text) and not has(other, text))
    splits = range(len(text) + 1)
    assert has(concatenation(one, other), text) == any(has(one, text[:place]) and has(other, text[place:]) for place in splits)


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        ("^\\d\\w\\s$", ["1a ", "1_\ufeff"], ["١a ", "1é "]),
        ("^.$", ["é"], ["\u2028", "\r"]),
        ("^[\\w-.]{2,}$", ["a-", ".."], ["a", "a+"]),
        ("^[^]a[[]$", ["xa["], ["a["]),
        ("^\\p{Lu}\\u{1F600}\\ud83d\\ude00\\cA$", ["É😀😀\x01"], ["é😀😀\x01"]),
        ("^a{,2}$", ["a{,2}"], ["aa"]),
    ],
)
def test_patterns_have_the_syntax_of_ecmascript(pattern: str, texts: list[str], others: list[str]) -> None:
    """Sets, dots, brackets and escapes have their meaning in ECMAScript."""
    assert [text for text in texts + others if has(matching(pattern), text)] == texts


@pytest.mark.parametrize("pattern", ["(a|b){3,9}c*|ab*", "a[b-y]*z|[x-z]{2}é*", "((a|é)(b|€)*){2}|[^a]b?"])
def test_large_automata_are_merged_by_ranges(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    """An automaton whose states are merged only by ranges accepts the same strings, and the exact merge then merges all equal states."""
    exact = Pattern(pattern).language()
    monkeypatch.setattr(languages, "MANY_CELLS", 0)
    found = Pattern(pattern).language()
    assert difference(found, exact).is_empty
    assert difference(exact, found).is_empty
    assert len(exact.is_final) <= len(found.is_final) <= 1.5 * len(exact.is_final)


FORMATS: dict[str, tuple[list[str], list[str]]] = {
    "date": (["2024-02-29", "2000-02-29", "2023-12-31"], ["2023-02-29", "1900-02-29", "2023-04-31", "2023-1-1"]),
    "time": (["23:59:59Z", "00:00:00.5+01:00", "23:59:60z"], ["24:00:00Z", "12:00:60Z", "12:00:00"]),
    "date-time": (["1990-12-31T15:59:50.123-08:00"], ["2020-01-01", "1990-02-31T15:59:59Z"]),
    "duration": (["P1Y2M3DT4H5M6S", "PT1S", "P4W"], ["P", "PT", "P1", "P1YT", "P1D2H"]),
    "email": (["joe.b@example.com", '"a b"@[127.0.0.1]'], ["@b", "a@", ".a@b", "a..b@c", "a@-b"]),
    "hostname": (["a.b-c.d", "x" * 63], ["-a", "a-", "a..b", "x" * 64]),
    "ipv4": (["127.0.0.1", "255.249.0.10"], ["256.0.0.1", "01.0.0.1", "1.2.3"]),
    "ipv6": (["::1", "::", "1:2:3:4:5:6:7:8", "1::", "::ffff:1.2.3.4"], ["1:2:3:4:5:6:7", "1::2::3", ":1", "12345::", "1:2:3:4:5:6:7:8:9"]),
    "uri": (["http://a.b/?q=1#a", "urn:a:b", "http://[::1]:80/x"], ["//a", "/a", "http://a b", "http://[a]"]),
    "uri-reference": (["//a", "/a", "", "a/b#c"], ["a b", "\\a"]),
    "iri": (["http://ä.ö/ü"], ["/ä", "http://a b"]),
    "uuid": (["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], ["2EB8AA08aa9811eab4aa73b441d16380"]),
    "uri-template": (["http://a/{b}/{c*}"], ["http://a/{b"]),
    "json-pointer": (["", "/a/0", "/a~1b"], ["a", "/~2"]),
    "relative-json-pointer": (["0", "1/a", "2#"], ["/a", "01"]),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", FORMATS)
def test_formats_follow_their_standards(name: str) -> None:
    """The language of a format contains the valid strings and no invalid strings."""
    valid, invalid = FORMATS[name]
    assert [text for text in valid + invalid if has(of_format(name), text)] == valid
    assert {*FORMATS} <= {*PATTERNS}


def test_lengths_count_code_points_and_lists_are_exact() -> None:
    """Lengths are counted in code points, and the language of a list contains only the strings of the list."""
    texts = ["", "é", "😀é", "aaa", "é€😀\0"]
    for least, most in [(0, 0), (0, 2), (1, 2), (3, 3), (0, None), (1, None), (3, None)]:
        expected = [text for text in texts if least <= len(text) <= (9 if most is None else most)]
        assert [text for text in texts if has(of_length(least, most), text)] == expected
    assert [text for text in ("", "a", "\0", "ab") if has(of_strings(["", "\0"]), text)] == ["", "\0"]
