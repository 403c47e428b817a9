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


def explained_stages(tables: RulesTable, text: str) -> Iterator[str]:
    """Yield the lines that explain a cascade: the text after each stage, with the rules of the stage; or that no rule changes the text."""
    from fst.machines.rules.table import Written, mirrored

    found = [Written(char, at, at + 1) for at, char in enumerate(text)]
    before = text
    for number, is_mirrored in enumerate(tables.are_mirrored):
        found = mirrored(tables.rewritten(number, mirrored(found))) if is_mirrored else tables.rewritten(number, found)
        after = "".join(written.char for written in found)
        if after != before:
            rules = [rule["text"] for rule in tables.stages[number]["rules"]]
            yield f"stage {number + 1}  {visible(after)}  by {visible('; '.join(rules) or 'a mapping of strings')}"
            before = after
    if before == text:
        yield "no rule changes the text"


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
