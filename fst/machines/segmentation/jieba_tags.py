"""Parts of speech, as in ``jieba.posseg``: each token has a *tag*, such as ``n`` for a noun.

``jieba.posseg`` segments a text in its own way: its blocks do not contain ``%`` and ``-``, and unknown words come from another hidden
Markov model, whose states are pairs of a letter and a tag. The tokens are the tokens of the table
`fst.machines.segmentation.jieba.JiebaTable.untagged`, the words of the best path, except for *runs* of single characters in a block:

- Without a model, adjacent letters and digits are one token with the tag ``eng``.
- With a model, a run stays single characters if it has one character, or is a word of the dictionary. In other runs, Chinese characters are
  divided by the states of their most probable path, and other characters by `PARTS`.

A token that is a word of the dictionary has the word's tag; any other single character or token outside of blocks has the tag ``x``.

The model differs from the model of `fst.machines.segmentation.jieba_model`: not every state may follow a state, and a character may have a
list of its states. Without a list, or if no state in the list may follow, all states that may follow the previous character are possible.
Logarithms are added from left to right, ``(sum + transition) + emission``, and sums are rounded. Of states with equal sums, the last state
wins, in the order of pairs of a letter and a tag.

Source: jieba 0.42.1, ``jieba.posseg``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.segmentation.jieba_model import HAN, LEAST
from fst.machines.segmentation.unit_trie import UNITS
from fst.tables.proof import need, need_none
from fst.tables.strings import prove_strings

LETTERS = BEGIN, END, MIDDLE, SINGLE = range(4)  # the letters B, E, M and S of states, in alphabetical order
NO_TAG, ENGLISH, OTHER = -1, "eng", "x"
UNLIKELY = -3.14e100  # the logarithm of the probability of a character in a state that does not have this character
PARTS = re.compile(r"(?P<han>[\u4E00-\u9FD5]+)|(?P<m>[.0-9]+)|(?P<eng>[a-zA-Z0-9]+)|(?P<x>[^\u4E00-\u9FD5.0-9a-zA-Z]+)")


class Tagged(NamedTuple):
    """A token with its part of speech, like ``jieba.posseg.pair``.

    Attributes:
        word: the token.
        flag: the part of speech, such as "n" for a noun, "eng" for letters and digits, "m" for numbers; "x" for punctuation, whitespace and
            all other tokens.
    """

    word: str
    flag: str


class TagModel(NamedTuple):
    """The hidden Markov model.

    Attributes:
        states: int16[states, 2], the letter and the tag of each state, ascending.
        steps: float64[states + 1, states], the logarithm of the probability that the second state follows the first state; -inf if it never
            follows. The last row is for the first character.
        ranges: int32[characters + 1], for each character of `HAN` the start of its states in `emitting`.
        emitting: int16[n], the states of all characters, ascending for each character.
        emits: float64[n], the logarithm of the probability of the character in each of these states.
        listed: uint8[n], 1 if the state in `emitting` is in the list of the character, else 0.
    """

    states: Array
    steps: Array
    ranges: Array
    emitting: Array
    emits: Array
    listed: Array

    def path(self, run: str) -> list[int]:
        """The state of each character of a run on the most probable path."""
        known, emits = self._of_char(run[0])
        sums, levels = self.steps[-1, known] + emits[known], [(known, known)]
        for char in run[1:]:
            known, sums, choices = self._next(char, known, sums)
            levels.append((known, choices))
        state = int(known[_last_best(sums)])
        states = [state]
        for known, choices in levels[:0:-1]:
            state = int(choices[np.searchsorted(known, state)])
            states.append(state)
        return states[::-1]

    def _next(self, char: str, known: Array, sums: Array) -> tuple[Array, Array, Array]:
        """The possible states of the next character, the sum of the best path to each state, and the previous state on this path."""
        follow = np.isfinite(self.steps[known])
        goes_on = np.any(follow, axis=1)
        if goes_on.any():
            known, sums, follow = known[goes_on], sums[goes_on], follow[goes_on]
        expected: Array = np.any(follow, axis=0)
        states, emits = self._of_char(char)
        states = states[expected[states]]
        if not len(states):
            states = np.flatnonzero(expected) if expected.any() else np.arange(len(expected))
        totals = (sums[:, None] + self.steps[np.ix_(known, states)]) + emits[states]
        best = _last_best(totals)
        return states, totals[best, np.arange(len(states))], known[best]

    def _of_char(self, char: str) -> tuple[Array, Array]:
        """The states of a character (all states if it has no list), and the logarithm of the character's probability in each state."""
        part = slice(*self.ranges[ord(char) - HAN.start : ord(char) - HAN.start + 2])
        emitting, emits = self.emitting[part], np.full(len(self.states), UNLIKELY)
        emits[emitting] = self.emits[part]
        listed = emitting[self.listed[part] > 0]
        return listed if len(listed) else np.arange(len(self.states)), emits


NO_TAG_MODEL = TagModel(
    states=np.empty((0, 2), np.int16),
    steps=np.empty((0, 0)),
    ranges=np.empty(0, np.int32),
    emitting=np.empty(0, np.int16),
    emits=np.empty(0),
    listed=np.empty(0, np.uint8),
)


def _last_best(totals: Array) -> Array:
    """The last of the rows that contain the maximum of each column."""
    last: Array = len(totals) - 1 - totals[::-1].argmax(axis=0)
    return last


