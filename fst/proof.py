"""Prove that tables are safe to walk.

Kernels run without bounds checks. Before one runs, everything it will take from a table is shown here to be in range, in a few passes over
the arrays, and so is the bound that output buffers are sized by: **a text yields at most one id for each symbol and each special token,
and a character is one symbol, or those of its list, at most 32.**

The proof of that bound: let the depth of a state be what its finish entry says. The root has depth 0. An explicit transition from s
to t that emits k ids has k + depth(t) ≤ depth(s) + 1; finishing s emits at most depth(s) ids, and leads to a state of depth at most 1.
By induction, the ids emitted since the start of a word and the depth together never exceed the symbols read, and a word that fails,
of one symbol or more, is rolled back to one id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fst.composition import Composition, Placing
from fst.errors import TableError
from fst.machines.wordpiece import ARRAYS, LATE_FLAGS, MAX_LATE, Tables, parents_of
from fst.rows import (
    BLANK,
    CODE_POINTS,
    CONTINUES_RUN,
    END,
    FAIL,
    FINISH,
    HAS_MARKS,
    KIND_BITS,
    KIND_SHIFT,
    LABEL_SHIFT,
    LIST,
    MANY,
    MAX_LABEL,
    MAX_NEXT,
    MAX_OUTPUT,
    MAX_WORD,
    MULTIPLIERS,
    NONE,
    ONE,
    PAGE_BITS,
    ROOT,
    STARTS_SPECIAL,
    WHITE_SPACE,
    WORD_SYMBOLS,
    Array,
    are_fences,
    are_parts,
    field_kind,
    field_label,
    field_next,
    field_output,
    pack,
)
from fst.settings import RULES, is_text

MAX_RANK = 63
MAX_TYPE_ID = (1 << 31) - 1
CHUNK = 1 << 16  # entries that are proven at a time; what is computed of them stays in a cache
SHARE = 8  # chunks that a thread takes at a time; to wait for another thread takes as long as a tenth of a chunk
MAX_LISTED = 32  # symbols of a character; U+FDFA, decomposed, has 18
ONE_LABEL = np.uint64(1 << LABEL_SHIFT)  # what makes the label of an entry 1 more
MARGIN = MAX_LABEL
RUNS = ("word", "begins_word", "ends_word", "spaced")  # keys of `context`
CONTEXT = {*RUNS, "mixed"}
LAYOUTS = ("dense", "compact")
PRE_TOKENIZERS = ("bert", "none", "other")
FLAGS = ("lowercase", "clean_text", "handle_chinese_chars")
PARTS = ("normalizer_parts", "pre_tokenizer_parts")
MAX_OVERLAPS = 1 << 28  # characters of special tokens times characters of late tokens in raw text
MAX_DEPTH = 32  # of lists and mappings nested in `normalizer_parts` and `pre_tokenizer_parts`
ABOUT = frozenset(
    (
        *("kind", "layout", "states", "columns", "dead", "unk_id", "model_tokens", "single", "pair", "skipped", "specials", "late"),
        *("context", "composition", "placing", "strip_accents", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"),
        *("pre_tokenizer", *FLAGS, *PARTS, *RULES),
    )
)
HASH_FACTORS = np.array(MULTIPLIERS, np.uint64)

Each = Callable[..., Iterable[Any]]


def verify(tables: Tables, each: Each = map) -> None:
    """Prove tables safe, or raise.

    Args:
        tables: any, as long as their arrays are of the right types.
        each: `map`, or the `map` of an executor, which then proves several chunks of entries at the same time.

    Raises:
        TableError: something is out of range; the message says what.
    """
    _verify_shapes(tables)
    token_of = _verify_tokens(tables)
    named = token_of >= 0
    _verify_about(tables, named)
    depths = _verify_entries(tables, named, each)
    _verify_classes(tables, named, depths)
    _verify_characters(tables)
    _verify_specials(tables)
    _verify_added(tables, token_of)
    _verify_words(tables, named)
    if tables.about["late"]:
        _verify_late(tables)


def need(condition: Any, what: str) -> None:
    """Refuse the tables unless a condition holds."""
    if not condition:
        raise TableError(f"not a sound table: {what}")


def _verify_shapes(tables: Tables) -> None:
    need(tables.specials.ndim == 2 and tables.specials.shape[1] == 4, "specials have four fields")
    for name in ARRAYS:
        need(name == "specials" or getattr(tables, name).ndim == 1, f"{name} is one-dimensional")


def _verify_tokens(tables: Tables) -> Array:
    """Prove the names of ids; return the token of each id, the last if there are several, and -1 for a number that is no id."""
    ends, ids = tables.token_ends, tables.token_ids
    need(len(ends) == len(ids) > 0, "every token has an end and an id")
    need(ids.min() >= 0 and ids.max() <= MAX_OUTPUT, "token ids are in range")
    need(ends[0] >= 0 and np.all(ends[:-1] <= ends[1:]) and ends[-1] == len(tables.token_bytes), "tokens lie one after the other")
    try:
        str(tables.token_bytes.data, "utf-8")
    except UnicodeDecodeError:
        need(False, "tokens are UTF-8")
    _verify_distinct(tables)
    token_of = np.full(int(ids.max()) + 1, -1, np.int32)
    token_of[ids] = np.arange(len(ids), dtype=np.int32)
    return token_of


def _verify_distinct(tables: Tables) -> None:
    """Show that tokens are whole characters, and no two are the same. Only tokens with equal hashes are compared.

    The hash covers the length, the first and the last eight bytes, and eight bytes in the middle of a long token.
    """
    data, ends = np.append(tables.token_bytes, np.zeros(8, np.uint8)), tables.token_ends
    starts = np.append(0, ends[:-1])
    sizes = ends - starts
    eight_from = np.ndarray(len(data) - 7, "<u8", data.data, strides=(1,))
    masks = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
    first = eight_from[starts]
    need(np.all(first & np.uint64(0xC0) != np.uint64(0x80)), "tokens are whole characters")
    hashes = (first & masks.take(sizes, mode="clip")) * HASH_FACTORS[0] + sizes.view(np.uint64)
    long = np.flatnonzero(sizes > 8)
    hashes[long] += eight_from[ends[long] - 8] * HASH_FACTORS[1]
    longer = long[sizes[long] > 16]
    hashes[longer] += eight_from[starts[longer] + (sizes[longer] >> 1) - 4] * HASH_FACTORS[2]
    hashes = (hashes >> np.uint64(32)).astype(np.uint32)  # half as wide, sorted in half the time
    ascending = np.sort(hashes)
    twice = ascending[1:][ascending[1:] == ascending[:-1]]
    if len(twice):
        names = [_name(tables, token) for token in np.flatnonzero(np.isin(hashes, twice)).tolist()]
        need(len(set(names)) == len(names), "two tokens have the same name")


def _verify_about(tables: Tables, named: Array) -> None:
    about = tables.about
    need(about.get("kind") == "wordpiece", f"kind is {about.get('kind')!r:.40}; this version reads 'wordpiece'")
    need(about.keys() >= ABOUT, f"about lacks {', '.join(sorted(ABOUT - about.keys()))}")
    need(about.keys() <= ABOUT, f"about has {', '.join(map(ascii, sorted(about.keys() - ABOUT))):.80}, which this version does not know")
    _need_ids([about["unk_id"]], named, "unk_id")
    _need_number(about, "model_tokens", 1, len(tables.token_ids))
    _need_number(about, "dead", 0, len(tables.entries) - 1)
    _need_number(about, "columns", 1, MAX_LABEL)
    _need_number(about, "states", 0, len(tables.entries))
    _need_number(about, "max_input_chars_per_word", 0, MAX_WORD)
    _need_ids(about["skipped"], named, "skipped")
    _need_template(about["single"], named, ["A"], "single")
    _need_template(about["pair"], named, ["A", "B"], "pair")
    for name in (*FLAGS, "strip_accents"):
        value = about[name]
        need(type(value) is bool or (name == "strip_accents" and value is None), f"{name} is {value!r:.40}; it is true or false")
    for name, rule in RULES.items():
        need(rule.holds(about[name]), f"{name} is {rule.said}")
    for name, known in (("layout", LAYOUTS), ("pre_tokenizer", PRE_TOKENIZERS)):
        need(about[name] in known, f"{name} is {about[name]!r:.40}; there are {', '.join(known)}")
    for name in ("unk_token", "continuing_subword_prefix"):
        need(is_text(about[name]), f"{name} is {about[name]!r:.40}; it is a string")
    for name in PARTS:
        need(_are_components(about[name]), f"{name} is null or mappings of strings, whole numbers, true, false and null")
    need(about["pre_tokenizer"] != "other" or about["pre_tokenizer_parts"] is not None, "pre_tokenizer is 'other', and no parts say which")
    _need_known(Composition.from_stored, about["composition"], "what composes")
    _need_known(Placing.from_stored, about["placing"], "what is placed in steps")
    _verify_late_tokens(about, named)
    _verify_context(about["context"])
    need(isinstance(about["specials"], dict), "specials are a mapping")
    _need_ids([*about["specials"].values()], named, "specials")


def _are_components(parts: Any) -> bool:
    """Whether a value is null, or a list of mappings that hold only values of JSON, without fractions, all of which can be printed."""
    if parts is None:
        return True
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return False
    level: list[Any] = parts
    for _ in range(MAX_DEPTH):
        held = [[*value, *value.values()] if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)]
        if not all(isinstance(value, dict | list | int | None) or is_text(value) for value in level):
            return False
        level = [value for values in held for value in values]
    return not level


def _need_known(from_stored: Callable[[Any], Any], stored: Any, name: str) -> None:
    try:
        _ = None if stored is None else from_stored(stored)
    except ValueError as error:
        need(False, f"{name} is known: {error}")


def _verify_late_tokens(about: Mapping[str, Any], named: Array) -> None:
    late = about["late"]
    need(isinstance(late, dict), "late tokens are a mapping")
    for token in late.values():
        need(isinstance(token, dict) and token.keys() == {"id", "decoded", *LATE_FLAGS}, "a late token has an id and flags")
        need(is_text(token["decoded"]), "late tokens are decoded as text")
        _need_ids([token["id"]], named, "the id of a late token")
        need(all(type(token[flag]) is bool for flag in LATE_FLAGS), "flags of late tokens are true or false")


def _verify_context(context: Any) -> None:
    need(isinstance(context, dict), "the context of late tokens is a mapping")
    need(not context or context.keys() == CONTEXT, "a context has all of its runs")
    for codes in context.values():
        need(isinstance(codes, list) and len(codes) % 2 == 0 and all(type(code) is int for code in codes), "a context is a list of runs")
        need(all(0 <= code < CODE_POINTS for code in codes), "runs of a context are of code points")
    for runs in (context[name] for name in RUNS if context):
        ascend = all(last < first for last, first in zip(runs[1::2], runs[2::2], strict=False))
        need(ascend and all(first <= last for first, last in zip(runs[0::2], runs[1::2], strict=True)), "runs of a context ascend")


def _need_number(about: Mapping[str, Any], name: str, lowest: int, highest: int) -> None:
    value = about[name]
    need(type(value) is int and lowest <= value <= highest, f"{name} is {value!r:.40}; it is a whole number from {lowest} to {highest}")


def _need_ids(numbers: Any, named: Array, name: str) -> None:
    need(isinstance(numbers, list), f"{name} is not a list of ids")
    unknown = [number for number in numbers if type(number) is not int or not 0 <= number < len(named) or not named[number]]
    need(not unknown, f"{name}: {unknown[:1]!r:.40} is the id of no token")


def _need_template(pieces: Any, named: Array, texts: list[str], name: str) -> None:
    """Show that a template has each of its texts once, and known ids, no more than some, around them."""
    need(isinstance(pieces, list) and len(pieces) <= MAX_LABEL, f"{name} is a list of pieces")
    need(all(isinstance(piece, list) and len(piece) == 2 for piece in pieces), f"pieces of {name} have two fields")
    contents, types = [content for content, _ in pieces], [number for _, number in pieces]
    need(all(type(number) is int and 0 <= number <= MAX_TYPE_ID for number in types), f"type ids of {name} are in range")
    need(sorted(content for content in contents if isinstance(content, str)) == texts, f"{name} has each of its texts once")
    around = [content for content in contents if not isinstance(content, str)]
    for content in around:
        _need_ids(content, named, name)
    need(sum(map(len, around)) <= MAX_LABEL, f"{name} has no more ids than some")


def _verify_entries(tables: Tables, named: Array, each: Each) -> Array:
    """Prove every row; return for each number that may stand for a state its depth plus 1, or 0 where it is none."""
    entries, columns = tables.entries, tables.about["columns"]
    need(columns <= len(entries) <= MAX_NEXT, "the number of entries is in range")
    states, finish = map(np.concatenate, zip(*_by_chunks(each, partial(_finish_entries, entries), len(entries)), strict=True))
    need(len(states) == tables.about["states"] > 0 and states[0] == ROOT, "the root is the first of all states")
    need(states[-1] + columns <= len(entries), "every row has room for every label")
    need(entries[ROOT] == pack(0, FINISH, 0, NONE), "the root has nothing to finish")
    need(np.array_equal(field_label(entries[1:columns]), np.arange(1, columns)), "the root has a transition for every label")
    need(not np.any(outputs(entries[1:columns])), "the transitions of the root have no ids")
    need(entries[tables.about["dead"]] == pack(0, FINISH, 0, FAIL), "the dead state fails")

    own, ids = field_next(finish), outputs(finish)
    deepest = int(own.max())
    # A place for every number that the bits of a next state can be, so that none needs a test, and before them a margin for slots less a
    # label that are below 0. What is not written takes no memory. The type holds all sums of `_verify_transitions`.
    with_margin = np.zeros(MARGIN + MAX_NEXT + 1, np.min_scalar_type(2 * deepest + 3))
    depths = with_margin[MARGIN:]
    depths[states] = own + 1
    emits = _emits(tables.pool, named, deepest + 2, depths.dtype)
    need(np.all((emits.take(ids, mode="clip") <= own) | (ids == FAIL)), "no state emits more ids than it has read symbols")
    places = np.arange(MARGIN + 1, MARGIN + 1 + CHUNK, dtype=np.uint64)
    _by_chunks(each, partial(_verify_transitions, entries, places, with_margin, emits), len(entries))
    return depths


def _by_chunks(each: Each, of_chunk: Callable[[int], Any], length: int) -> list[Any]:
    """The results for all chunks of entries, by the slot at which each begins; several at a time are done by one thread."""
    chunks = range(0, length, CHUNK)
    shares = [chunks[first : first + SHARE] for first in range(0, len(chunks), SHARE)]
    return [result for results in each(lambda share: [of_chunk(first) for first in share], shares) for result in results]


def _finish_entries(entries: Array, first: int) -> tuple[Array, Array]:
    """The finish entries of a chunk: their slots, which are the states, and the entries themselves."""
    chunk = entries[first : first + CHUNK]
    # With 1 added to its label, FINISH becomes 0. Of all entries with that label, a hole is the highest.
    found = np.flatnonzero(chunk + ONE_LABEL < ONE_LABEL - np.uint64(1))
    return first + found, chunk[found]


def _verify_transitions(entries: Array, places: Array, with_margin: Array, emits: Array, first: int) -> None:
    """Prove the transitions of a chunk: each leads from a state to a state, and emits known ids, no more than its source owes.

    Finish entries and holes are computed like the others and then left out, which takes less time than to leave them out first. Labels
    past the columns may stand in entries: no class has them, so they are compared with, and never equal.
    """
    chunk = entries[first : first + CHUNK]
    label = chunk + ONE_LABEL >> np.uint64(LABEL_SHIFT)  # 1 more than it is, and 0 for FINISH
    source = places[: len(chunk)] - label
    before = with_margin[first:].take(source.view(np.int64), mode="clip")
    after = with_margin[MARGIN:].take((chunk & np.uint64(MAX_NEXT)).view(np.int64), mode="clip")
    emitted = emits.take(outputs(chunk), mode="clip")  # what is past the end is taken for the last, and no transition may emit that
    # Both are states; ids emitted + depth after ≤ depth before + 1, where `before` and `after` are 1 more than the depths.
    sound = np.logical_and(before, after)
    sound &= emitted + after <= before + before.dtype.type(1)
    sound |= label == 0
    if not sound.all():
        need(False, f"the transition at slot {first + int(sound.argmin())} leads from a state to a state that owes no more ids")


def outputs(entries: Array) -> Array:
    """The output and the kind of entries as one number, ``output << 2 | kind``."""
    found: Array = (entries >> np.uint64(KIND_SHIFT) & np.uint64(MAX_OUTPUT << KIND_BITS | 3)).view(np.int64)
    return found


def _emits(pool: Array, named: Array, too_many: int, dtype: Any) -> Array:
    """How many ids each of the `outputs` has; `too_many` stands for more, for ids that are not known, and for whatever else is not allowed.

    Every list of the pool is shown to end, and to have ids that are named.
    """
    need(len(pool) <= MAX_OUTPUT + 1, "every place in the pool has a number")
    last = np.flatnonzero(pool >= END).astype(np.int32)
    need(not len(pool) or (len(last) and last[-1] == len(pool) - 1), "the last pooled output has an end")
    need(np.all(_are_named(pool & np.uint32(END - 1), named)), "pooled ids are those of tokens")
    pooled = np.repeat(last + 1, np.diff(last, prepend=np.int32(-1))) - np.arange(len(pool), dtype=np.int32)
    emits = np.full((max(len(pool), len(named)), 1 << KIND_BITS), too_many, dtype)
    emits[0, NONE] = 0
    emits[: len(named), ONE] = np.where(named, 1, too_many)
    emits[: len(pool), MANY] = np.minimum(pooled, too_many)
    return emits.ravel()


def _are_named(ids: Array, named: Array) -> Array:
    """Whether each of some numbers from 0 on is the id of a token."""
    found: Array = np.append(named, False).take(ids, mode="clip")
    return found


def _verify_classes(tables: Tables, named: Array, depths: Array) -> None:
    need(len(tables.classes) % 2 == 0 and 2 <= len(tables.classes) <= 2 * MAX_LABEL, "classes have two records each")
    a, b = tables.classes[0::2], tables.classes[1::2]
    kind, listed = field_kind(a), field_kind(a) == LIST
    need(not np.any(tables.classes[:2]), "class 0 is none")
    part = are_parts(a)
    need(np.all(part[1 : 1 + np.count_nonzero(part)]), "the classes of parts of words come first")
    need(np.all(b <= MAX_NEXT), "the second record is a state")
    need(field_label(a).max() < tables.about["columns"], "labels of classes are in range")
    need(np.all((kind == NONE) | (field_label(a) == 0)), "only parts of words have labels")
    ends_word = (field_label(a) == 0) & (kind <= ONE)
    need(not np.any(field_next(a)[ends_word]) and not np.any(b[ends_word]), "between words is the root")
    states = np.concatenate([field_next(a)[~listed], field_next(b)])
    begun = depths[states]
    need(begun.min(initial=1) >= 1 and begun.max(initial=1) <= 2, "classes lead to states just begun")
    need(np.all(_are_named(field_output(a)[kind == ONE], named)), "ids of classes are those of tokens")
    _verify_lists(tables, a[listed], kind, are_fences(a))


def _verify_lists(tables: Tables, records: Array, kind: Array, fences: Array) -> None:
    symbols, start = tables.symbols, field_next(records)
    known = STARTS_SPECIAL | HAS_MARKS | CONTINUES_RUN
    need(np.all(field_output(records) & ~known == 0), "flags of classes are known")
    need(start.max(initial=-1) < len(symbols), "lists are in range")
    counts = symbols[start].astype(np.int64)
    need(counts.max(initial=0) <= MAX_LISTED and np.all(start + counts < len(symbols)), "lists are in range")
    of = np.repeat(np.arange(len(counts)), counts)  # the list that each symbol is in, all lists one after the other
    place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    listed = symbols[start[of] + 1 + place]
    number, rank = (listed & np.uint32(0xFFFF)).astype(np.int64), listed >> np.uint32(16)
    need(number.max(initial=0) < len(kind), "classes in lists are in range")
    need(not np.any(kind[number] == LIST), "lists hold classes that are one symbol")
    size, fenced = counts[of], fences[number]
    need(not np.any(fenced & (place > 0) & (place < size - 1)), "fences stand at the ends of lists")
    need(not np.any(fenced & ((rank > 0) | (size < 2))), "fences stand beside what they are for")
    ascend = (rank[1:] >= rank[:-1]) | (place[1:] == 0)
    need(rank.max(initial=0) <= MAX_RANK and np.all(ascend), "ranks are in range, and ascend")
    flags = field_output(records)[of]
    continues = flags & CONTINUES_RUN > 0
    need(np.all((rank > 0) | (number > 0) & ~continues), "what continues a run of marks has a rank, and so has what leaves no symbol")
    need(np.all((rank == 0) | np.where(number > 0, flags & HAS_MARKS > 0, continues)), "ranks are those of marks")


def _verify_characters(tables: Tables) -> None:
    """Show that code points lead to classes."""
    pages, blocks, width = tables.pages, tables.blocks, 1 << PAGE_BITS
    need(len(pages) == CODE_POINTS // width and len(blocks) >= width and len(blocks) % width == 0, "all code points have a page")
    need(pages.max() < len(blocks) // width, "pages are in range")
    need(blocks.min() >= 1 and blocks.max() < len(tables.classes) // 2, "classes of characters are in range")
    need(not np.any(are_fences(tables.classes[0::2])[blocks]), "fences stand in lists")


def _verify_specials(tables: Tables) -> None:
    """Show that the trie of special tokens holds those of `about`, and that the class of each first character is marked."""
    code, child, sibling, number = tables.specials.T
    nodes = np.arange(len(code))
    need(1 <= len(code) <= MAX_NEXT and sibling[0] == number[0] == -1, "the trie of special tokens has a root")
    need(np.all((code[1:] >= 0) & (code[1:] < CODE_POINTS)), "its letters are code points")
    need(np.all((child == -1) | (child > nodes)) and child.max() < len(code), "children come after their parents")
    need(np.all((sibling == -1) | ((sibling > 0) & (sibling < nodes))), "siblings come before each other")
    need(np.all(parents_of(tables.specials)[1:] < nodes[1:]), "a node of the trie comes before its parent")
    a = tables.classes[0::2]
    kind = field_kind(a)
    need(number.min() >= -1 and number.max() < len(kind), "classes of special tokens are in range")
    need(np.all(kind[number[number >= 0]] == ONE), "a special token is a word of its own")
    specials = tables.about["specials"]
    need(len(code) <= 1 + sum(map(len, specials)), "the trie holds special tokens that about does not")
    edges = _edges(tables.specials)
    for content, known in specials.items():
        node = 0
        for char in content:
            node = edges.get((node, ord(char)), 0)
            need(node, f"special token {content!a:.40} is not in the trie")
        need(number[node] >= 0 and field_output(a[number[node]]) == known, f"special token {content!a:.40} has another id in the trie")
    need(np.count_nonzero(number >= 0) == len(specials), "the trie holds special tokens that about does not")
    for letter in (letter for node, letter in edges if not node):
        record = a[tables.class_of(letter)]
        begins = field_kind(record) == LIST and field_output(record) & STARTS_SPECIAL
        need(begins, f"a special token begins with {chr(letter)!a}, whose class does not say so")


def _edges(trie: Array) -> dict[tuple[int, int], int]:
    """The nodes of a trie by parent and letter; each node must have one parent and a letter of its own."""
    code, child, sibling, _ = trie.T.tolist()
    edges: dict[tuple[int, int], int] = {}
    for node, first in enumerate(child):
        other = first
        while other >= 0 and len(edges) < len(code):
            edges[node, code[other]] = other
            other = sibling[other]
    need(sorted(edges.values()) == [*range(1, len(code))], "each node of the trie has one parent, and a letter that no sibling has")
    return edges


def _verify_added(tables: Tables, token_of: Array) -> None:
    """Show that added tokens have the names and the ids that `about` says, and are words of their own."""
    about, a = tables.about, tables.classes[0::2]
    ids = {**about["specials"], **{content: token["id"] for content, token in about["late"].items()}}
    need(all(map(_is_text, ids)), "added tokens are texts")
    need(len(ids) == len(about["specials"]) + len(about["late"]), "an added token is special or late")
    words = frozenset(field_output(a[field_kind(a) == ONE]).tolist())
    need(words.issuperset(ids.values()), "an added token is a word of its own")
    for content, number in ids.items():
        _need_name(tables, token_of, number, content)
    token = _need_name(tables, token_of, about["unk_id"], about["unk_token"])
    need(token < about["model_tokens"], f"unk_token is {about['unk_token']!a:.40}, which is no token of the model")


def _need_name(tables: Tables, token_of: Array, number: int, name: str) -> int:
    """Show that an id has a name, perhaps among others; return the token of that name."""
    token = int(token_of[number])
    if _name(tables, token) == name:
        return token
    found = [other for other in np.flatnonzero(tables.token_ids == number).tolist() if _name(tables, other) == name]
    need(found, f"token {name!a:.40} has the id {number}, which is that of {_name(tables, token)!a:.40}")
    return found[0]


def _name(tables: Tables, token: int) -> str:
    begin = int(tables.token_ends[token - 1]) if token else 0
    return tables.token_bytes[begin : int(tables.token_ends[token])].tobytes().decode()


def _is_text(content: str) -> bool:
    return bool(content) and is_text(content)


def _verify_late(tables: Tables) -> None:
    """Show that a kernel and the fallback find the same late tokens. What the compiler refuses is refused here too."""
    late, a = tables.about["late"], tables.classes[0::2]
    need(sum(map(len, late)) <= MAX_LATE, f"late tokens have more than {MAX_LATE} characters")
    need(np.any(a[1:] == BLANK), "there are no blanks between late tokens")
    need(not np.any(are_fences(a)), "a fence may stand beside a late token")
    need(tables.about["composition"] is None, "letters compose in texts with late tokens")
    patterns = {content: [symbol for char in content for symbol in _symbols(tables, char)] for content in late}
    need(all(patterns.values()), "a late token leaves no symbol")
    need(all(symbol < 1 << 16 for pattern in patterns.values() for symbol in pattern), "a mark of a late token may change its place")
    normalized = [tuple(pattern) for content, pattern in patterns.items() if late[content]["normalized"]]
    need(len(set(normalized)) == len(normalized), "two late tokens are equal once normalised")
    need(not any(a[side] == BLANK for pattern in normalized for side in (pattern[0], pattern[-1])), "a blank begins or ends a late token")
    if any(token["lstrip"] or token["rstrip"] for token in late.values()):
        spaces = [symbol for char in WHITE_SPACE for symbol in _symbols(tables, char)]
        need(all(a[symbol & 0xFFFF] == BLANK for symbol in spaces), "a late token takes white space that is no blank")
    if any(token["rstrip"] and not token["normalized"] for token in late.values()):
        need(not any(content[0] in WHITE_SPACE for content in late), "a late token begins with white space that another one takes")
    _verify_apart(tables.about["specials"], [content for content, token in late.items() if not token["normalized"]])
    _verify_words_of_late(tables, patterns.values())


def _symbols(tables: Tables, char: str) -> list[int]:
    """The symbols of a character, each ``class | rank << 16``."""
    number = tables.class_of(ord(char))
    record = tables.classes[2 * number]
    if field_kind(record) != LIST:
        return [number]
    start = int(field_next(record))
    listed: list[int] = tables.symbols[start + 1 : start + 1 + int(tables.symbols[start])].tolist()
    return listed


def _verify_apart(specials: Iterable[str], late: Sequence[str]) -> None:
    """Show that no special token can share a character of a raw text with a late one."""
    known = frozenset(specials)
    need(sum(map(len, known)) * sum(map(len, late)) <= MAX_OVERLAPS, "late tokens in raw text and special tokens are too long together")
    longest, sizes = max(map(len, late), default=0), {*map(len, known)}
    begins = {content[:size] for content in known for size in range(1, min(len(content), longest) + 1)}
    ends = {content[-size:] for content in known for size in range(1, min(len(content), longest) + 1)}
    joined = "\ud800".join(known)  # which no text holds
    for content in late:
        places = range(len(content))
        overlaps = content in joined or any(content[place:] in begins or content[: place + 1] in ends for place in places)
        holds = any(content[place : place + size] in known for size in sizes for place in places)
        need(not overlaps and not holds, f"late token {content!a:.40} can overlap with a special one")


def _verify_words_of_late(tables: Tables, patterns: Iterable[Sequence[int]]) -> None:
    """Show that the transducer and the table of words give a word the same id, and that no word in the table holds a late token.

    A kernel looks for late tokens only in words that this table does not hold. It sends the rest of such a word through the transducer.
    """
    slots = tables.words.reshape(-1, 4)
    slots = slots[slots[:, 3] > 0]
    keys = slots[:, :3].copy().view(np.uint16)
    a, b = tables.classes[0::2], tables.classes[1::2]
    need(keys.max(initial=0) < len(a) and np.all(are_parts(a)[keys] | (keys == 0)), "words are made of parts of words")
    need(np.all((keys[:, 1:] == 0) | (keys[:, :-1] > 0)), "nothing comes after the end of a word")
    labels = field_label(a)
    from_root = np.where(labels > 0, field_next(tables.entries[labels]), b.astype(np.int64))
    state = from_root[keys[:, 0]]
    for number in keys.T[1:]:
        entry, label = tables.entries[state + labels[number]], labels[number]
        follows = (entry >> np.uint64(KIND_SHIFT) == label.astype(np.uint64) << np.uint64(LABEL_SHIFT - KIND_SHIFT)) & (label > 0)
        need(np.all(follows | (number == 0)), "words are those of the transducer")
        state = np.where(number > 0, field_next(entry), state)
    ids, finish = (slots[:, 3] & np.uint64(MAX_OUTPUT)).astype(np.int64), tables.entries[state]
    need(np.all((field_kind(finish) == ONE) & (field_output(finish) == ids)), "words have the ids that the transducer has for them")
    lengths = np.zeros(int(tables.token_ids.max()) + 1, np.int64)
    lengths[list(tables.lengths)] = list(tables.lengths.values())
    need(np.all(lengths[ids] >= np.count_nonzero(keys, axis=1)), "words are as long as the tokens of their ids")
    _verify_not_held(keys, [pattern for pattern in patterns if len(pattern) <= WORD_SYMBOLS])


def _verify_not_held(keys: Array, patterns: Sequence[Sequence[int]]) -> None:
    """Show that no word of the table holds the pattern of a late token, a string of classes."""
    strings: dict[int, set[bytes]] = {}
    may_begin = np.zeros(MAX_LABEL + 1, bool)
    for pattern in patterns:
        strings.setdefault(2 * len(pattern), set()).add(np.array(pattern, np.uint16).tobytes())
        may_begin[pattern[0]] = True
    for first in range(WORD_SYMBOLS):
        some = keys[may_begin[keys[:, first]], first:]
        for size, known in strings.items():
            windows = some[:, : size // 2].tobytes()
            is_held = size <= some.itemsize * some.shape[1] and any(windows[at : at + size] in known for at in range(0, len(windows), size))
            need(not is_held, "a word of the table of words holds a late token")


def _verify_words(tables: Tables, named: Array) -> None:
    """Show that a hash is in range whatever it is, and that a word of a symbol or more has one known id and the empty word none."""
    words, buckets = tables.words, len(tables.displacements)
    need(len(words) % 4 == 0 and _is_power(len(words) // 4) and _is_power(buckets) and buckets >= 2, "slots and buckets are powers of two")
    # 1 + the id of a word of one id; for other values, a number below or above all of these
    numbers = words[3::4].view(np.int64) - ((1 << 32) - 1)
    known = np.concatenate([[False], named, [False]]).take(numbers, mode="clip")
    need(np.array_equal(known, words[0::4] > 0), "a word has one id, that of a token, and the empty word none")
    need(np.array_equal(known, words[3::4] > 0), "a word has one id, that of a token, and the empty word none")
    longest = tables.about["max_input_chars_per_word"]
    if longest < WORD_SYMBOLS:
        beyond = words.reshape(-1, 4)[:, :3].copy().view(np.uint16)[:, longest:]
        need(not np.any(beyond), f"a word is longer than max_input_chars_per_word, {longest}")


def _is_power(number: int) -> bool:
    return number > 0 and number & number - 1 == 0
