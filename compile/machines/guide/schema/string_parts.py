r"""The texts of sets of strings, with quotation marks, as parts of late guides.

A string is written without escapes where it can be: a quotation mark, a backslash and control characters have one escape each, ``\n`` or
``\u0001``. Where any character may follow, every escape of JSON may be used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache

import numpy as np

from fst.automata.rows import Array
from fst.compile.machines.guide.builder import Block, Builder
from fst.compile.machines.guide.lengths import is_inside, remaining
from fst.compile.machines.guide.part_builder import PartBuilder, TreeWriter
from fst.compile.machines.guide.schema.patterns import ANYTHING
from fst.compile.machines.guide.schema.string_sets import Counted, Strings, counted, lengths
from fst.compile.machines.guide.schema.text import add_escapes, any_escape, written_strings
from fst.compile.machines.guide.utf_8 import Fragment, fragment
from fst.compile.patterns.code_points import Set, complement, difference, of_runs
from fst.compile.patterns.sets import ANY
from fst.compile.patterns.tree import Choice, Node, Repeat, Sequence, children
from fst.core.jit import Deferred
from fst.machines.guide.parts import COUNT, EXIT, MISS, UNLIMITED, Part
from fst.machines.guide.vocabulary import nodes_of
from fst.tables.strings import stored_bytes

QUOTE, BACKSLASH = ord('"'), ord("\\")
ESCAPED = of_runs([(0, 0x1F), (QUOTE, QUOTE), (BACKSLASH, BACKSLASH)])
PLAIN = complement(ESCAPED)
LONG = of_runs([(0x80, 0x10FFFF)])
SURROGATE = re.compile("[\ud800-\udfff]")
MAX_COPIES = 1 << 12  # maximum size of a tree whose repetitions are written out
MAX_IN_PLACE = 8  # maximum number of listed strings that are no part of their own

leave_names = Deferred("fst.compile.machines.guide.kernels.names", "leave_names")


def is_plain(text: str) -> bool:
    """Whether all characters of a string are ASCII that needs no escape."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def json_text(text: str) -> bytes:
    """A string with quotation marks, and with the escapes that it needs."""
    if is_plain(text):
        return f'"{text}"'.encode()
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)).encode()


def is_small(term: Strings) -> bool:
    """Whether the texts of a term take few states."""
    return term.listed is not None and len(term.listed) <= MAX_IN_PLACE


@lru_cache(maxsize=1 << 10)
def string_part(term: Strings) -> Part | None:
    """The part of the texts of a term; None if it has none."""
    if term.listed is not None:
        return _of_listed(term.listed)
    if not term.patterns and not term.excluded:
        if not term.without:
            return _of_length(term.least, UNLIMITED if term.most is None else term.most)
        if not term.least and term.most is None:
            return _of_others(term.without)
    without = [text for text in term.without if all(each.matches(text) for each in term.patterns)]
    if len(term.patterns) == 1 and not term.excluded and not without:
        tree = term.patterns[0].tree
        if tree is not None:
            least, most = lengths(tree)
            if term.least <= least and (term.most is None or (most is not None and most <= term.most)):
                return _of_tree(tree)
            found = _of_counted_tree(tree, term.least, term.most)
            if found is not None:
                return found
    return _of_automaton(term)


def _of_listed(texts: Iterable[str]) -> Part | None:
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    builder.strings(start, map(json_text, texts), end)
    return builder.part(start, [end])


def _of_length(least: int, most: int) -> Part | None:
    builder = PartBuilder()
    start, free, end = builder.state(), builder.state(), builder.state()
    if not least and most == UNLIMITED:
        builder.read(start, QUOTE, QUOTE, free)
        add_character(builder, free, ANY, free)
        builder.read(free, QUOTE, QUOTE, end)
    else:
        begun, before, last = builder.state(), builder.state(), builder.state()
        builder.read(start, QUOTE, QUOTE, begun)
        builder.enter(begun, least, most, free)
        builder.count(free, before)
        add_character(builder, before, ANY, free)
        builder.exit(free, last)
        builder.read(last, QUOTE, QUOTE, end)
    return builder.part(start, [end], [free])


