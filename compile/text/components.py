"""Flatten sequences of components of a ``tokenizer.json``, and check the fields of components before use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from fst.errors import UnsupportedError, cut, listed, quoted

Component = Mapping[str, Any]
Kind = tuple[Any, str]  # the type of a field, for `isinstance`, and the name of this type in messages
Fields = Mapping[str, Mapping[str, Kind]]  # the fields of each type of component

FLAG: Kind = bool, "true or false"
FLAG_OR_NULL: Kind = bool | NoneType, "true, false or null"
STRING: Kind = str, "a string"
COUNT: Kind = int, "a whole number"
STRING_OR_NULL: Kind = str | NoneType, "a string or null"
MAPPING: Kind = dict, "a mapping"

MAX_COMPONENTS = 100


def mapping(value: Any, role: str) -> Mapping[str, Any]:
    """Check that a part of a file is a mapping, and return it."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{role} is {quoted(value)}; it must be a mapping")
    return value


def sequence(value: Any, role: str) -> Sequence[Any]:
    """Check that a part of a file is a list, and return it."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{role} is {quoted(value)}; it must be a list")
    return value


def field_of(part: Any, name: str, role: str) -> Any:
    """The value of a field of a part of a file.

    Examples:
        >>> field_of({"type": "NFD"}, "type", "normalizer")
        'NFD'
    """
    if name not in mapping(part, role):
        raise ValueError(f"{role} has no {quoted(name)}")
    return part[name]


def kind_of(part: Any, role: str) -> str:
    """The type of a part of a file."""
    kind = field_of(part, "type", role)
    if not isinstance(kind, str):
        raise ValueError(f"{role} has {quoted(kind)} for its type; it must be a string")
    return kind


def only(part: Mapping[str, Any], role: str, known: str) -> None:
    """Refuse a part of a file that has unknown fields. `known` lists the known fields, separated by spaces."""
    unknown = sorted(part.keys() - set(known.split()))
    if unknown:
        raise UnsupportedError(f"{role} has {listed(unknown)}, which is unknown to this version")


def flat(component: Component | None, role: str, inside: str, known: Fields) -> tuple[dict[str, Any], ...]:
    """The components of a sequence in order, with nested sequences flattened; empty for None.

    Args:
        component: the component in the file, or None.
        role: the name of the component in messages.
        inside: the name of the field that lists a sequence's components.
        known: the supported types and their fields.

    Examples:
        >>> flat({"type": "Sequence", "normalizers": [{"type": "NFD"}]}, "normalizer", "normalizers", {"NFD": {}})
        ({'type': 'NFD'},)
    """
    found: list[dict[str, Any]] = []
    waiting = [] if component is None else [component]
    while waiting:
        part = waiting.pop()
        if kind_of(part, role) == "Sequence":
            inner = field_of(part, inside, f"{role} Sequence")
            waiting.extend(reversed(sequence(inner, f"{inside} of a {role} Sequence")))
        else:
            found.append(_checked(part, role, known))
        if len(found) + len(waiting) > MAX_COMPONENTS:
            raise UnsupportedError(f"{role} of more than {MAX_COMPONENTS} components")
    return tuple(found)


def _checked(part: Component, role: str, known: Fields) -> dict[str, Any]:
    kind = part["type"]
    if kind not in known:
        raise UnsupportedError(f"{role} {cut(kind)}: supported are {', '.join(known)} and Sequence")
    unknown = sorted(part.keys() - known[kind].keys() - {"type"})
    if unknown:
        raise UnsupportedError(f"{role} {kind} has {listed(unknown)}, which is unknown to this version")
    for name, (allowed, expected) in known[kind].items():
        value = part.get(name) if isinstance(None, allowed) else field_of(part, name, f"{role} {kind}")
        if not isinstance(value, allowed):
            raise ValueError(f"{role} {kind}: {name} is {quoted(value)}; it is {expected}")
    return {name: part.get(name) for name in ("type", *known[kind])}
