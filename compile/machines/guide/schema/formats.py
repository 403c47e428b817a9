"""Formats of strings as regular expressions."""

from __future__ import annotations

from functools import cache

from fst.compile.machines.guide.languages import Language
from fst.compile.machines.guide.regex import whole
from fst.compile.patterns.parser import Parser
from fst.compile.patterns.tree import Node

_YEAR = r"[0-9]{4}"
_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    rf"|{_LEAP_YEAR}-02-29)"
)
_OFFSET = r"(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_USUAL_TIME = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?{_OFFSET}"
_TIME = rf"(?:{_USUAL_TIME}|23:59:60(?:\.[0-9]+)?(?:[zZ]|[+-]00:00))"
_LETTER = r"[A-Za-z0-9]"
# A label of a host name, without A-labels such as xn--a and other labels with hyphens in the third and fourth place.
_INNER = r"[A-Za-z0-9-]"
_LABEL = rf"{_LETTER}(?:{_INNER}?{_LETTER}|{_INNER}{{2}}{_LETTER}|{_INNER}(?:{_LETTER}{_INNER}|-{_LETTER}){_INNER}{{0,58}}{_LETTER})?"
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_HEX = r"[0-9A-Fa-f]"
_GROUP = rf"{_HEX}{{1,4}}"
_LAST = rf"(?:{_GROUP}:{_GROUP}|{_IPV4})"
_IPV6 = "|".join(
    [
        rf"(?:{_GROUP}:){{6}}{_LAST}",
        rf"::(?:{_GROUP}:){{5}}{_LAST}",
        rf"(?:{_GROUP})?::(?:{_GROUP}:){{4}}{_LAST}",
        *(rf"(?:(?:{_GROUP}:){{0,{count}}}{_GROUP})?::(?:{_GROUP}:){{{3 - count}}}{_LAST}" for count in (1, 2, 3)),
        rf"(?:(?:{_GROUP}:){{0,4}}{_GROUP})?::{_LAST}",
        rf"(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}",
        rf"(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::",
    ]
)
_OTHER = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U000efffd"  # characters of IRIs, not of URIs, without private ones


def _uri(more: str) -> dict[str, str]:
    """The parts of a URI or, with more characters, of an IRI (RFC 3986, RFC 3987)."""
    escaped = rf"%{_HEX}{{2}}"
    char = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@{more}-]|{escaped})"
    name = rf"(?:[A-Za-z0-9._~!$&'()*+,;={more}-]|{escaped})"
    user = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:{more}-]|{escaped})"
    host = rf"(?:\[(?:{_IPV6}|[vV]{_HEX}+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]|{name}*)"
    authority = rf"//(?:{user}*@)?{host}(?::[0-9]*)?(?:/{char}*)*"
    rest = rf"(?:\?(?:{char}|[/?])*)?(?:#(?:{char}|[/?])*)?"
    absolute = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|/(?:{char}+(?:/{char}*)*)?|{char}+(?:/{char}*)*|){rest}"
    segment = rf"(?:[A-Za-z0-9._~!$&'()*+,;=@{more}-]|{escaped})"
    relative = rf"(?:{authority}|/(?:{char}+(?:/{char}*)*)?|{segment}+(?:/{char}*)*|){rest}"
    return {"absolute": absolute, "reference": rf"{absolute}|{relative}"}


_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
_PERIOD = r"P(?:[0-9]+W|(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)(?:{time})?|{time})"
_PERIOD_TIME = r"T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_VARIABLE = rf"(?:[A-Za-z0-9_]|%{_HEX}{{2}})(?:\.?(?:[A-Za-z0-9_]|%{_HEX}{{2}}))*"
_VARIABLES = rf"{_VARIABLE}(?::[1-9][0-9]{{0,3}}|\*)?"

PATTERNS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": rf"{_DATE}[Tt]{_TIME}",
    "duration": _PERIOD.replace("{time}", _PERIOD_TIME),
    "email": rf"(?:{_ATOM}+(?:\.{_ATOM}+)*|\"(?:[ !#-\[\]-~]|\\[ -~])*\")@(?:{_HOSTNAME}|\[(?:{_IPV4}|IPv6:(?:{_IPV6}))\])",
    "idn-email": r"[^@\s]+@[^@\s]+",
    "hostname": _HOSTNAME,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uri": _uri("")["absolute"],
    "uri-reference": _uri("")["reference"],
    "iri": _uri(_OTHER)["absolute"],
    "iri-reference": _uri(_OTHER)["reference"],
    "uuid": rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",
    "uri-template": rf"(?:[^\x00-\x20\"'<>\\^`{{|}}%]|%{_HEX}{{2}}|\{{[+#./;?&=,!@|]?{_VARIABLES}(?:,{_VARIABLES})*\}})*",
    "json-pointer": rf"(?s:{_POINTER})",
    "relative-json-pointer": rf"(?s:(?:0|[1-9][0-9]*)(?:#|{_POINTER}))",
}
LONGEST = {"hostname": 253}  # the largest lengths of the strings of formats
BEFORE_LEAP_SECOND = {"time": "", "date-time": rf"{_DATE}[Tt]"}  # the text before a time of day, for formats with leap seconds
NOT_REGULAR = ("regex", "idn-hostname")


@cache
def tree_of(name: str) -> Node:
    """The tree of the strings of a format in `PATTERNS`."""
    return tree_of_pattern(PATTERNS[name])


@cache
def tree_of_pattern(pattern: str) -> Node:
    """The tree of a pattern in this module."""
    return Parser(pattern, "fancy-regex").tree()


def of_format(name: str) -> Language:
    """The strings of a format in `PATTERNS`."""
    return whole(PATTERNS[name])
