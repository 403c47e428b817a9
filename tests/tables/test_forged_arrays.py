"""Tables whose arrays are forged in order to mislead kernels are refused, and the message describes the fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tables.forgers import (
    both,
    dead,
    deep,
    failure,
    fields,
    first_end,
    last_move,
    listed,
    move,
    not_a_state,
    of_kind,
    put,
    root,
    stranger,
)
from support.tables.forging import (
    TEXTS,
    TOKENS,
    UNKNOWN,
    Corruption,
    array,
    forged,
    header,
    members,
    refused,
    refused_by_proof,
    shaped,
    size,
    with_array,
    with_npy_header,
)

import fst
from fst.automata.rows import (
    CONTINUES_RUN,
    ENTRY,
    FAIL,
    FINISH,
    HAS_MARKS,
    HOLE,
    LAST_OUTPUT,
    LIST,
    MANY,
    MAX_NEXT,
    MAX_OUTPUT,
    NONE,
    ONE,
    OTHER,
    ROOT,
    STARTS_SPECIAL,
    Array,
    field_kind,
    pack,
)
from fst.machines.wordpiece.table import WordPieceTable

ALL_SORTS = "".join(chr(code) for code in [*range(0x1000), *range(0x1000, 0xD800, 13), *range(0xE000, 0x110000, 211)])


ROWS: dict[str, Corruption] = {
    "next state past the end": fields(move, next_state=size("entries")),
    "next state far past the end": fields(move, next_state=MAX_NEXT),
    "next state within a row": fields(move, next_state=not_a_state),
    "next state deeper than what was read": fields(move, next_state=deep),
    "label 0 of a transition": fields(move, label=0),
    "label past the columns": fields(move, label=lambda tables: tables.header["columns"]),
    "label far past the columns": fields(move, label=FINISH - 1),
    "transition of no row": fields(last_move, label=stranger),
    "transition turned into a state": fields(last_move, label=FINISH, kind=NONE, next_state=0),
    "transition that fails": fields(move, kind=FAIL),
    "transition that emits too early": fields(move, kind=ONE, output=0),
    "transition that emits two too early": fields(move, kind=MANY, output=0),
    "transition that emits 40,000": both(fields(move, kind=MANY, output=size("pool")), listed(40_000)),
    "transition that emits 65,536": both(fields(move, kind=MANY, output=size("pool")), listed(65_536)),
    "transition that emits an unknown id": fields(of_kind(ONE, False), output=MAX_OUTPUT),
    "transition that emits the next id": fields(of_kind(ONE, False), output=lambda tables: int(tables.token_ids.max()) + 1),
    "transition's list past the pool": fields(of_kind(MANY, False), output=size("pool")),
    "transition's list far past the pool": fields(of_kind(MANY, False), output=MAX_OUTPUT),
    "finish that emits an unknown id": fields(of_kind(ONE, True), output=MAX_OUTPUT),
    "finish's list past the pool": fields(of_kind(MANY, True), output=size("pool")),
    "finish that emits more than was read": fields(of_kind(MANY, True), next_state=1),
    "finish that emits before anything was read": fields(of_kind(ONE, True), next_state=0),
    "finish that claims 255 symbols": fields(deep, next_state=255),
    "finish that claims 256 symbols": fields(deep, next_state=256),
    "finish that claims 65,534 symbols": fields(deep, next_state=65_534),
    "finish that claims 65,536 symbols": fields(deep, next_state=65_536),
    "finish that claims 65,538 symbols": fields(deep, next_state=65_538),
    "finish that claims most symbols": fields(deep, next_state=MAX_NEXT),
    "finish that claims 65,535 symbols and emits them": both(
        fields(deep, next_state=65_535, kind=MANY, output=size("pool")), listed(65_535)
    ),
    "root that emits": fields(root, kind=ONE),
    "root that fails": fields(root, kind=FAIL),
    "root that has read a symbol": fields(root, next_state=1),
    "root that is a hole": put("entries", ROOT, HOLE),
    "root that is a transition": fields(root, label=1),
    "root without a transition": put("entries", 1, HOLE),
    "root whose transition emits": fields(failure, kind=ONE, output=0),
    "dead state that does not fail": fields(dead, kind=NONE),
    "dead state that has read a symbol": fields(dead, next_state=1),
    "dead state elsewhere": header("dead", deep),
    "dead state at the root": header("dead", ROOT),
    "dead state within a row": header("dead", not_a_state),
    "dead state past the end": header("dead", size("entries")),
    "state without room for its row": array("entries", lambda entries: np.append(entries, pack(0, FINISH, 0, FAIL))),
    "last row cut short": array("entries", lambda entries: entries[:-1]),
    "no entries": array("entries", lambda entries: entries[:0]),
    "no states": both(array("entries", lambda entries: np.full_like(entries, HOLE)), header("states", 0)),
    "one state less": header("states", lambda tables: tables.header["states"] - 1),
    "one state more": header("states", lambda tables: tables.header["states"] + 1),
    "no columns": header("columns", 0),
    "one column": header("columns", 1),
    "one column less": header("columns", lambda tables: tables.header["columns"] - 1),
    "one column more": header("columns", lambda tables: tables.header["columns"] + 1),
    "more columns than entries": header("columns", lambda tables: len(tables.entries) + 1),
    "pooled id that is unknown": put("pool", 1, lambda tables: int(tables.token_ids.max()) + 1),
    "pooled id that is huge": put("pool", -1, 2**32 - 1),
    "pooled list without an end": put("pool", -1, lambda tables: int(tables.pool[-1]) & (LAST_OUTPUT - 1)),
    "pooled list that goes on into the next": put(
        "pool", first_end, lambda tables: int(tables.pool[first_end(tables)]) & (LAST_OUTPUT - 1)
    ),
    "pooled list past the end": array("pool", lambda pool: pool[:-1]),
    "pool with more in it": array("pool", lambda pool: np.append(pool, 0)),
    "no pool": array("pool", lambda pool: pool[:0]),
}


def class_where(condition: Callable[[Array, Array], Array], last: bool = False) -> Callable[[WordPieceTable], int]:
    """Return a function that finds record A of the first or last character class whose kind and label meet a condition, except class 0."""

    def find(tables: WordPieceTable) -> int:
        records = tables.classes[2::2]
        found = np.flatnonzero(condition(field_kind(records), ENTRY.labels_of(records)))
        return 2 + 2 * int(found[-1 if last else 0])

    return find


LABELLED = class_where(lambda kind, label: (kind == NONE) & (label > 0))
WHITESPACE = class_where(lambda kind, label: (kind == NONE) & (label == 0))
ALONE = class_where(lambda kind, _: kind == ONE)
UNLABELLED = class_where(lambda kind, _: kind == OTHER)
LISTED = class_where(lambda kind, _: kind == LIST)
LAST_PART = class_where(lambda kind, label: (label > 0) | (kind == OTHER), last=True)
FIRST_END = class_where(lambda kind, label: (label == 0) & (kind != OTHER))


def second(first: Callable[[WordPieceTable], int]) -> Callable[[WordPieceTable], int]:
    """Return a function that finds record B (the second of two records) of a character class."""
    return lambda tables: first(tables) + 1


def record(find: Callable[[WordPieceTable], int], next_state: Any = 0, label: Any = 0, output: Any = 0, kind: Any = NONE) -> Corruption:
    """Replace record A (the first of two records) of a character class."""
    return put("classes", find, lambda tables: pack(*(new(tables) if callable(new) else new for new in (next_state, label, output, kind))))


def list_of(*symbols: Any) -> Corruption:
    """Replace the list in a character class of kind LIST by given classes, with their ranks."""
    return both(
        record(LISTED, next_state=size("symbols"), kind=LIST),
        array("symbols", lambda old: np.append(old, [len(symbols), *symbols])),
    )


def number_of(find: Callable[[WordPieceTable], int]) -> Callable[[WordPieceTable], int]:
    """Return a function that returns the number of the class whose record A another function finds."""
    return lambda tables: find(tables) // 2


def swapped(first: Callable[[WordPieceTable], int], other: Callable[[WordPieceTable], int]) -> Corruption:
    """Swap two character classes."""

    def corrupt(tables: WordPieceTable) -> WordPieceTable:
        classes = tables.classes.copy()
        here, there = first(tables), other(tables)
        classes[[here, here + 1, there, there + 1]] = classes[[there, there + 1, here, here + 1]]
        return with_array(tables, "classes", classes)

    return corrupt


def flagged(flags: int) -> Corruption:
    """Set additional flags of a character class of kind LIST."""
    return put("classes", LISTED, lambda tables: tables.classes[LISTED(tables)] | pack(0, 0, flags, NONE))


def class_of(char: str) -> Callable[[WordPieceTable], int]:
    """Return a function that finds record A of the class of a given character."""
    return lambda tables: 2 * tables.class_of(ord(char))


CLASSES: dict[str, Corruption] = {
    "label past the columns": record(LABELLED, label=lambda tables: tables.header["columns"]),
    "label of finish entries": record(LABELLED, label=FINISH),
    "label of a word of its own": record(FIRST_END, label=1, kind=ONE),
    "label of a class that has none": record(UNLABELLED, label=1, kind=OTHER),
    "label of a list": record(FIRST_END, label=1, kind=LIST),
    "next state past the end": record(UNLABELLED, next_state=size("entries"), kind=OTHER),
    "next state far past the end": record(UNLABELLED, next_state=MAX_NEXT, kind=OTHER),
    "next state within a row": record(UNLABELLED, next_state=not_a_state, kind=OTHER),
    "next state that has read two": record(UNLABELLED, next_state=deep, kind=OTHER),
    "next state of a label that has read two": record(LABELLED, next_state=deep, label=1),
    "first state past the end": put("classes", second(UNLABELLED), size("entries")),
    "first state within a row": put("classes", second(UNLABELLED), not_a_state),
    "first state that has read two": put("classes", second(LABELLED), deep),
    "first state with more bits": put("classes", second(UNLABELLED), 1 << 24),
    "first state of a list within a row": put("classes", second(LISTED), not_a_state),
    "blank that leads on": record(WHITESPACE, next_state=dead),
    "blank that leads on at the start of a word": put("classes", second(WHITESPACE), dead),
    "word of its own that leads on": record(ALONE, next_state=dead, kind=ONE),
    "word of its own with an unknown id": record(ALONE, output=MAX_OUTPUT, kind=ONE),
    "word of its own with the next id": record(ALONE, output=lambda tables: int(tables.token_ids.max()) + 1, kind=ONE),
    "class 0 that is a word of its own": put("classes", 0, pack(0, 0, 1, ONE)),
    "class 0 that is a part of a word": put("classes", 0, lambda tables: tables.classes[LABELLED(tables)]),
    "class 0 that leads on": put("classes", 1, dead),
    "list of class 0": list_of(0),
    "part of a word that comes after what ends one": swapped(LAST_PART, FIRST_END),
    "part of a word that comes after lists": swapped(LAST_PART, class_where(lambda kind, _: kind == LIST, last=True)),
    "blank that comes before parts of words": put("classes", 2, 0),
    "half a class more": array("classes", lambda classes: np.append(classes, 0)),
    "half a class less": array("classes", lambda classes: classes[:-1]),
    "a class less": array("classes", lambda classes: classes[:-2]),
    "more classes than numbers": array("classes", lambda classes: np.append(classes, np.zeros(2 << 16))),
    "no classes": array("classes", lambda classes: classes[:0]),
    "list past the end": record(LISTED, next_state=size("symbols"), kind=LIST),
    "list far past the end": record(LISTED, next_state=MAX_NEXT, kind=LIST),
    "list with unknown flags": record(LISTED, output=8, kind=LIST),
    "list of lists": list_of(0),
    "list of a class that is not there": list_of(0xFFFF),
    "list of a class of rank 64": both(list_of(1 | 64 << 16), flagged(HAS_MARKS)),
    "list of a class of the highest rank": both(list_of(1 | 0xFFFF << 16), flagged(HAS_MARKS)),
    "list of a class of rank 1 that has no marks": list_of(1 | 1 << 16),
    "list of a class of rank 1 that has no marks, and continues a run": both(list_of(1 | 1 << 16), flagged(CONTINUES_RUN)),
    "list of a class of rank 0 that continues a run": both(list_of(1), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of classes whose ranks descend": both(list_of(1 | 2 << 16, 1 | 1 << 16), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of class 0 with marks": both(list_of(0), flagged(HAS_MARKS)),
    "list of class 0 that continues a run": both(list_of(0), flagged(HAS_MARKS | CONTINUES_RUN)),
    "list of class 0 of rank 1 that ends a run": both(list_of(0 | 1 << 16), flagged(HAS_MARKS)),
    "list of 33": list_of(*[1] * 33),
    "list that is cut short": both(list_of(1, 1), array("symbols", lambda symbols: symbols[:-1])),
    "list that is huge": both(list_of(1), put("symbols", -2, 2**32 - 1)),
    "no lists": array("symbols", lambda symbols: symbols[:0]),
    "ASCII character of no class": put("blocks", lambda tables: int(tables.pages[0]) << 7 | ord("a"), 0),
    "characters of no class": put("blocks", -1, 0),
    "class past the end": put("blocks", -1, lambda tables: len(tables.classes) // 2),
    "class far past the end": put("blocks", -1, 0xFFFF),
    "page past the end": put("pages", -1, lambda tables: len(tables.blocks) >> 7),
    "page far past the end": put("pages", 0x7F, 0xFFFF),
    "page less": array("pages", lambda pages: pages[:-1]),
    "page more": array("pages", lambda pages: np.append(pages, 0)),
    "no pages": array("pages", lambda pages: pages[:0]),
    "block cut short": array("blocks", lambda blocks: blocks[:-1]),
    "block less": array("blocks", lambda blocks: blocks[:-128]),
    "no blocks": array("blocks", lambda blocks: blocks[:0]),
}
# A list of classes that contains the class to which the list belongs; the number of this class depends on the table.
CLASSES["list of lists"] = both(list_of(0), put("symbols", -1, lambda tables: LISTED(tables) // 2))
LETTER, CHILD, SIBLING, NUMBER = range(4)


def younger(tables: WordPieceTable) -> int:
    """Find a trie node that has a sibling."""
    return int(np.flatnonzero(tables.specials[:, SIBLING] >= 0)[0])


def node(find: Any, field: int, value: Any) -> Corruption:
    """Change a field of a trie node."""
    return put("specials", lambda tables: (find(tables) if callable(find) else find, field), value)


def renamed(content: str, other: str) -> Corruption:
    """Change the spelling of a special token in the metadata."""
    return header("specials", lambda tables: {name.replace(content, other): number for name, number in tables.header["specials"].items()})


def lone_end(tables: WordPieceTable) -> int:
    """Find the first trie node at which a special token ends."""
    return int(np.flatnonzero(tables.specials[:, NUMBER] >= 0)[0])


SPECIALS: dict[str, Corruption] = {
    "child that is its own": node(1, CHILD, 1),
    "child before its parent": node(2, CHILD, 1),
    "child that is the root": node(2, CHILD, 0),
    "child past the end": node(-1, CHILD, size("specials")),
    "child far past the end": node(1, CHILD, 2**31 - 1),
    "child below none": node(1, CHILD, -2),
    "sibling that is its own": node(younger, SIBLING, younger),
    "sibling after it": node(1, SIBLING, 2),
    "sibling that is the root": node(younger, SIBLING, 0),
    "sibling past the end": node(1, SIBLING, size("specials")),
    "sibling below none": node(1, SIBLING, -2),
    "sibling of the root": node(0, SIBLING, 1),
    "letter past the code points": node(1, LETTER, 0x110000),
    "letter below the code points": node(1, LETTER, -1),
    "class of the root": node(0, NUMBER, number_of(ALONE)),
    "class past the end": node(-1, NUMBER, lambda tables: len(tables.classes) // 2),
    "class that is huge": node(-1, NUMBER, 2**31 - 1),
    "class below none": node(1, NUMBER, -2),
    "class 0": node(-1, NUMBER, 0),
    "class of a part of a word": node(-1, NUMBER, number_of(LABELLED)),
    "class of a part of a word without a label": node(-1, NUMBER, number_of(UNLABELLED)),
    "class of blanks": node(-1, NUMBER, number_of(WHITESPACE)),
    "class of a list": node(-1, NUMBER, number_of(LISTED)),
    "class of a special token that is a word no more": record(lambda tables: 2 * int(tables.specials[-1, NUMBER])),
    "token that about does not name": header("specials", {}),
    "token that the trie does not have": renamed("[MASK]", "[MASK>"),
    "token that has another id in the trie": node(lone_end, NUMBER, lambda tables: tables.specials[-1, NUMBER]),
    "token that is no token in the trie": node(lone_end, NUMBER, -1),
    "nodes below each other": array("specials", lambda nodes: [*nodes, (97, len(nodes) + 1, -1, -1), (98, -1, len(nodes), -1)]),
    "node of two parents": node(lone_end, CHILD, lambda tables: len(tables.specials) - 1),
    "siblings of one letter": node(younger, LETTER, lambda tables: tables.specials[tables.specials[younger(tables), SIBLING], LETTER]),
    "class of a first letter that does not say so": put(
        "classes", class_of("["), lambda tables: tables.classes[class_of("[")(tables)] ^ pack(0, 0, STARTS_SPECIAL, NONE)
    ),
    "three fields": array("specials", lambda specials: specials[:, :3]),
    "five fields": array("specials", lambda specials: np.hstack([specials, specials[:, :1]])),
}


def value_of(word: bool) -> Callable[[WordPieceTable], int]:
    """Return a function that finds the value of a word, or of the empty word, in the table of words."""
    return lambda tables: 4 * int(np.flatnonzero((tables.words[0::4] > 0) == word)[0]) + 3


# Changed or moved words and wrong displacements are harmless, because such words are not found, or get ids of tokens.
WORDS: dict[str, Corruption] = {
    "word of an unknown id": put("words", value_of(True), lambda tables: (1 << 32) + int(tables.token_ids.max()) + 1),
    "word of an id that is huge": put("words", value_of(True), (1 << 32) + (1 << 31)),
    "word of two ids": put("words", value_of(True), 2 << 32),
    "word of most ids": put("words", value_of(True), 2**64 - 1),
    "word of an id without a count": put("words", value_of(True), 1),
    "empty word of an id": put("words", value_of(False), 1 << 32),
    "empty word of no id, with one in its place": put("words", value_of(False), 1),
    "word that becomes the empty word": put("words", lambda tables: value_of(True)(tables) - 3, 0),
    "word of an id that no token has": both(put("token_ids", 5, 6), put("words", value_of(True), (1 << 32) + 5)),
    "word that is too long to be looked up": header("max_input_chars_per_word", 1),
    "slots that are no power of two": array("words", lambda words: np.append(words, np.zeros(4))),
    "three slots": array("words", lambda _: np.zeros(12)),
    "a slot less": array("words", lambda words: words[:-4]),
    "a slot cut short": array("words", lambda words: words[:-1]),
    "part of a slot": array("words", lambda _: np.zeros(2)),
    "no slots": array("words", lambda words: words[:0]),
    "buckets that are no power of two": array("displacements", lambda found: np.append(found, 0)),
    "three buckets": array("displacements", lambda _: np.zeros(3)),
    "a bucket less": array("displacements", lambda found: np.append(found, found)[:-1]),
    "one bucket": array("displacements", lambda found: found[:1]),
    "no buckets": array("displacements", lambda found: found[:0]),
}


def swapped_names(one: str, other: str) -> Corruption:
    """Swap the ids of two tokens."""
    first, second = TOKENS.index(one), TOKENS.index(other)
    return both(put("token_ids", first, second), put("token_ids", second, first))


NAMES: dict[str, Corruption] = {
    "end before the last": put("token_ends", 3, 0),
    "end past the next": put("token_ends", 3, 2**62),
    "end below zero": put("token_ends", 0, -1),
    "last end past the bytes": put("token_ends", -1, lambda tables: len(tables.token_bytes) + 1),
    "last end before the last byte": array("token_bytes", lambda data: np.append(data, 65)),
    "end within a character": put(
        "token_ends", lambda tables: tables.tokens.index("é"), lambda tables: tables.token_ends[tables.tokens.index("é")] - 1
    ),
    "bytes that are not UTF-8": put("token_bytes", 0, 0xFF),
    "bytes that encode a surrogate": both(
        array("token_bytes", lambda data: np.append(data, [0xED, 0xA0, 0x80])),
        put("token_ends", -1, lambda tables: len(tables.token_bytes)),
    ),
    "bytes that end within a character": put("token_bytes", -1, 0xC3),
    "id below zero": put("token_ids", 0, -1),
    "id past the bits of an entry": put("token_ids", 0, MAX_OUTPUT + 1),
    "ids that are lower than those in use": array("token_ids", lambda ids: np.zeros_like(ids)),
    "id that has lost its name": put("token_ids", TOKENS.index("##b"), TOKENS.index("a")),
    "id in classes that has lost its name": put("token_ids", TOKENS.index("."), TOKENS.index("a")),
    "tokens of one name": put("token_bytes", lambda tables: len(tables.token_bytes) - 1, ord("b")),
    "unknown token of another name": header("unk_token", "a"),
    "unknown token that is none of the model": header("model_tokens", TOKENS.index(UNKNOWN)),
    "special token of another name": swapped_names("[MASK]", "[SEP]"),
    "one id less": array("token_ids", lambda ids: ids[:-1]),
    "one end less": array("token_ends", lambda ends: ends[:-1]),
    "no tokens": both(*(array(name, lambda tokens: tokens[:0]) for name in ("token_bytes", "token_ends", "token_ids"))),
}
DIMENSIONS: dict[str, Corruption] = {
    f"{name} in {form}": array(name, change)
    for name in WordPieceTable.schema()
    for form, change in (
        ("a row more", lambda values: values[None] if values.ndim == 1 else values.ravel()),
        ("columns", lambda values: values[:, None] if values.ndim == 1 else np.pad(values, ((0, 0), (0, 4)))),
    )
}
TABLES: dict[str, dict[str, Corruption]] = {
    "rows": ROWS,
    "classes": CLASSES,
    "specials": SPECIALS,
    "words": WORDS,
    "tokens": NAMES,
    "dimensions": DIMENSIONS,
}
CORRUPT = [(f"{group}: {name}", corrupt) for group, table in TABLES.items() for name, corrupt in table.items()]
LAYOUTS = ("compact", "linked")


@pytest.mark.parametrize(
    ("corrupt", "layout"),
    [
        pytest.param(corrupt, layout, id=f"{name}-{layout}", marks=[] if number % 2 == place else pytest.mark.slow)
        for number, (name, corrupt) in enumerate(CORRUPT)
        for place, layout in enumerate(LAYOUTS)
    ],
)
def test_harmful_table_is_refused(corrupt: Corruption, layout: str, good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table that could mislead a kernel is refused, even if the file is well-formed."""
    path, harmful = tmp_path / "harmful.npz", corrupt(good[layout])
    harmful.save(path)
    refused_by_proof(path, harmful)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("layout", ["compact", "linked"])
def test_harmless_table_is_loaded(layout: str, good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """The valid tables are loaded and give the same ids as the walk for texts that use every part of a table that the tests change."""
    path = tmp_path / "good.npz"
    good[layout].save(path)
    tokenizer = fst.Tokenizer.load(path)
    for text in (*TEXTS, ALL_SORTS):
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == good[layout].run(text)


def test_trie_without_its_root_is_refused(data: bytes, tmp_path: Path) -> None:
    """A table is refused if its trie of special tokens has no root."""
    specials = with_npy_header(data, "specials", shaped(b"(0, 4)"))
    parts = members(specials)
    refused(tmp_path / "rootless.npz", forged({**parts, "specials": parts["specials"][:128]}), "the trie of special tokens has 0 nodes")