def _of_tree(tree: Node) -> Part | None:
    """The part of a tree of whole strings. Any characters at its start are an open state, any characters at its end a free one."""
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    free, is_open = list[int](), list[int]()
    begun = builder.text(start, b'"')
    writer = TreeWriter(builder, lambda before, edges, after: add_character(builder, before, edges, after))
    for each in tree.parts if isinstance(tree, Choice) else (tree,):
        parts = each.parts if isinstance(each, Sequence) else (each,)
        state = begun
        if parts and parts[0] is ANYTHING:
            state = builder.state()
            builder.skip(begun, state)
            add_character(builder, state, ANY, state)
            is_open.append(state)
            parts = parts[1:]
        last = builder.state()
        if parts and parts[-1] is ANYTHING:
            writer.add(Sequence(parts[:-1]), state, last)
            add_character(builder, last, ANY, last)
            free.append(last)
        else:
            writer.add(Sequence(parts), state, last)
        builder.read(last, QUOTE, QUOTE, end)
    return builder.part(start, [end], free, is_open)


def _of_counted_tree(tree: Node, least: int, most: int | None) -> Part | None:
    """The part of a tree of whole strings whose characters are counted; None if a position might be dead, or there are too many copies."""
    if _size(tree) > MAX_COPIES:
        return None
    builder = PartBuilder()

    def add(before: int, edges: Set, after: int) -> None:
        counted = builder.state()
        builder.count(before, counted)
        add_character(builder, counted, edges, after)

    start, begun, last, end = (builder.state() for _ in range(4))
    first = builder.state()
    builder.read(start, QUOTE, QUOTE, begun)
    builder.enter(begun, least, UNLIMITED if most is None else most, first)
    _CopyingWriter(builder, add).add(tree, first, last)
    outside = builder.state()
    builder.exit(last, outside)
    builder.read(outside, QUOTE, QUOTE, end)
    part = builder.part(start, [end])
    return None if part is None else _with_missing(part, least, most)


class _CopyingWriter(TreeWriter):
    """Adds trees whose repetitions are written out, so that there is no tally inside a tally."""

    def _is_copied(self, body: Node, copies: int) -> bool:  # noqa: ARG002 — as in `TreeWriter`
        return True


def _size(node: Node) -> int:
    """About the number of states of a tree whose repetitions are written out."""
    if isinstance(node, Repeat):
        return _size(node.body) * max(node.least, node.most or 1, 1)
    return 1 + sum(map(_size, children(node)))


def _with_missing(part: Part, least: int, most: int | None) -> Part | None:
    """A counted part in which no position is dead: before a count, the number of missing keys is set to the number of characters that must
    follow. None if a position might be dead because of the least length.
    """
    moves, arcs = part.moves.tolist(), part.arcs.tolist()
    edges = [(before, after, int(kind == COUNT)) for before, kind, _, _, after in moves if kind != EXIT]
    edges += [(before, after, 0) for before, _, _, after in arcs]
    shortest = remaining(edges, 0, [before for before, kind, *_ in moves if kind == EXIT], least, most)
    if shortest is None or most is None:
        return None if shortest is None else part
    changed, counts = part.moves.copy(), np.flatnonzero(part.moves[:, 1] == COUNT)
    inner = np.arange(part.states, part.states + len(counts))
    later = changed[counts]
    later[:, 0] = inner
    changed[counts, 1], changed[counts, 2], changed[counts, 4] = MISS, [shortest[after] for after in later[:, 4].tolist()], inner
    flags = np.append(part.flags, np.zeros(len(counts), np.uint8))
    return Part(part.arcs, np.concatenate([changed, later]), flags)


def _of_automaton(term: Strings) -> Part | None:
    """The part of a term whose strings become an automaton."""
    found = counted(term)
    if found.is_empty:
        return None
    builder = PartBuilder()
    start, begun, last, end = (builder.state() for _ in range(4))
    builder.read(start, QUOTE, QUOTE, begun)
    builder.read(last, QUOTE, QUOTE, end)
    base, block = builder.states, written_strings(found.language)
    if found.least or found.most is not None:
        _add_counted(builder, found, block, begun, last)
    else:
        builder.block(begun, block, last)
    return builder.part(start, [end], [base + state for state in block.loops])


