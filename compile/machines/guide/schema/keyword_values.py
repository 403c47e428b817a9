"""The values of keywords that are numbers, counts, or of a certain type."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any

from fst.compile.machines.guide.schema.document import LocatedError, joined
from fst.errors import VocabularyError, quoted

MAX_COUNT = 1 << 31
MAX_DIGITS = 1_000  # of a number in a schema, written without an exponent


def expected_of(schema: dict[str, Any], keyword: str, kind: type, path: str, what: str, default: Any = None) -> Any:
    """The value of a keyword, which must have a type."""
    value = schema.get(keyword, default)
    if not isinstance(value, kind):
        raise VocabularyError(f"{joined(path, keyword)} is {quoted(value)}; expected {what}")
    return value


def number_of(schema: dict[str, Any], keyword: str, path: str) -> Decimal:
    """The value of a keyword that is a number."""
    value = schema[keyword]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise VocabularyError(f"{joined(path, keyword)} is {quoted(value)}; expected a number")
    return decimal_of(value, joined(path, keyword))


def decimal_of(value: float | Decimal, what: str) -> Decimal:
    """The decimal number of a finite number."""
    if not (isinstance(value, int) or (value.is_finite() if isinstance(value, Decimal) else isfinite(value))):
        raise VocabularyError(f"{what} is {value}; expected a number of JSON, which is finite")
    found = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    if found and (abs(found.adjusted()) > MAX_DIGITS or len(found.as_tuple().digits) > MAX_DIGITS):
        raise LocatedError(f"{what} has more than {MAX_DIGITS:,} digits; expected a shorter number")
    return found


def count_of(schema: dict[str, Any], keyword: str, path: str) -> int | None:
    """The value of a keyword that is a number of things; None: the keyword is absent, or no text has more."""
    if keyword not in schema:
        return None
    value = schema[keyword]
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if not is_number or not value >= 0 or not (isinstance(value, int) or (float(value) < MAX_COUNT and value == int(value))):
        raise VocabularyError(f"{joined(path, keyword)} is {quoted(value)}; expected a number of 0 or more, without a fraction")
    if value < MAX_COUNT:
        return int(value)
    if keyword.startswith("max"):
        return None  # no text is so long
    raise LocatedError(f"{joined(path, keyword)} is {quoted(value)}; expected less than {MAX_COUNT:,}")
