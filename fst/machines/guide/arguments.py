"""The arguments of the kernels of token masks."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array

NO_STATE = -1  # the state after a token that is not allowed; its mask is empty
AFTER_END = -2  # for programs that keep the state of a text: the state after a token that ends the text
WRONG = -2  # instead of a state after tokens: a mask allows a token whose bytes the automaton does not read
# Added to the number of states: the start of a text, if first tokens write other bytes than later tokens; and the state after the end of a
# text.
AFTER_STATES = FIRST, ENDED = range(2)
TEXTS = ("regex", "schema", "fst", "choice", "grammar")  # the arguments of `fst.Guide` that describe texts
TWIN_MARK, MARK = 0xFE, 0xFF  # bytes after tokens of a canonical guide, see `fst.machines.guide.vocabulary.marked`; no UTF-8 contains them


class Automaton(NamedTuple):
    """An automaton over bytes, whose bytes are in classes.

    Attributes:
        targets: int32[states, classes], the next state of each state for each class of bytes; -1: none.
        classes: uint8[256], the class of each byte.
        finals: uint8[states], 1 for each final state, else 0.
    """

    targets: Array
    classes: Array
    finals: Array


RECENT, NEXT, STAMP = 4, 4, 5  # the number of masks in `Work`; the indices of two numbers in `Work.states`
FAR, ENOUGH = 32, 16  # the maximum length in bytes of strings by which states are compared; the length that is enough
PAIRS, SEVERAL = 512, 64  # the maximum numbers of pairs of states that a comparison by length, and a comparison by bytes, visit
LETTERS_GROUP = 0


def _groups() -> Array:
    """uint64[256], the bit of each byte's group: ASCII letters; digits; bytes after the first of a character; some ranges of first bytes;
    each character of ASCII that is whitespace or punctuation; and the rest.
    """
    numbers = np.full(256, LETTERS_GROUP + 1)
    numbers[[byte for byte in range(0x80) if chr(byte).isalpha()]] = LETTERS_GROUP
    firsts = [0x80, 0xC0, 0xC2, 0xE0, 0xE2, 0xE3, 0xE4, 0xEA, 0xF0, 0xF5]  # of ranges above ASCII
    ranges = [(0x30, 0x3A), *pairwise(firsts)]
    for number, (first, end) in enumerate(ranges, LETTERS_GROUP + 2):
        numbers[first:end] = number
    alone = [byte for byte in range(0x80) if chr(byte) in "\t\n\r" or (chr(byte).isprintable() and not chr(byte).isalnum())]
    numbers[alone] = LETTERS_GROUP + 2 + len(ranges) + np.arange(len(alone))
    return np.uint64(1) << numbers.astype(np.uint64)


GROUPS = _groups()


class Work(NamedTuple):
    """The working arrays of scans, for one automaton and one thread.

    Attributes:
        states: int64[RECENT + 2], the latest states whose scan read many nodes, or -1. `NEXT`: the index at which the next state is stored.
            `STAMP`: the number of comparisons so far.
        rows: uint32[RECENT, words + 1], the masks of these states.
        stack: int32[longest + 1], the state at each depth.
        pairs: int32[PAIRS, 2], the pairs of states that a comparison visits.
        exits: bool[256], classes of bytes, see `fst.machines.guide.kernels.scan.find_exits`.
        groups: uint64[256], the group of each byte, see `fst.machines.guide.arguments.GROUPS`.
        partners: int64[states], for each state, the latest comparison that has visited a pair with it, and the other state of the pair:
            ``stamp 32 | state``, in bits.
    """

    states: Array
    rows: Array
    stack: Array
    pairs: Array
    exits: Array
    groups: Array
    partners: Array


def work_of(automaton: Automaton, words: int, longest: int) -> Work:
    """New working arrays for an automaton, masks of a number of words, and tokens of at most `longest` bytes."""
    states, rows = np.full(RECENT + 2, -1), np.zeros((RECENT, words + 1), np.uint32)
    states[[NEXT, STAMP]] = 0
    pairs, partners = np.empty((PAIRS, 2), np.int32), np.zeros(len(automaton.finals), np.int64)
    return Work(states, rows, np.empty(longest + 1, np.int32), pairs, np.zeros(256, np.bool_), GROUPS, partners)


class Tokens(NamedTuple):
    """The bytes of tokens.

    Attributes:
        token_bytes: uint8[n], the bytes of all tokens at any position but the first, concatenated.
        token_ends: int64[ids], the end of each token; empty for numbers that are no ids, and for tokens that write no text.
        first_bytes, first_ends: the same for tokens at the first position; empty arrays if tokens write the same bytes there.
        end_id: int64[1], the id of the token that ends a text; -1 if there is none.
        keeps_first: bool[1], whether the token after a first token that writes nothing is again a first token.
    """

    token_bytes: Array
    token_ends: Array
    first_bytes: Array
    first_ends: Array
    end_id: Array
    keeps_first: Array


class Masks(NamedTuple):
    """The masks of a table, see `fst.machines.guide.table.GuideTable`."""

    mask_of: Array
    bases: Array
    flip_ends: Array
    flips: Array
    rows: Array
