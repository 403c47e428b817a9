"""Prove that tables are safe to walk.

Kernels run without bounds checks. Before one runs, everything it will take from a table is shown here to be in range, in a few passes over
the arrays, and so is the bound that output buffers are sized by: **a text yields at most one id for each symbol and each special token,
a character is at most 3 symbols, and at most as many as it has bytes in UTF-8.**

The proof of that bound: let the depth of a state be what its finish entry says. The root has depth 0. An explicit transition from s
to t that emits k ids has k + depth(t) ≤ depth(s) + 1; finishing s emits at most depth(s) ids, and leads to a state of depth at most 1.
By induction, the ids emitted since the start of a word and the depth together never exceed the symbols read, and a word that fails,
of one symbol or more, is rolled back to one id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fst.errors import TableError
from fst.tables import (
    CODE_POINTS,
    CONTINUES_RUN,
    END,
    FAIL,
    FINISH,
    HAS_MARKS,
    HOLE,
    KIND_SHIFT,
    LABEL_SHIFT,
    LIST,
    MANY,
    MAX_LABEL,
    MAX_NEXT,
    MAX_OUTPUT,
    MAX_WORD,
    NONE,
    ONE,
    OUTPUT_SHIFT,
    PAGE_BITS,
    ROOT,
    STARTS_SPECIAL,
    Array,
    Tables,
    field_kind,
    field_label,
    field_next,
    field_output,
    pack,
)

MAX_RANK = 63
CHUNK = 1 << 16
MAX_LISTED = 3


def verify(tables: Tables) -> None:
    """Prove tables safe, or raise.

    Raises:
        TableError: something is out of range; the message says what.
    """
    _verify_shapes(tables)
    _verify_tokens(tables)
    _verify_about(tables)
    depths = _verify_entries(tables)
    _verify_classes(tables, depths)
    _verify_characters(tables)
    _verify_specials(tables)


def need(condition: Any, what: str) -> None:
    """Refuse the tables unless a condition holds."""
    if not condition:
        raise TableError(f"not a sound table: {what}")


def _verify_shapes(tables: Tables) -> None:
    need(tables.specials.ndim == 2 and tables.specials.shape[1] == 4, "specials have four fields")
    for name in ("pages", "blocks", "classes", "symbols", "entries", "pool", "token_bytes", "token_ends", "token_ids"):
        need(getattr(tables, name).ndim == 1, f"{name} is one-dimensional")


def _verify_tokens(tables: Tables) -> None:
    ends, ids = tables.token_ends, tables.token_ids
    need(len(ends) == len(ids) > 0, "every token has an end and an id")
    need(ids.min() >= 0 and ids.max() <= MAX_OUTPUT, "token ids are in range")
    need(ends[0] >= 0 and np.all(np.diff(ends) >= 0) and ends[-1] == len(tables.token_bytes), "tokens lie one after the other")
    try:
        tables.token_bytes.tobytes().decode()
    except UnicodeDecodeError:
        need(False, "tokens are UTF-8")
    starts = ends[:-1][ends[:-1] < ends[-1]]
    need(np.all(tables.token_bytes[starts] & 0xC0 != 0x80), "tokens are whole characters")


def _verify_about(tables: Tables) -> None:
    about = tables.about
    need(about.get("kind") == "wordpiece", f"kind {about.get('kind')!r} is known")
    highest = int(tables.token_ids.max())
    _need_number(about, "unk_id", highest)
    _need_number(about, "dead", len(tables.entries) - 1)
    _need_number(about, "columns", MAX_LABEL)
    need(about["columns"] >= 1, "a row has a finish entry")
    _need_number(about, "states", len(tables.entries))
    _need_number(about, "max_input_chars_per_word", MAX_WORD)
    for name in ("prefix", "suffix", "skipped"):
        numbers = about.get(name)
        need(isinstance(numbers, list) and (len(numbers) <= MAX_LABEL or name == "skipped"), f"{name} is a list of ids")
        need(all(type(number) is int and 0 <= number <= highest for number in numbers or ()), f"{name} holds known ids")
    for name in ("lowercase", "clean_text", "handle_chinese_chars"):
        need(type(about.get(name)) is bool, f"{name} is true or false")
    need(about.get("strip_accents") in (None, True, False), "strip_accents is true, false or null")
    for name in ("truncation", "padding"):
        need(about.get(name) is None or isinstance(about[name], dict), f"{name} is null or a mapping")
    for name in ("unk_token", "continuing_subword_prefix", "pre_tokenizer", "layout"):
        need(isinstance(about.get(name), str), f"{name} is a string")
    specials = about.get("specials")
    need(isinstance(specials, dict), "specials are a mapping")
    need(all(type(number) is int and 0 <= number <= highest for number in (specials or {}).values()), "specials have known ids")
    decoder = about.get("decoder")
    sound = decoder is None or (isinstance(decoder, dict) and isinstance(decoder.get("prefix"), str) and "cleanup" in decoder)
    need(sound, "the decoder is null, or has a prefix and cleanup")


def _need_number(about: Mapping[str, Any], name: str, highest: int) -> None:
    value = about.get(name)
    need(type(value) is int and 0 <= value <= highest, f"{name} is a number from 0 to {highest}")


def _verify_entries(tables: Tables) -> Array:
    """Prove every row; return for each number that may stand for a state its depth plus 1, or 0 where it is none."""
    entries, columns = tables.entries, tables.about["columns"]
    need(columns <= len(entries) <= MAX_NEXT, "the number of entries is in range")
    states = np.concatenate([first + np.flatnonzero((labels(part) == FINISH) & (part != HOLE)) for first, part in chunks(entries)])
    need(len(states) == tables.about["states"] > 0 and states[0] == ROOT, "the root is the first of all states")
    need(states[-1] + columns <= len(entries), "every row has room for every label")
    need(entries[ROOT] == pack(0, FINISH, 0, NONE), "the root has nothing to finish")
    need(np.array_equal(labels(entries[1:columns]), np.arange(1, columns)), "the root has a transition for every label")
    need(entries[tables.about["dead"]] == pack(0, FINISH, 0, FAIL), "the dead state fails")

    own = field_next(entries[states])
    deepest = int(own.max())
    # As many zeros as a state has bits: no index needs a test, and what is not written takes no memory. The type holds all sums below.
    depths = np.zeros(MAX_NEXT + 1, np.min_scalar_type(2 * deepest + 3))
    depths[states] = own + 1
    counts = np.minimum(_pooled(tables), deepest + 2).astype(depths.dtype)  # more than deepest + 1 is too many anyway
    need(np.all(_emitted(tables, entries[states], counts) <= own), "no state emits more ids than it has read symbols")
    for first, part in chunks(entries):
        _verify_transitions(tables, first, part, depths, counts)
    return depths


def _verify_transitions(tables: Tables, first: int, part: Array, depths: Array, counts: Array) -> None:
    """Prove the explicit transitions of some entries, the first of which is at slot `first`."""
    label = labels(part)
    emitted = _emitted(tables, part, counts)
    before = depths.take(np.arange(first, first + len(part)) - label, mode="wrap")  # below 0 is the end of `depths`, which is 0
    after = depths.take(low_halves(part) & np.uint32(MAX_NEXT), mode="clip")
    sound = (before > 0) & (after > 0) & (emitted + after - after.dtype.type(1) <= before)
    sound &= (kinds(part) != FAIL) & (label - np.uint16(1) < np.uint16(tables.about["columns"] - 1))
    sound |= label == FINISH
    if not sound.all():
        need(False, f"the transition at slot {first + int(sound.argmin())} leads from a state to a state that owes no more ids")


def chunks(entries: Array) -> Iterator[tuple[int, Array]]:
    """Parts of the entries, small enough for what is computed of them to stay in a cache, each with the slot at which it begins."""
    return ((first, entries[first : first + CHUNK]) for first in range(0, len(entries), CHUNK))


def labels(entries: Array) -> Array:
    """The labels of entries, as they lie in memory."""
    found: Array = entries.view(np.uint16)[LABEL_SHIFT // 16 :: 4]
    return found


def low_halves(entries: Array) -> Array:
    """The halves of entries that hold the next state and the kind, as they lie in memory."""
    found: Array = entries.view(np.uint32)[0::2]
    return found


def kinds(entries: Array) -> Array:
    """The kinds of entries."""
    return low_halves(entries) >> np.uint32(KIND_SHIFT) & np.uint32(3)


def outputs(entries: Array) -> Array:
    """The outputs of entries."""
    return (entries >> np.uint64(OUTPUT_SHIFT)).astype(np.uint32) & np.uint32(MAX_OUTPUT)


def _pooled(tables: Tables) -> Array:
    """How many ids an output has that begins at each place of the pool; all are shown to end, and to have known ids."""
    pool = tables.pool
    last = np.flatnonzero(pool >= END)
    need(not len(pool) or (len(last) and last[-1] == len(pool) - 1), "the last pooled output has an end")
    need((pool & np.uint32(END - 1)).max(initial=0) <= tables.token_ids.max(), "pooled ids are known")
    return np.repeat(last, np.diff(last, prepend=-1)) - np.arange(len(pool)) + 1


def _emitted(tables: Tables, entries: Array, counts: Array) -> Array:
    """How many ids each entry emits; all outputs but those of holes are shown to be in range."""
    kind, output = kinds(entries), outputs(entries)
    one, many = kind == ONE, np.flatnonzero(kind == MANY)
    need((output * one).max(initial=0) <= tables.token_ids.max(), "token ids in entries are known")
    pooled = output[many]
    need(pooled.max(initial=0) < max(len(counts), 1) and (len(counts) or not len(many)), "pooled outputs are in range")
    emitted: Array = one.astype(counts.dtype)
    emitted[many] = counts[pooled]
    return emitted


def _verify_classes(tables: Tables, depths: Array) -> None:
    need(len(tables.classes) % 2 == 0 and 2 <= len(tables.classes) <= 2 * MAX_LABEL, "classes have two records each")
    a, b = tables.classes[0::2], tables.classes[1::2]
    kind, listed = field_kind(a), field_kind(a) == LIST
    need(np.all(b <= MAX_NEXT), "the second record is a state")
    need(field_label(a).max() < tables.about["columns"], "labels of classes are in range")
    need(np.all((kind == NONE) | (field_label(a) == 0)), "only parts of words have labels")
    ends_word = (field_label(a) == 0) & (kind <= ONE)
    need(not np.any(field_next(a)[ends_word]) and not np.any(b[ends_word]), "between words is the root")
    states = np.concatenate([field_next(a)[~listed], field_next(b)])
    begun = depths[states]
    need(begun.min(initial=1) >= 1 and begun.max(initial=1) <= 2, "classes lead to states just begun")
    need(field_output(a)[kind == ONE].max(initial=0) <= tables.token_ids.max(), "token ids in classes are known")
    _verify_lists(tables, a[listed], kind)


def _verify_lists(tables: Tables, records: Array, kind: Array) -> None:
    symbols, start = tables.symbols, field_next(records)
    known = STARTS_SPECIAL | HAS_MARKS | CONTINUES_RUN
    need(np.all(field_output(records) & ~known == 0), "flags of classes are known")
    need(start.max(initial=-1) < len(symbols), "lists are in range")
    counts = symbols[start].astype(np.int64)
    need(counts.max(initial=0) <= MAX_LISTED and np.all(start + counts < len(symbols)), "lists are in range")
    for place in range(MAX_LISTED):
        listed = symbols[start[counts > place] + 1 + place]
        number = (listed & np.uint32(0xFFFF)).astype(np.int64)
        need(number.max(initial=0) < len(kind) and not np.any(kind[number] == LIST), "lists hold classes that are one symbol")
        rank, marks = listed >> np.uint32(16), field_output(records[counts > place]) & HAS_MARKS
        need(rank.max(initial=0) <= MAX_RANK and not np.any(rank[marks == 0]), "ranks are in range, and those of marks")


def _verify_characters(tables: Tables) -> None:
    """Show that code points lead to classes, and none to more symbols than it has bytes in UTF-8."""
    pages, blocks, width = tables.pages, tables.blocks, 1 << PAGE_BITS
    need(len(pages) == CODE_POINTS // width and len(blocks) >= width and len(blocks) % width == 0, "all code points have a page")
    need(pages.max() < len(blocks) // width, "pages are in range")
    need(pages[0] == 0 and np.array_equal(blocks[:width], np.arange(width)), "the class of an ASCII character is its code")
    need(blocks.max() < len(tables.classes) // 2, "classes of characters are in range")
    a = tables.classes[0::2]
    symbols = np.ones(len(a), np.uint8)
    listed = field_kind(a) == LIST
    symbols[listed] = tables.symbols[field_next(a)[listed]]
    most = symbols[blocks].reshape(-1, width).max(axis=1)[pages]
    for first, last, length in ((0, 0x80, 1), (0x80, 0x800, 2), (0x800, 0x10000, 3)):
        need(most[first // width : last // width].max() <= length, "no character has more symbols than bytes")


def _verify_specials(tables: Tables) -> None:
    code, child, sibling, number = tables.specials.T
    nodes = np.arange(len(code))
    need(1 <= len(code) <= MAX_NEXT and sibling[0] == number[0] == -1, "the trie of special tokens has a root")
    need(np.all((code[1:] >= 0) & (code[1:] < CODE_POINTS)), "its letters are code points")
    need(np.all((child == -1) | (child > nodes)) and child.max() < len(code), "children come after their parents")
    need(np.all((sibling == -1) | ((sibling > 0) & (sibling < nodes))), "siblings come before each other")
    need(number.min() >= -1 and number.max() <= tables.token_ids.max(), "ids of special tokens are known")