class Tagging(NamedTuple):
    """The parts of a table that `tagged` reads.

    Attributes:
        are_in_blocks: for each unit, 1 if it is in blocks, else 0; as bytes, because Python reads an item of bytes faster than an item of
            an array.
        of_characters: the tag of each word of one character, even if the word's frequency is 0.
        tag_of: a function from the number of a word, or -1, to its tag.
        is_word: a function that returns whether a text is a word of the dictionary with a frequency above 0.
        names: the different tags.
        model: the model for unknown words; None if the table has none.
    """

    are_in_blocks: bytes
    of_characters: Mapping[str, str]
    tag_of: Callable[[int], str]
    is_word: Callable[[str], bool]
    names: Sequence[str]
    model: TagModel | None


def tagged(by: Tagging, tokens: Iterable[tuple[str, int]]) -> Iterator[Tagged]:
    """The tokens of a text with their tags, from the tokens of the table `JiebaTable.untagged` and the numbers of their words."""
    run, are_in_blocks, tag_of = "", by.are_in_blocks, by.tag_of
    for word, number in tokens:
        if len(word) == 1 and ord(word) < UNITS and are_in_blocks[ord(word)]:
            run += word
            continue
        if run:
            yield from _of_run(by, run)
            run = ""
        yield Tagged(word, tag_of(number))
    if run:
        yield from _of_run(by, run)


def _of_run(by: Tagging, run: str) -> Iterator[Tagged]:
    if by.model is None:
        for letters, other in re.findall(r"([a-zA-Z0-9]+)|(.)", run, re.DOTALL):
            yield Tagged(letters, ENGLISH) if letters else Tagged(other, by.of_characters.get(other, OTHER))
    elif len(run) == 1 or by.is_word(run):
        yield from (Tagged(char, by.of_characters.get(char, OTHER)) for char in run)
    else:
        for part in PARTS.finditer(run):
            if part.lastgroup == "han":
                yield from _unknown(by.model, by.names, part[0])
            else:
                yield Tagged(part[0], str(part.lastgroup))


def _unknown(model: TagModel, names: Sequence[str], run: str) -> Iterator[Tagged]:
    """The words that the model finds in a run of Chinese characters."""
    states = model.states[model.path(run)].tolist()
    start = done = 0
    for at, (letter, tag) in enumerate(states):
        if letter == BEGIN:
            start = at
        elif letter in (END, SINGLE):
            yield Tagged(run[start if letter == END else at : at + 1], names[tag])
            done = at + 1
    if done < len(run):
        yield Tagged(run[done:], names[states[done][1]])


def prove(names: tuple[Array, Array], tags: Array, words: int, model: TagModel) -> None:
    """Prove that all indices are in range, and that all logarithms are logarithms of probabilities.

    Args:
        names: the arrays of the names of tags.
        tags: int16[words], the tag of each word, or `NO_TAG`; empty for a table without tags.
        words: the number of words.
        model: the model of parts of speech for unknown words; its arrays are empty if the table has no such model.
    """
    count, states = len(names[1]), len(model.states)
    need(len(tags) in (0, words), f"there are tags for {len(tags)} of {words} words")
    need(bool(count) == bool(len(tags)), f"there are {count} names of tags, and {len(tags)} tags")
    if count:
        prove_strings(*names, count, "names of tags")
    need_none((tags < NO_TAG) | (tags >= count), lambda at: f"word {at} has the tag {tags[at]}; there are {count}")
    need(not states or count, "there is a model of tags, and there are no tags")
    need(model.states.shape == (states, 2), f"the states of tags have the shape {model.states.shape}; expected {(states, 2)}")
    wrong = (model.states < 0) | (model.states >= np.array([len(LETTERS), max(count, 1)]))
    need_none(np.any(wrong, axis=1), lambda at: f"state {at} of tags is {model.states[at].tolist()}; there are {count} tags")
    shape = (states + 1, states) if states else (0, 0)
    need(model.steps.shape == shape, f"the steps of tags have the shape {model.steps.shape}; expected {shape}")
    steps, emits, ranges, emitting = model.steps.ravel(), model.emits, model.ranges, model.emitting
    need_none(~(((steps >= LEAST) & (steps <= 0)) | np.isneginf(steps)), lambda at: f"step {at} of tags is {steps[at]}")
    need_none(~((emits >= LEAST) & (emits <= 0)), lambda at: f"emission {at} of tags is {emits[at]}")
    rows = len(HAN) + 1 if states else 0
    need(len(ranges) == rows, f"there are {len(ranges)} ranges of states; expected {rows}")
    sizes = len(emits), len(emitting), len(model.listed)
    need(len({*sizes}) == 1, f"emits, emitting and listed of tags have {sizes} elements; expected equal numbers")
    if states:
        need(ranges[0] == 0 and ranges[-1] == len(emitting), f"the ranges of states are {ranges[0]} to {ranges[-1]} of {len(emitting)}")
        need_none(ranges[1:] < ranges[:-1], lambda at: f"the states of character {at} end before they begin")
    need_none((emitting < 0) | (emitting >= states), lambda at: f"emission {at} is of state {emitting[at]}; there are {states}")
    first = np.isin(np.arange(1, len(emitting)), ranges)
    need_none((emitting[1:] <= emitting[:-1]) & ~first, lambda at: f"emission {at + 1} is not of a later state than the one before")
