"""The sets of flags of a dictionary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.compile.sources.transducers.hunspell.files import Dictionary
from fst.compile.sources.transducers.hunspell.flags import ONLY_UPPER, Flags
from fst.compile.sources.transducers.hunspell.options import QUESTION, STAR, Options
from fst.errors import UnsupportedError
from fst.machines.speller import layout

MAX_FLAGS = (1 << 16) - 1
HUNGARIAN = {"F": layout.HU_FIRST, "G": layout.HU_FIRST, "H": layout.HU_FIRST, "I": layout.HU_I, "J": layout.HU_J}
HUNGARIAN |= {"x": layout.HU_SUFFIX, "%": layout.HU_SUFFIX}


class FlagSets:
    """Numbers for flags and for sets of flags. Flags that no affix and no rule names have no number, and are in no set.

    Attributes:
        defined: the bits of the flags that the dictionary defines.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        options = dictionary.options
        self._bits = _bits(options)
        self.defined = 0
        for flag, bit in self._bits.items():
            self.defined |= bit if flag else 0
        affixes = (*dictionary.prefixes, *dictionary.suffixes)
        used = {affix.flag for affix in affixes} | {flag for rule in options.rules for flag in rule if flag not in (STAR, QUESTION)}
        used |= {flag for pattern in options.patterns for flag in (pattern.left_flag, pattern.right_flag) if flag}
        if len(used) > MAX_FLAGS:
            fault = f"affixes and rules have {len(used):,} different flags; expected at most {MAX_FLAGS:,}"
            raise UnsupportedError(f"{fault}; split the dictionary")
        self._flags = {flag: number for number, flag in enumerate(sorted(used), 1)}
        self._in_affixes = frozenset[int]().union(*{affix.flags for affix in affixes})
        self._numbers: dict[Flags, int] = {}
        self._keys: dict[tuple[int, tuple[int, ...]], int] = {(0, ()): 0}

    def flag(self, flag: int) -> int:
        """The number of a flag; 0 for a flag without a number."""
        return self._flags.get(flag, 0)

    def is_in_affixes(self, flag: int) -> bool:
        """Whether a set of an affix has a flag."""
        return flag in self._in_affixes

    def number(self, flags: Flags) -> int:
        """The number of a set."""
        found = self._numbers.get(flags)
        if found is None:
            bits = layout.NOT_EMPTY if flags else 0
            for flag in flags & self._bits.keys():
                bits |= self._bits[flag]
            key = bits, tuple(sorted(self._flags[flag] for flag in flags & self._flags.keys()))
            found = self._numbers[flags] = self._keys.setdefault(key, len(self._keys))
        return found

    def arrays(self) -> dict[str, Array]:
        """The arrays of sets of a table."""
        flags: list[int] = [flag for _, some in self._keys for flag in some]
        ends: NDArray[np.int64] = np.cumsum([0, *(len(some) for _, some in self._keys)])
        return {
            "set_bits": np.array([bits for bits, _ in self._keys], np.uint32),
            "set_ends": ends.astype(np.uint32),
            "set_flags": np.array(flags, np.uint16),
        }


def _bits(options: Options) -> dict[int, int]:
    """The bits of each flag with a meaning of its own; a flag may have several."""
    pairs = [
        (options.needs_affix, layout.NEEDS_AFFIX),
        (options.forbidden, layout.FORBIDDEN),
        (options.keeps_case, layout.KEEPS_CASE),
        (options.circumfix, layout.CIRCUMFIX),
        (options.only_in_compound, layout.ONLY_IN_COMPOUND),
        (options.compound, layout.COMPOUND),
        (options.compound_begin, layout.BEGIN),
        (options.compound_middle, layout.MIDDLE),
        (options.compound_end, layout.END),
        (options.compound_permit, layout.PERMITS),
        (options.compound_forbid, layout.FORBIDS),
        (options.compound_root, layout.ROOT),
        (options.needs_capital, layout.UPPER_CASE),
        (options.not_suggested, layout.NO_SUGGESTION),
        (options.substandard, layout.SUBSTANDARD),
        (options.rare, layout.WARNS),
        (ONLY_UPPER, layout.HIDDEN),
        *((ord(char), bit) for char, bit in HUNGARIAN.items() if options.language == "hu"),
    ]
    found: dict[int, int] = {}
    for flag, bit in pairs:
        if flag:
            found[flag] = found.get(flag, 0) | bit
    return found
