"""Rules of any form as transducers of the algebra."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fst.compile.algebra.machine import Fst
from fst.compile.machines.rules.compiler import rewrite
from fst.compile.machines.rules.machine import machine_of
from fst.machines.rules.header import SIMULTANEOUS
from fst.machines.rules.table import RulesTable


def of_rules(rules: Any, alphabet: Iterable[str] | None, **settings: Any) -> Fst:
    """Compile rules, or take a compiled table; see `fst.Fst.from_rule`. `settings` are arguments of `fst.compile.rewrite`."""
    if not isinstance(rules, RulesTable):
        return machine_of(rewrite(rules, **settings), alphabet)
    if settings.pop("direction") != SIMULTANEOUS or any(value is not None for value in settings.values()):
        raise ValueError("left, right, direction and definitions are for rules; expected none of them with a compiled table")
    return machine_of(rules, alphabet)
