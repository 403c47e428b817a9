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

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from fst.composition import Composition, Placing
from fst.errors import TableError
from fst.settings import RULES
from fst.tables import (
    ARRAYS,
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
    LATE_FLAGS,
    LIST,
    MANY,
    MAX_LABEL,
    MAX_LATE,
    MAX_NEXT,
    MAX_OUTPUT,
    MAX_WORD,
    NONE,
    ONE,
    PAGE_BITS,
    ROOT,
    STARTS_SPECIAL,
    Array,
    Tables,
    are_fences,
    are_parts,
    field_kind,
    field_label,
    field_next,
    field_output,
    pack,
)

MAX_RANK = 63
MAX_TYPE_ID = (1 << 31) - 1
CHUNK = 1 << 16  # entries that are proven at a time; what is computed of them stays in a cache
SHARE = 8  # chunks that a thread takes at a time; to wait for another thread takes as long as a tenth of a chunk
MAX_LISTED = 32  # symbols of a character; U+FDFA, decomposed, has 18
ONE_LABEL = np.uint64(1 << LABEL_SHIFT)  # what makes the label of an entry 1 more
MARGIN = MAX_LABEL
CONTEXT = {"word", "begins_word", "ends_word", "spaced", "mixed"}

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
    _verify_tokens(tables)
    _verify_about(tables)
    depths = _verify_entries(tables, each)
    _verify_classes(tables, depths)
    _verify_characters(tables)
    _verify_specials(tables)
    _verify_added(tables)
    _verify_words(tables)


def need(condition: Any, what: str) -> None:
    """Refuse the tables unless a condition holds."""
    if not condition:
        raise TableError(f"not a sound table: {what}")


def _verify_shapes(tables: Tables) -> None:
    need(tables.specials.ndim == 2 and tables.specials.shape[1] == 4, "specials have four fields")
    for name in ARRAYS:
        need(name == "specials" or getattr(tables, name).ndim == 1, f"{name} is one-dimensional")


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
    _need_number(about, "model_tokens", len(tables.token_ids))
    _need_number(about, "dead", len(tables.entries) - 1)
    _need_number(about, "columns", MAX_LABEL)
    need(about["columns"] >= 1, "a row has a finish entry")
    _need_number(about, "states", len(tables.entries))
    _need_number(about, "max_input_chars_per_word", MAX_WORD)
    _need_ids(about.get("skipped"), highest, "skipped")
    _need_template(about.get("single"), highest, ["A"], "single")
    _need_template(about.get("pair"), highest, ["A", "B"], "pair")
    for name in ("lowercase", "clean_text", "handle_chinese_chars"):
        need(type(about.get(name)) is bool, f"{name} is true or false")
    need(about.get("strip_accents") in (None, True, False), "strip_accents is true, false or null")
    for name, rule in RULES.items():
        need(rule.holds(about.get(name)), f"{name} is {rule.said}")
    for name in ("unk_token", "continuing_subword_prefix", "pre_tokenizer", "layout"):
        need(isinstance(about.get(name), str), f"{name} is a string")
    for name in ("normalizer_parts", "pre_tokenizer_parts"):
        parts = about.get(name)
        need(parts is None or (isinstance(parts, list) and all(isinstance(part, dict) for part in parts)), f"{name} is null or mappings")
    _need_known(Composition.from_stored, about.get("composition"), "what composes")
    _need_known(Placing.from_stored, about.get("placing"), "what is placed in steps")
    _verify_late(about, highest)
    specials = about.get("specials")
    need(isinstance(specials, dict), "specials are a mapping")
    need(all(type(number) is int and 0 <= number <= highest for number in (specials or {}).values()), "specials have known ids")


def _need_known(from_stored: Callable[[Any], Any], stored: Any, name: str) -> None:
    try:
        _ = None if stored is None else from_stored(stored)
    except ValueError as error:
        need(False, f"{name} is known: {error}")