def _add_counted(builder: PartBuilder, found: Counted, block: Block, start: int, end: int) -> None:
    """Add strings whose characters a tally counts. The states of the language are the next states of the builder.

    The number of missing keys is the number of characters that must follow a character: arcs inside a character are copied for each such
    number.
    """
    base, limit = builder.states, len(found.language.is_final)
    is_outer = np.append(~is_inside(found.language), np.zeros(block.states - limit, np.bool_))
    shortest = np.zeros(block.states, np.int64)
    if found.most is not None:
        shortest[:limit] = [found.shortest[state] for state in range(limit)]
    numbers, kinds = np.unique(shortest[:limit], return_inverse=True)
    leaving = block.arcs[is_outer[block.arcs[:, 3]]]
    inner = block.arcs[~is_outer[block.arcs[:, 3]]]
    inner = inner[np.argsort(inner[:, 3], kind="stable")]
    copied, kind, arc = _copies(leaving[:, 0] * len(numbers) + kinds[leaving[:, 3]], inner, block.states, len(numbers))

    def copies(states: Array, kinds: Array) -> Array:
        """The copies of states for kinds of states after the character."""
        return base + limit + np.searchsorted(copied, states * len(numbers) + kinds)

    left = [copies(leaving[:, 0], kinds[leaving[:, 3]]), leaving[:, 1], leaving[:, 2], base + leaving[:, 3]]
    kept = [copies(inner[arc, 0], kind), inner[arc, 1], inner[arc, 2], copies(inner[arc, 3], kind)]
    builder.add(limit + len(copied), np.concatenate([np.stack(left, axis=1), np.stack(kept, axis=1)]))
    builder.enter(start, found.least, UNLIMITED if found.most is None else found.most, base)
    outside = builder.state()
    builder.exit(outside, end)
    for state in block.final:
        builder.skip(base + state, outside)
    for place, key in enumerate(copied.tolist(), base + limit):
        state, each = divmod(key, len(numbers))
        if is_outer[state]:
            before, number = base + state, int(numbers[each])
            if number != shortest[state] or (number and not state):
                before = builder.state()
                builder.miss(base + state, number, before)
            builder.count(before, place)


def _copies(keys: Array, inner: Array, states: int, kinds: int) -> tuple[Array, Array, Array]:
    """The copies of states for the kinds of states that the rest of a character leads to.

    Args:
        keys: int64[n], for each arc that ends a character, the state before it times `kinds`, plus the kind of the state after it.
        inner: int64[n, 4], the other arcs, sorted by the states after them.
        states: the number of states.
        kinds: the number of kinds.

    Returns:
        The keys of all copies, ascending; for each copy of an arc of `inner`, the kind, and the arc.
    """
    starts = np.searchsorted(inner[:, 3], np.arange(states + 1))

    def before(keys: Array) -> tuple[Array, Array]:
        state, kind = np.divmod(keys, kinds)
        counts = starts[state + 1] - starts[state]
        return np.repeat(kind, counts), np.repeat(starts[state] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())

    found = new = np.unique(keys)
    while len(new):
        kind, arc = before(new)
        new = np.setdiff1d(inner[arc, 0] * kinds + kind, found)
        found = np.union1d(found, new)
    return found, *before(found)


def _of_others(texts: frozenset[str]) -> Part | None:
    """The part of all strings except some: a trie of these strings, which every other character leaves."""
    builder = PartBuilder()
    start, end, free, long, leaf = (builder.state() for _ in range(5))
    add_character(builder, free, ANY, free)
    add_character(builder, leaf, ANY, free)
    builder.read(free, QUOTE, QUOTE, end)
    builder.fragment(long, _leaving(), free)
    root = builder.text(start, b'"')
    opened = (add_plain_others if is_plain("".join(texts)) else add_others)(builder, texts, root, end, free, (long, leaf))
    return builder.part(start, [end], [free], opened)


