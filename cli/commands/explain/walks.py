"""Explain what keywords, rules and look-up find in a text, by the slow walks of their tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fst.cli.terminal import table, visible

if TYPE_CHECKING:
    from fst.machines.keywords.table import KeywordTable
    from fst.machines.lookup.table import LookupTable
    from fst.machines.rules.table import RulesTable


def explained_matches(tables: KeywordTable, text: str) -> Iterator[str]:
    """Yield the lines that explain a search: the text that is read, if it differs, and the matches with their bytes."""
    data = text.encode()
    spelled = tables.metadata.text.spelled(text)[0]
    if spelled != data:
        yield f"read as {visible(spelled.decode(errors='backslashreplace'))}"
    found: list[tuple[str, ...]] = [
        (str(start), str(end), visible(data[start:end].decode()), str(number)) for number, start, end in tables.walk(data)
    ]
    yield from table(("first byte", "end", "match", "keyword"), found) if found else ["no match"]


def explained_rules(tables: RulesTable, text: str) -> Iterator[str]:
    """Yield the lines that explain rules: the text of each stage, and the matches in it; see `fst.Rewriter.explain`."""
    from fst.bridge.rules import explained

    return map(visible, explained(tables, text).lines())


def explained_analyses(tables: LookupTable, text: str) -> Iterator[str]:
    """Yield the lines that explain the look-up of a word: its analyses, or the longest beginning that an entry has."""
    from fst.machines.lookup.text_walk import longest
    from fst.machines.lookup.walk import Steps, units_of
    from fst.runtime.public_class import class_of

    analyses = class_of(tables)(tables)(text)
    if analyses:
        yield from map(visible, analyses)
        return
    units = units_of(text)
    with Steps(text) as steps:
        reach = longest(tables, units, 0, steps).reach
    known = text.encode("utf-16-le")[: 2 * reach].decode("utf-16-le", "ignore")
    yield f"no analysis; the longest beginning that the transducer reads is {visible(known)!r}"