def _verify_late(about: Mapping[str, Any], highest: int) -> None:
    late, context = about.get("late"), about.get("context")
    need(isinstance(late, dict) and isinstance(context, dict), "late tokens and their context are mappings")
    for token in (late or {}).values():
        need(isinstance(token, dict) and token.keys() == {"id", "decoded", *LATE_FLAGS}, "a late token has an id and flags")
        need(isinstance(token["decoded"], str), "late tokens are decoded as text")
        _need_number(token, "id", highest)
        need(all(type(token[flag]) is bool for flag in LATE_FLAGS), "flags of late tokens are true or false")
    need(not context or context.keys() == CONTEXT, "a context has all of its runs")
    for runs in (context or {}).values():
        need(isinstance(runs, list) and len(runs) % 2 == 0 and all(type(code) is int for code in runs), "a context is a list of runs")
        need(all(0 <= code < CODE_POINTS for code in runs), "runs are of code points")


def _need_number(about: Mapping[str, Any], name: str, highest: int) -> None:
    value = about.get(name)
    need(type(value) is int and 0 <= value <= highest, f"{name} is a number from 0 to {highest}")


def _need_ids(numbers: Any, highest: int, name: str) -> None:
    need(isinstance(numbers, list), f"{name} is a list of ids")
    need(all(type(number) is int and 0 <= number <= highest for number in numbers), f"{name} holds known ids")


def _need_template(pieces: Any, highest: int, texts: list[str], name: str) -> None:
    """Show that a template has each of its texts once, and known ids, no more than some, around them."""
    need(isinstance(pieces, list) and len(pieces) <= MAX_LABEL, f"{name} is a list of pieces")
    need(all(isinstance(piece, list) and len(piece) == 2 for piece in pieces), f"pieces of {name} have two fields")
    contents, types = [content for content, _ in pieces], [number for _, number in pieces]
    need(all(type(number) is int and 0 <= number <= MAX_TYPE_ID for number in types), f"type ids of {name} are in range")
    need(sorted(content for content in contents if isinstance(content, str)) == texts, f"{name} has each of its texts once")
    around = [content for content in contents if not isinstance(content, str)]
    for content in around:
        _need_ids(content, highest, name)
    need(sum(map(len, around)) <= MAX_LABEL, f"{name} has no more ids than some")


def _verify_entries(tables: Tables, each: Each) -> Array:
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
    emits = _emits(tables, deepest + 2, depths.dtype)
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


def _emits(tables: Tables, too_many: int, dtype: Any) -> Array:
    """How many ids each of the `outputs` has; `too_many` stands for more, for ids that are not known, and for whatever else is not allowed.

    Every list of the pool is shown to end, and to have known ids.
    """
    pool, highest = tables.pool, int(tables.token_ids.max())
    need(len(pool) <= MAX_OUTPUT + 1, "every place in the pool has a number")
    last = np.flatnonzero(pool >= END).astype(np.int32)
    need(not len(pool) or (len(last) and last[-1] == len(pool) - 1), "the last pooled output has an end")
    need((pool & np.uint32(END - 1)).max(initial=0) <= highest, "pooled ids are known")
    pooled = np.repeat(last + 1, np.diff(last, prepend=np.int32(-1))) - np.arange(len(pool), dtype=np.int32)
    emits = np.full((max(len(pool), highest + 1), 1 << KIND_BITS), too_many, dtype)
    emits[0, NONE] = 0
    emits[: highest + 1, ONE] = 1
    emits[: len(pool), MANY] = np.minimum(pooled, too_many)
    return emits.ravel()


def _verify_classes(tables: Tables, depths: Array) -> None:
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
    need(field_output(a)[kind == ONE].max(initial=0) <= tables.token_ids.max(), "token ids in classes are known")
    _verify_lists(tables, a[listed], kind, are_fences(a))


def _verify_lists(tables: Tables, records: Array, kind: Array, fences: Array) -> None:
    symbols, start = tables.symbols, field_next(records)
    known = STARTS_SPECIAL | HAS_MARKS | CONTINUES_RUN
    need(np.all(field_output(records) & ~known == 0), "flags of classes are known")
    need(start.max(initial=-1) < len(symbols), "lists are in range")
    counts = symbols[start].astype(np.int64)
    need(counts.max(initial=0) <= MAX_LISTED and np.all(start + counts < len(symbols)), "lists are in range")
    before = np.zeros(len(counts), np.uint32)  # the rank of the symbol before
    for place in range(int(counts.max(initial=0))):
        listed = symbols[start[counts > place] + 1 + place]
        number = (listed & np.uint32(0xFFFF)).astype(np.int64)
        need(number.max(initial=0) < len(kind), "classes in lists are in range")
        need(not np.any(kind[number] == LIST), "lists hold classes that are one symbol")
        fenced = fences[number]
        need(not np.any(fenced & (place > 0) & (place < counts[counts > place] - 1)), "fences stand at the ends of lists")
        need(not np.any(fenced & ((listed >> np.uint32(16) > 0) | (counts[counts > place] < 2))), "fences stand beside what they are for")
        rank, flags = listed >> np.uint32(16), field_output(records[counts > place])
        need(rank.max(initial=0) <= MAX_RANK and np.all(rank >= before[counts > place]), "ranks are in range, and ascend")
        continues = flags & CONTINUES_RUN > 0
        need(np.all((rank > 0) | (number > 0) & ~continues), "what continues a run of marks has a rank, and so has what leaves no symbol")
        need(np.all((rank == 0) | np.where(number > 0, flags & HAS_MARKS > 0, continues)), "ranks are those of marks")
        before[counts > place] = rank


