"""The strings of the states in an automaton of keywords, and their proof.

A state represents a string, and its depth is the length of this string. The states form a tree: into each state except the root leads
exactly one transition that adds to the depth. The state's string is the string of the state above it, followed by the byte read.

The proof: every link, and every other transition, leads to a state whose string is a suffix of the bytes read. So in state v, the last |v|
bytes are the string of v, and a search that begins with these bytes at the root reaches v. Streams rely on this fact: between two chunks,
they keep only the last |v| bytes, and read these bytes again.

The suffix need not be the longest suffix that is a state. With a shorter suffix, a search misses matches, but it misses the same matches on
every path.

**Suffixes.** Let w be the state below p on byte c. The string of w is a suffix of u's string followed by c, if p's string is a suffix of
u's string. By induction over the depth, p's string is a suffix of u's string if p is on the chain of links from u. `_are_on_chains` follows
these chains in steps of powers of two.

The proof leaves out states that no transition enters, and all states below them. Tables for the standard kind have such states, because the
search restarts after each match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import ROOT
from fst.tables.proof import need_none

NEVER = 1 << 9  # a number that is not a byte

Numbers = NDArray[np.int32]


class States(NamedTuple):
    """The states of an automaton, numbered by their slots; the root is 0.

    Attributes:
        slots: int64[states].
        depths, links: int32[states], |v| and f(v).
        sources, ends: int32[edges], the state before and after each transition.
        bytes_read: int16[edges], the byte of each transition.
    """

    slots: Array
    depths: Numbers
    links: Numbers
    sources: Numbers
    ends: Numbers
    bytes_read: Array

    @classmethod
    def of(cls, slots: Array, edges: Array, labels: Array, targets: Array, depths: Array) -> States:
        """The states of a table.

        Args:
            slots, edges: int64, the slots of states, and the slots of transitions.
            labels: int16[slots]; the label of a transition is its byte.
            targets: int64[slots], the slot of each slot's next state.
            depths: uint32[slots].
        """
        numbers = np.zeros(len(labels), np.int32)
        numbers[slots] = np.arange(len(slots))
        bytes_read = labels[edges]
        sources, ends = numbers[edges - 1 - bytes_read], numbers[targets[edges]]
        return cls(slots, depths[slots].astype(np.int32), numbers[targets[slots]], sources, ends, bytes_read)


class Strings(NamedTuple):
    """The strings of states.

    Attributes:
        parents: int32[states], the state above each state; for the root, the root itself.
        last: int16[states], the last byte of each string.
        are_known: bool[states], whether a search can reach the state.
    """

    parents: Numbers
    last: Array
    are_known: Array

    def sums(self, weights: Array) -> Array:
        """For each state, the sum of the weights of the bytes in its string. `weights` contains one number for each value of a byte."""
        found, above = np.where(np.arange(len(self.last)) == ROOT, 0, weights[self.last & 0xFF]), self.parents
        while (inner := np.flatnonzero(above)).size:
            found[inner] += found[above[inner]]
            above = above[above]
        return found


def strings_of(states: States) -> Strings:
    """Compute the strings of states, and prove the properties in the module docstring.

    Args:
        states: the states; links lead to states of less depth, and transitions add at most 1 to the depth.

    Raises:
        TableError: a state represents two strings, or a link or a transition leads to a state whose string is not a suffix of the bytes
            read.
    """
    slots, depths, sources, ends = states.slots, states.depths, states.sources, states.ends
    is_deeper = depths[ends] > depths[sources]
    deeper, others = np.flatnonzero(is_deeper), np.flatnonzero(~is_deeper & (ends != ROOT))
    entries = np.bincount(ends[deeper], minlength=len(slots))
    need_none(entries > 1, lambda state: f"state {slots[state]} represents {entries[state]} strings; expected 1")
    parents, last = np.zeros(len(slots), np.int32), np.full(len(slots), NEVER, np.int16)
    parents[ends[deeper]], last[ends[deeper]] = sources[deeper], states.bytes_read[deeper]
    found = Strings(parents, last, _are_known(parents, last))
    linked = np.flatnonzero(found.are_known & (states.links != ROOT))
    links = states.links[linked]
    wrong = ~_are_suffixes(found, states, links, parents[linked], last[linked])
    need_none(wrong, lambda at: f"the link of state {slots[linked[at]]} does not lead to the end of its string")
    others = others[found.are_known[sources[others]]]
    wrong = ~_are_suffixes(found, states, ends[others], sources[others], states.bytes_read[others])
    need_none(wrong, lambda at: f"byte {states.bytes_read[others[at]]:#x} leads from state {slots[sources[others[at]]]} to another string")
    return found


def _are_known(parents: Numbers, last: Array) -> NDArray[np.bool_]:
    """Whether each state can be reached from the root by transitions that add to the depth."""
    are_known: NDArray[np.bool_] = last != NEVER
    above = parents
    are_known[ROOT] = True
    if are_known.all():
        return are_known
    while above.any():
        are_known &= are_known[above]
        above = above[above]
    return are_known


def _are_suffixes(found: Strings, states: States, suffixes: Numbers, above: Numbers, bytes_read: Array) -> NDArray[np.bool_]:
    """For each i: whether the string of state ``suffixes[i]`` is a proper suffix of the string of state ``above[i]`` followed by
    ``bytes_read[i]``.
    """
    are_right: NDArray[np.bool_] = found.are_known[suffixes] & (found.last[suffixes] == bytes_read) & (above != ROOT)
    are_right &= _are_on_chains(states, found.parents[suffixes], states.links[above])
    return are_right


def _are_on_chains(states: States, wanted: Numbers, begins: Numbers) -> NDArray[np.bool_]:
    """For each i: whether state ``wanted[i]`` is on the chain of links that begins with state ``begins[i]``."""
    depths, far = states.depths, np.flatnonzero((begins != wanted) & (wanted != ROOT))
    jumps, at, goals = [states.links], begins[far], wanted[far]
    while len(far) and (longer := jumps[-1][jumps[-1]]).any():
        jumps.append(longer)
    for jump in reversed(jumps):
        further = jump[at]
        at = np.where(depths[further] >= depths[goals], further, at)
    are_there = np.ones(len(wanted), np.bool_)
    are_there[far] = at == goals
    return are_there
