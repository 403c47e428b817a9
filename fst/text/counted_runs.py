r"""Characters whose class depends on the rest of their run, for patterns such as ``(?=(\d{3})+(?!\d))``, which cut the digits of a number
into groups from the right.

*Members* are the characters that such a pattern counts. A *run* is a maximal string of members in a text. The class of a member depends on
the number of members from itself to the end of its run, modulo `period`, and on the kind of the character after the run. Each combination
has a *virtual code*, which is used in place of the member's code point. So the automaton of a splitter reads one symbol ahead, as for
other patterns.

Example with period 3, digits as members, and one kind; r is the remainder::

    text   a  1  2  3  4  5  b  6
    r         2  1  0  2  1     1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS

MAX_CODES = 1 << 12  # maximum number of virtual codes
MAX_MARKS = 1 << 8  # maximum number of members and kinds together, because a mark is a byte
KEYS = ["end", "kinds", "marks", "members", "period", "starts"]


@dataclass(frozen=True, eq=False)
class CountedRuns:
    """The members, and the kinds of other characters.

    Attributes:
        marks: uint8[0x110000], for a member its number, from 0; for another character, `members` plus its kind.
        members: the number of kinds of members that splitters distinguish.
        kinds: the number of kinds of characters after a run.
        end: the kind of the end of a text.
        period: the divisor of the number of members up to the end of a run.
    """

    marks: NDArray[np.uint8]
    members: int
    kinds: int
    end: int
    period: int

    @property
    def virtual_codes(self) -> int:
        """The number of virtual codes, which follow the code points."""
        return self.members * self.kinds * self.period

    def codes(self, text: str) -> Sequence[int]:
        """The code of each character of a text: virtual for a member, otherwise its code point."""
        found, rest, kind = list[int](), 0, self.end
        for char in reversed(text):
            mark = int(self.marks[ord(char)])
            if mark < self.members:
                rest += 1
                found.append(CODE_POINTS + (mark * self.kinds + kind) * self.period + rest % self.period)
            else:
                rest, kind = 0, mark - self.members
                found.append(ord(char))
        return found[::-1]

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        starts = np.flatnonzero(np.append(True, self.marks[1:] != self.marks[:-1]))
        sizes = {"members": self.members, "kinds": self.kinds, "end": self.end, "period": self.period}
        return {"starts": starts.tolist(), "marks": self.marks[starts].tolist(), **sizes}

    @classmethod
    def from_stored(cls, stored: Any) -> CountedRuns:
        """Read counted runs from their JSON form."""
        if not isinstance(stored, dict) or sorted(stored) != KEYS:
            raise ValueError(f"counted runs have other keys than {', '.join(KEYS)}")
        sizes = [stored[name] for name in ("members", "kinds", "end", "period")]
        if any(type(size) is not int or not 0 <= size <= MAX_CODES for size in sizes):
            raise ValueError(f"the sizes of counted runs are {sizes!r}; expected integers from 0 to {MAX_CODES}")
        members, kinds, end, period = sizes
        if not 0 < members * kinds * period <= MAX_CODES or members + kinds > MAX_MARKS or end >= kinds:
            raise ValueError(f"counted runs have {members} members, {kinds} kinds, the period {period} and the end {end}")
        starts = _numbers(stored["starts"], CODE_POINTS)
        marks = _numbers(stored["marks"], members + kinds)
        if len(starts) != len(marks) or starts[:1] != [0] or any(one >= other for one, other in pairwise(starts)):
            raise ValueError("the marks of counted runs do not ascend from 0, or have no code point each")
        return cls(np.repeat(np.array(marks, np.uint8), np.diff(starts, append=CODE_POINTS)), members, kinds, end, period)


def _numbers(listed: Any, limit: int) -> list[int]:
    if not isinstance(listed, list) or not all(type(number) is int and 0 <= number < limit for number in listed):
        raise ValueError(f"counted runs have other than lists of integers below {limit}")
    return listed