def _verify_characters(tables: Tables) -> None:
    """Show that code points lead to classes."""
    pages, blocks, width = tables.pages, tables.blocks, 1 << PAGE_BITS
    need(len(pages) == CODE_POINTS // width and len(blocks) >= width and len(blocks) % width == 0, "all code points have a page")
    need(pages.max() < len(blocks) // width, "pages are in range")
    need(blocks.min() >= 1 and blocks.max() < len(tables.classes) // 2, "classes of characters are in range")
    need(not np.any(are_fences(tables.classes[0::2])[blocks]), "fences stand in lists")


def _verify_specials(tables: Tables) -> None:
    code, child, sibling, number = tables.specials.T
    nodes = np.arange(len(code))
    need(1 <= len(code) <= MAX_NEXT and sibling[0] == number[0] == -1, "the trie of special tokens has a root")
    need(np.all((code[1:] >= 0) & (code[1:] < CODE_POINTS)), "its letters are code points")
    need(np.all((child == -1) | (child > nodes)) and child.max() < len(code), "children come after their parents")
    need(np.all((sibling == -1) | ((sibling > 0) & (sibling < nodes))), "siblings come before each other")
    kind = field_kind(tables.classes[0::2])
    need(number.min() >= -1 and number.max() < len(kind), "classes of special tokens are in range")
    need(np.all(kind[number[number >= 0]] == ONE), "a special token is a word of its own")


def _verify_added(tables: Tables) -> None:
    """Show that what is known of added tokens beside their trie is of words of their own, and that something is left of late ones."""
    about, a = tables.about, tables.classes[0::2]
    late, words = about["late"], frozenset(field_output(a[field_kind(a) == ONE]).tolist())
    ids = {**about["specials"], **{content: token["id"] for content, token in late.items()}}
    need(all(map(_is_text, ids)), "added tokens are texts")
    need(words.issuperset(ids.values()), "an added token is a word of its own")
    need(sum(map(len, late)) <= MAX_LATE, f"late tokens have {MAX_LATE} characters at most")
    need(not late or np.any(a[1:] == BLANK), "there are blanks between late tokens")
    need(all(any(_leaves_symbols(tables, ord(char)) for char in content) for content in late), "something is left of late tokens")


def _is_text(content: str) -> bool:
    return bool(content) and not any(0xD800 <= ord(char) < 0xE000 for char in content)


def _leaves_symbols(tables: Tables, code: int) -> bool:
    record = tables.classes[2 * tables.class_of(code)]
    if field_kind(record) != LIST:
        return True
    start = int(field_next(record))
    return bool(np.any(tables.symbols[start + 1 : start + 1 + int(tables.symbols[start])] & np.uint32(0xFFFF)))


def _verify_words(tables: Tables) -> None:
    """Show that a hash is in range whatever it is, and that a word of a symbol or more has one known id and the empty word none."""
    words, buckets = tables.words, len(tables.displacements)
    need(len(words) % 4 == 0 and _is_power(len(words) // 4) and _is_power(buckets) and buckets >= 2, "slots and buckets are powers of two")
    begins, value = words[0::4], words[3::4]
    known = (begins > 0) & (value >= 1 << 32) & (value <= (1 << 32) + int(tables.token_ids.max()))
    need(np.all(known | (begins == 0) & (value == 0)), "a word has one known id")


def _is_power(number: int) -> bool:
    return number > 0 and number & number - 1 == 0
