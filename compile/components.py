"""Components of a ``tokenizer.json``: sequences of them made flat, and their fields looked at before anything relies on them."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from fst.errors import UnsupportedError

Component = Mapping[str, Any]
Kind = tuple[Any, str]  # of a field: for `isinstance`, and in words
Fields = Mapping[str, Mapping[str, Kind]]  # of each type of component

FLAG: Kind = bool, "true or false"
FLAG_OR_NULL: Kind = bool | NoneType, "true, false or null"
STRING: Kind = str, "a string"
STRING_OR_NULL: Kind = str | NoneType, "a string or null"
MAPPING: Kind = dict, "a mapping"

MAX_COMPONENTS = 100


def flat(component: Component | None, role: str, listed: str, known: Fields) -> tuple[dict[str, Any], ...]:
    """The components of a sequence, of the sequences in it, and so on, in their order; of None, none.

    Args:
        component: from the file.
        role: what it is there, for messages.
        listed: the field that holds the components of a sequence.
        known: the types that are supported, and their fields.

    Raises:
        UnsupportedError: there is a component or a field that is not known.
        ValueError: a field is not what it should be.

    Example:
        >>> flat({"type": "Sequence", "normalizers": [{"type": "NFD"}]}, "normalizer", "normalizers", {"NFD": {}})
        ({'type': 'NFD'},)
    """
    found: list[dict[str, Any]] = []
    waiting = [] if component is None else [component]
    while waiting:
        part = waiting.pop()
        if part["type"] == "Sequence":
            waiting.extend(reversed(part[listed]))
        else:
            found.append(_checked(part, role, known))
        if len(found) + len(waiting) > MAX_COMPONENTS:
            raise UnsupportedError(f"{role} of more than {MAX_COMPONENTS} components")
    return tuple(found)


def _checked(part: Component, role: str, known: Fields) -> dict[str, Any]:
    kind = part["type"]
    if kind not in known:
        raise UnsupportedError(f"{role} {kind}: supported are {', '.join(known)} and Sequence")
    unknown = sorted(part.keys() - known[kind].keys() - {"type"})
    if unknown:
        raise UnsupportedError(f"{role} {kind} has {', '.join(map(repr, unknown))}, which this version does not know")
    for name, (allowed, said) in known[kind].items():
        value = part.get(name) if isinstance(None, allowed) else part[name]
        if not isinstance(value, allowed):
            raise ValueError(f"{role} {kind}: {name} is {value!r}; it is {said}")
    return {name: part.get(name) for name in ("type", *known[kind])}
