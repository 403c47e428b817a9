"""The options of suggestions, and the stems that are compared with a misspelling (`fst.machines.speller.roots`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.compile.sources.transducers.hunspell.casing import INITIAL, Casing
from fst.compile.sources.transducers.hunspell.files import Dictionary
from fst.compile.sources.transducers.hunspell.flags import ONLY_UPPER, Flags
from fst.compile.sources.transducers.hunspell.options import Options
from fst.compile.sources.transducers.hunspell.words import Entry
from fst.machines.speller.hints import MAX_SIGNS, Hints

ADDED_SLOTS = 1005  # the slots of Hunspell's hash table that are not for words of the file
FIRST_BYTES, TURN = 4, 5  # the bytes that the hash joins without a rotation, and the bits of a rotation


def hints_of(options: Options) -> Hints:
    """The options of suggestions."""
    return Hints(
        keyboard=options.keyboard[:MAX_SIGNS],
        tried=options.tried[:MAX_SIGNS],
        similar=[[*alike] for alike in options.similar if alike and all(alike)],
        faults=[[each.found, each.correction, each.at_start + 2 * each.at_end] for each in options.replacements if each.found],
        outputs=[[*conversion] for conversion in options.output_conversions],
        phonetic=[[*rule] for rule in options.phonetic],
        most_similar=_limit(options.most_ngram_suggestions),
        most_compounds=_limit(options.most_compound_suggestions),
        most_difference=_limit(options.most_difference),
        only_most_similar=options.only_most_similar,
        never_splits=options.never_splits,
        suggests_dots=options.suggests_dots,
    )


def _limit(number: int | None) -> int | None:
    """A limit; None, if it is negative."""
    return None if number is None or number < 0 else min(number, 1 << 20)


def roots_of(dictionary: Dictionary, casing: Casing, set_number: Callable[[Flags], int]) -> dict[str, Array]:
    """The arrays of stems, in the order of Hunspell's hash table."""
    options = dictionary.options
    hidden = frozenset(
        {options.forbidden, options.not_suggested, options.not_suggested_by_ngrams, options.only_in_compound, ONLY_UPPER} - {0}
    )
    stored = _stored(dictionary)
    slots = _hashes([entry.word.encode(options.encoding, "surrogateescape") for entry in stored]) % np.uint64(_slots(dictionary.count))
    found = [stored[at] for at in np.argsort(slots, kind="stable").tolist()]
    found = [entry for entry in found if entry.word and hidden.isdisjoint(entry.flags) and max(entry.word) <= "\uffff"]
    units = "".join([entry.word for entry in found]).encode("utf-16-le", "surrogatepass")
    sets = [set_number(entry.flags) << 1 | (entry.word[0] in casing.lower and casing.kind(entry.word) == INITIAL) for entry in found]
    return {
        "root_units": np.frombuffer(units, "<u2").copy(),
        "root_ends": np.cumsum([0, *(len(entry.word) for entry in found)]).astype(np.uint32),
        "root_sets": np.array(sets, np.uint32),
    }


def _stored(dictionary: Dictionary) -> list[Entry]:
    """The entries that Hunspell stores. An entry of the file replaces an entry of the same word in upper case before it."""
    found, last = list[Entry](), dict[str, int]()
    for entry in dictionary.entries:
        place = last.get(entry.word)
        if place is not None and entry.is_upper:
            continue
        if place is not None and found[place].is_upper:
            found[place] = found[place]._replace(flags=entry.flags, is_upper=False)
        else:
            last[entry.word] = len(found)
            found.append(entry)
    return found


def _slots(count: int) -> int:
    """The number of slots of the hash table for the number of words in the first line of the file."""
    return (count + ADDED_SLOTS) | 1


def _hashes(words: Sequence[bytes]) -> NDArray[np.uint64]:
    """The hash of each word, whose bytes have a sign."""
    sizes = np.array([*map(len, words)], np.int64)
    starts = np.cumsum(sizes) - sizes
    data = np.frombuffer(b"".join(words), np.int8).astype(np.int64).view(np.uint64)
    found = np.zeros(len(words), np.uint64)
    for place in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        byte, before = data[starts[longer] + place], found[longer]
        if place < FIRST_BYTES:
            found[longer] = before << np.uint64(8) | byte
        else:
            turned = before << np.uint64(TURN) | before >> np.uint64(32 - TURN) & np.uint64((1 << TURN) - 1)
            found[longer] = turned ^ byte
    return found
