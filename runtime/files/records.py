"""Documents in JSON lines: each line is an object, and one of its fields contains the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fst.runtime.files.documents import MEND, MEND_TEXT, Documents, Fault
from fst.runtime.files.lines import LINE_FEED, Block, blocks
from fst.runtime.files.streams import Source

MAX_LISTED = 12  # maximum number of field names in a message
EXCERPT = 40  # maximum number of characters of a value in a message


def documents(
    source: Source, name: str, *, others: bool, mends: bool, with_text: bool = False, most: int | None = None
) -> Iterator[Documents]:
    """Read the documents in JSON lines. Lines that are empty or contain only whitespace are skipped.

    Args:
        source: the file.
        name: the field with the text.
        others: whether to read the other fields, too.
        mends: whether malformed bytes become U+FFFD.
        with_text: whether ``Documents.others`` includes the field of the text.
        most: the maximum size of a line in bytes, see `fst.runtime.files.lines.blocks`.
    """
    for block in blocks(source, LINE_FEED, most=most):
        yield _parsed(block, name, others, mends, with_text)


def _parsed(block: Block, name: str, others: bool, mends: bool, with_text: bool) -> Documents:
    numbers, texts, rest, wrong, replaced = list[int](), list[str](), list[dict[str, Any]](), list[tuple[int, Fault]](), 0
    for number, line in enumerate(block.lines, block.first):
        if not line or line.isspace():
            continue
        try:
            string, is_mended = _decoded(line, mends)
            record = _record(string)
            text = _text(record, name)
        except UnicodeDecodeError as error:
            wrong.append((number, Fault(f"not UTF-8 at byte {error.start}", MEND_TEXT)))
            continue
        except ValueError as error:
            wrong.append((number, Fault(str(error), MEND)))
            continue
        numbers.append(number)
        texts.append(text)
        replaced += is_mended
        if not with_text:
            del record[name]
        if others:
            rest.append(record)
    return Documents(block.file, block.unit, numbers, texts, rest if others else None, wrong, replaced)


def _decoded(line: bytes, mends: bool) -> tuple[str, bool]:
    """Decode a line to str; return also whether malformed bytes were replaced."""
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        if not mends:
            raise
        return line.decode("utf-8", "replace"), True


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = f" at character {error.pos}: {error.msg}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"not JSON{what}") from None
    if not isinstance(record, dict):
        raise ValueError("no JSON object")
    return record


def _text(record: dict[str, Any], name: str) -> str:
    """Return the text in an object; raise a ValueError if the field is missing or not a str."""
    if name not in record:
        names = ", ".join(map(repr, list(record)[:MAX_LISTED])) or "none"
        raise ValueError(f"no field {name!r}; its fields are {names}")
    text = record[name]
    if not isinstance(text, str):
        raise ValueError(f"the field {name!r} is {json.dumps(text)[:EXCERPT]}, no string")
    return text