def add_others(
    builder: PartBuilder, texts: Collection[str], root: int, end: int, free: int, shared: tuple[int, int]
) -> Iterable[int]:
    """Add a trie of strings.

    Args:
        builder: the builder.
        texts: the strings.
        root: the state before the first character.
        end: the state after the quotation mark that ends another string.
        free: the state after a character that leaves the trie.
        shared: two states: from the first, all characters that are not plain ASCII lead to `free`; from the second, all characters, with
            every escape.

    Returns:
        The states of the trie.
    """
    long, leaf = shared
    trie: dict[int, dict[str, int]] = {root: {}}
    ends = set[int]()
    for text in texts:
        state = root
        for char in text:
            if char not in trie[state]:
                trie[state][char] = builder.state()
                trie[trie[state][char]] = {}
            state = trie[state][char]
        ends.add(state)
    for state, followers in trie.items():
        if state not in ends:
            builder.read(state, QUOTE, QUOTE, end)
        if not followers:
            builder.skip(state, leaf)
            continue
        if all(" " <= char <= "~" and char not in '"\\' for char in followers):
            builder.skip(state, long)
            first = 0x20
            for code in [*sorted({*map(ord, followers), QUOTE, BACKSLASH}), 0x80]:
                if first < code:
                    builder.read(state, first, code - 1, free)
                first = code + 1
            for char, child in followers.items():
                builder.read(state, ord(char), ord(char), child)
            continue
        codes = sorted(map(ord, followers))
        add_character(builder, state, difference(ALL_PLAIN, of_runs((code, code) for code in codes)), free)
        for char, child in followers.items():
            add_character(builder, state, of_runs([(ord(char), ord(char))]), child)
    return trie


def add_plain_others(
    builder: PartBuilder, texts: Collection[str], root: int, end: int, free: int, shared: tuple[int, int]
) -> Iterable[int]:
    """`add_others`, by a kernel, for strings of printable ASCII without quotation marks and backslashes."""
    names, none = sorted(f'"{text}'.encode() for text in texts), np.uint32(len(texts))  # with a quotation mark, no name is empty
    ids, longest = np.arange(none, dtype=np.uint32), max(map(len, names))
    labels, skips, tokens, *_ = nodes_of(*stored_bytes(names), ids, longest, none)
    nodes, inner = len(labels), builder.states
    arcs = np.empty((6 * nodes, 4), np.int32)
    builder.add(nodes - 1, arcs[: leave_names.call(labels, skips, tokens, none, root, end, free, inner, arcs)])
    states = [root, *range(inner, inner + nodes - 1)]
    for state, is_inner in zip(states, (skips > np.arange(1, nodes + 1)).tolist(), strict=True):
        builder.skip(state, shared[0] if is_inner else shared[1])
    return states


ALL_PLAIN = difference(ANY, of_runs([(0xD800, 0xDFFF)]))  # characters, none of which is half of a surrogate pair


@cache
def _leaving() -> Fragment:
    """The characters of several bytes, and the escapes of characters that need one."""
    builder = Builder()
    start, end = builder.state(), builder.state()
    builder.character(start, fragment(LONG), end)
    add_escapes(builder, start, dict.fromkeys([*range(0x20), QUOTE, BACKSLASH], end))
    return _fragment(builder)


def add_character(builder: PartBuilder, start: int, edges: Set, end: int) -> None:
    """Add the texts of a character of a set between two states."""
    builder.fragment(start, _any_character() if edges is ANY else _character(edges.astype(np.int64).tobytes()), end)


@cache
def _any_character() -> Fragment:
    """A character, with every escape of JSON."""
    builder = Builder()
    start, end = builder.state(), builder.state()
    builder.character(start, fragment(PLAIN), end)
    inner, arcs = any_escape()
    builder.character(start, Fragment(2 + inner, arcs), end)
    return _fragment(builder)


@lru_cache(maxsize=1 << 10)
def _character(edges: bytes) -> Fragment:
    """A character of a set, with an escape only where it needs one."""
    codes = np.frombuffer(edges, np.int64)
    builder = Builder()
    start, end = builder.state(), builder.state()
    builder.character(start, fragment(difference(codes, ESCAPED)), end)
    inside = difference(codes, PLAIN).reshape(-1, 2).tolist()
    add_escapes(builder, start, dict.fromkeys([code for first, last in inside for code in range(first, last)], end))
    return _fragment(builder)


def _fragment(builder: Builder) -> Fragment:
    """What is drawn between the states 0 and 1."""
    return Fragment(builder.states, np.array(builder.arcs, np.int32).reshape(-1, 4))
