"""Typed records that are stored as JSON. Each field has a rule: its valid values, and their conversion from and to JSON.

A field is stored under the name of the field, or under a given key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields
from typing import Any, NamedTuple, TypeVar

from fst.errors import TableError, quoted, reason

Json = dict[str, Any]
Read = TypeVar("Read")


def _same(value: Any) -> Any:
    return value


class Rule(NamedTuple):
    """The rule of a field: the accepted JSON values, and the conversions from and to JSON.

    Attributes:
        holds: a function that returns whether a value is accepted.
        expected: a description of the accepted values, for messages.
        read: a function that converts from JSON. It raises ValueError with the fault if the value is wrong in a way that `holds` does not
            check.
        write: a function that converts to JSON.
    """

    holds: Callable[[Any], bool]
    expected: str
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same


def is_text(value: Any) -> bool:
    """Whether a value is a string that can be written as UTF-8."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value))


def is_whole(value: Any, lowest: int, highest: int) -> bool:
    """Whether a value is a whole number in a range."""
    return type(value) is int and lowest <= value <= highest


def whole(lowest: int, highest: int) -> Rule:
    """The rule for a whole number from `lowest` to `highest`."""
    return Rule(lambda value: is_whole(value, lowest, highest), f"a whole number from {lowest} to {highest}")


def number(lowest: float, highest: float) -> Rule:
    """The rule for a number from `lowest` to `highest`."""
    return Rule(lambda value: type(value) in (int, float) and lowest <= value <= highest, f"a number from {lowest} to {highest}", float)


def one_of(*known: str) -> Rule:
    """The rule for one of the given strings."""
    return Rule(lambda value: isinstance(value, str) and value in known, " or ".join(map(repr, known)))


def or_null(rule: Rule) -> Rule:
    """Extend a rule: null in JSON is also valid, and means None."""
    return Rule(
        lambda value: value is None or rule.holds(value),
        f"null or {rule.expected}",
        lambda value: None if value is None else rule.read(value),
        lambda value: None if value is None else rule.write(value),
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


FLAG = Rule(lambda value: type(value) is bool, "true or false")
TEXT = Rule(is_text, "a string")
TEXTS = Rule(_are_texts, "a list of strings")


def stored_as(rule: Rule, key: str = "") -> Any:
    """A dataclass field with a rule and a JSON key; the default key is the field's name."""
    return field(metadata={"rule": rule, "key": key})


def stored_unless_none(rule: Rule) -> Any:
    """A dataclass field that is None by default. JSON without its key means None, and None is not written."""
    return field(default=None, metadata={"rule": or_null(rule), "key": "", "optional": True})


def optional(section: type[Any]) -> set[str]:
    """The JSON keys of a record class that may be missing."""
    return {one.metadata["key"] or one.name for one in fields(section) if one.metadata.get("optional")}


def rules(section: type[Any]) -> Iterable[tuple[str, str, Rule]]:
    """The name, the JSON key and the rule of each field of a record class."""
    return ((one.name, one.metadata["key"] or one.name, one.metadata["rule"]) for one in fields(section))


def read(section: type[Read], stored: Mapping[str, Any]) -> Read:
    """Make a record from JSON that contains all keys of the record, except keys that may be missing."""
    values = {}
    for name, key, rule in rules(section):
        value = stored.get(key)
        if not rule.holds(value):
            raise TableError(f"{key} is {quoted(value)}; expected {rule.expected}")
        try:
            values[name] = rule.read(value)
        except ValueError as error:
            raise TableError(f"{key}: {reason(error)}") from None
    return section(**values)


def written(section: Any) -> Json:
    """Convert a record to JSON."""
    values = {key: (getattr(section, name), rule) for name, key, rule in rules(type(section))}
    left_out = {key for key in optional(type(section)) if values[key][0] is None}
    return {key: rule.write(value) for key, (value, rule) in values.items() if key not in left_out}


def record(section: type[Any], expected: str) -> Rule:
    """The rule for a mapping that is itself a record."""
    keys = {key: rule for _, key, rule in rules(section)}

    def holds(value: Any) -> bool:
        return isinstance(value, Mapping) and value.keys() == keys.keys() and all(keys[key].holds(held) for key, held in value.items())

    return Rule(holds, expected, lambda value: read(section, value), written)
