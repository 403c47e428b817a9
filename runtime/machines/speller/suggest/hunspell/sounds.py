"""The sound of a word, by the rules of the option PHONE [phonet].

A rule has a pattern and a sound. In a pattern, letters are followed by signs:

======== ============================================================================================================
sign     meaning
======== ============================================================================================================
``(AE)`` one of these letters follows
``-``    the last letter of the pattern is read again; several times, if there are several
``<``    the sound replaces the letters in the word, where it is read again
``5``    the priority, by which a rule yields to one that begins with its last letter
``^``    at the beginning of a word; ``^^``: also, and what follows is a word of its own
``$``    at the end of a word; ``^$``: an entire word
======== ============================================================================================================

For example, the rules ``GH-`` → "K" and ``H`` → "" give "K" for "GH".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

MAX_BYTES = 1024  # a longer word has no sound
MAX_RULES = 1024  # later rules are not read
PRIORITY = 5  # of a rule without a number
SIGNS = frozenset("(-<^$0123456789")
END = "\0"  # after a word


class Pattern(NamedTuple):
    """The pattern of a rule.

    Attributes:
        text: the letters.
        choices: one of these characters must follow; None: any character may follow, or the end.
        back: the number of letters that are read again.
        priority: the priority.
        bounds: "", "^", "$" or "^$"; None: the pattern is malformed, and fits no word.
        again, is_cut: whether the pattern has the signs ``<`` and ``^^``.
    """

    text: str
    choices: str | None
    back: int
    priority: int
    bounds: str | None
    again: bool
    is_cut: bool

    @classmethod
    def read(cls, pattern: str) -> Pattern:
        """Read the pattern of a rule."""
        size = next((at for at, sign in enumerate(pattern) if at and sign in SIGNS), len(pattern))
        rest, choices = pattern[size:], None
        if rest.startswith("("):
            choices, rest = rest[1:], rest.partition(")")[2]
        minus = len(rest) - len(rest.lstrip("-"))
        rest = rest[minus:].removeprefix("<")
        priority, rest = (int(rest[0]), rest[1:]) if rest[:1].isdecimal() else (PRIORITY, rest)
        rest = rest[1:] if rest.startswith("^^") else rest
        bounds = "^$" if rest.startswith("^$") else rest[:1]
        known = bounds if bounds in ("", "^", "$", "^$") else None
        return cls(pattern[:size], choices, minus, priority, known, "<" in pattern[1:], "^^" in pattern[1:])

    def end(self, word: str, place: int) -> int:
        """The end of the letters of the pattern at a place of a word; -1, if they are not there."""
        end = place + len(self.text)
        if not word.startswith(self.text, place) or end == len(word):  # the pattern contains `END`
            return -1
        if self.choices is None:
            return end
        return end + 1 if _is_letter(word[end]) and word[end] in self.choices else -1


@dataclass
class _State:
    """The state of a word that is read.

    Attributes:
        word: the word, and `END`.
        place: the place of the next character.
        sound: the sound so far.
        size: the maximum size of the sound.
        read: the number of characters that the last rule read.
        is_kept: whether a character that no rule reads belongs to the sound.
        was_replaced: whether the last rule replaced letters of the word.
    """

    word: str
    place: int
    sound: str
    size: int
    read: int = 0
    is_kept: bool = False
    was_replaced: bool = False


class Sounds:
    """The rules of a dictionary.

    Args:
        rules: strings and their sounds.
        encoding: the encoding of the dictionary, whose bytes are the letters of the rules.
    """

    def __init__(self, rules: Sequence[Sequence[str]], encoding: str) -> None:
        self._encoding = encoding
        self._rules: dict[str, list[tuple[Pattern, str]]] = {}
        for letter, some in groupby(([self._bytes(text) for text in rule] for rule in rules[:MAX_RULES]), lambda rule: rule[0][0]):
            self._rules.setdefault(letter, [(Pattern.read(pattern), sound) for pattern, sound in some])  # Hunspell reads the first group

    def _bytes(self, text: str) -> str:
        """The bytes of a text, each as a character."""
        return text.encode(self._encoding, "replace").decode("latin-1")

    def of(self, word: str) -> str:
        """The sound of a word in upper case."""
        text = self._bytes(word)
        state = _State(text + END, 0, "", len(text))
        while len(text) <= MAX_BYTES and state.word[state.place] != END:
            self._step(state)
        return state.sound.encode("latin-1").decode(self._encoding, "replace")

    def _step(self, state: _State) -> None:
        """Read a character, or apply a rule."""
        char, is_again = state.word[state.place], False
        for pattern, sound in self._rules.get(char, ()):
            fits = self._fits(state, pattern)
            if fits and not self._yields(state, pattern):
                state.is_kept = not pattern.again
                char, is_again = _replaced(state, pattern, sound, char)
                break
        if not is_again:
            if state.read and state.is_kept and len(state.sound) < state.size and char != END:
                state.sound += char
            state.place, state.read, state.was_replaced = state.place + 1, 0, False

    def _fits(self, state: _State, pattern: Pattern) -> bool:
        """Whether a pattern fits; `state.read` is then the number of characters that it reads."""
        end, state.is_kept = pattern.end(state.word, state.place), False
        size = len(pattern.text) + (pattern.choices is not None)
        state.read = max(size - pattern.back, 1)
        if end < 0 or pattern.bounds is None or pattern.back >= size:
            return False
        begins = state.place == 0 or not _is_letter(state.word[state.place - 1])
        ends = not _is_letter(state.word[end])
        return {"": True, "^": begins, "$": not begins and ends, "^$": begins and ends}[pattern.bounds]

    def _yields(self, state: _State, pattern: Pattern) -> bool:
        """Whether a rule yields to one that begins with the last letter that it reads."""
        last = state.place + state.read - 1
        if state.read < 2 or pattern.back or state.word[last + 1] == END:
            return False
        for other, _ in self._rules.get(state.word[last], ()):
            end = other.end(state.word, last)
            ends = other.bounds == "" or (other.bounds == "$" and not _is_letter(state.word[end]))
            if end > last + 1 and ends and other.priority >= pattern.priority:
                state.is_kept = other.priority == 0
                return True
        return False


def _replaced(state: _State, pattern: Pattern, sound: str, char: str) -> tuple[str, bool]:
    """Apply a rule. Returns the last character of the sound, which is not added yet; and whether the word goes on at the same place."""
    word, place = state.word, state.place
    if pattern.again and not state.was_replaced:
        if state.sound and sound and state.sound[-1] in (char, sound[0]):
            state.sound = state.sound[:-1]
        written = sound[: len(word) - 1 - place]
        state.word = word[:place] + written + word[place + max(len(written), state.read) :]
        state.was_replaced = True
        return char, True
    state.place, state.was_replaced = place + state.read - 1, False
    left = sound
    while len(left) > 1 and len(state.sound) < state.size:
        if state.sound[-1:] != left[0]:
            state.sound += left[0]
        left = left[1:]
    last = left[:1] or END
    if not pattern.is_cut:
        return last, False
    if last != END:
        state.sound += last
    state.word, state.place = word[state.place + 1 :], 0
    return last, True


def _is_letter(char: str) -> bool:
    return char.isalpha() if char.isascii() else True
