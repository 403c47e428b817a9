"""The candidates of Hunspell's stages of edits, each in the order in which Hunspell tries them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fst.machines.speller.layout import MAX_BYTES

FARTHEST = 4  # the distance over which letters are exchanged and moved
MAX_RELATED = 1 << 12  # maximum number of candidates with similar strings; Hunspell stops after a time


def with_similar(word: str, similar: Sequence[Sequence[str]]) -> list[str]:
    """Candidates with strings of the same class (MAP) at all places. As in Hunspell, a string in several classes spoils later ones."""
    found, text = list[str](), [""]

    def extend(place: int) -> None:
        if place == len(word) or len(text[0]) > MAX_BYTES:
            found.append(text[0][: MAX_BYTES + 1])  # a longer candidate is not accepted either
            return
        is_related = False
        for alike in similar:
            for string in alike:
                if word.startswith(string, place):
                    is_related, before = True, text[0]
                    for other in alike:
                        text[0] = before + other
                        extend(place + len(string))
                        if len(found) >= MAX_RELATED:
                            return
        if not is_related:
            text[0] += word[place]
            extend(place + 1)

    if similar:
        extend(0)
    return found


def exchanged(word: str) -> Iterator[str]:
    """Exchange neighbours; in words of four or five letters, also two pairs."""
    size = len(word)
    for place in range(size - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if size in (4, 5):
        yield word[1] + word[0] + word[2 : size - 2] + word[-1] + word[-2]
    if size == 5:
        yield word[0] + word[2] + word[1] + word[4] + word[3]


def exchanged_far(word: str) -> Iterator[str]:
    """Exchange letters that are no neighbours."""
    for one in range(len(word)):
        for other in range(len(word)):
            if 1 < abs(one - other) <= FARTHEST:
                letters = [*word]
                letters[one], letters[other] = letters[other], letters[one]
                yield "".join(letters)


def by_keyboard(word: str, keyboard: str, upper: Callable[[str], str]) -> Iterator[str]:
    """Replace a letter by its capital, or by its neighbours on the keyboard (KEY)."""
    for place, letter in enumerate(word):
        others = [upper(letter)] if upper(letter) != letter else []
        for at in (at for at, key in enumerate(keyboard) if key == letter):
            others += [key for key in (keyboard[at - 1 : at], keyboard[at + 1 : at + 2]) if key and key != "|"]
        yield from (word[:place] + other + word[place + 1 :] for other in others)


def without_one(word: str) -> Iterator[str]:
    """Remove a letter, the last one first."""
    return (word[:place] + word[place + 1 :] for place in reversed(range(len(word))) if len(word) > 1)


def with_one_more(word: str, tried: str) -> Iterator[str]:
    """Insert a letter of TRY, at the end first."""
    return (word[:place] + letter + word[place:] for letter in tried for place in reversed(range(len(word) + 1)))


def with_moved(word: str) -> Iterator[str]:
    """Move a letter to the right, or to the left."""
    size = len(word)
    for place in range(size):
        for to in range(place + 2, min(place + FARTHEST + 1, size)):
            yield word[:place] + word[place + 1 : to + 1] + word[place] + word[to + 1 :]
    for place in reversed(range(size)):
        for to in range(place - 2, max(place - FARTHEST, 0) - 1, -1):
            yield word[:to] + word[place] + word[to:place] + word[place + 1 :]


def with_other(word: str, tried: str) -> Iterator[str]:
    """Replace a letter by a letter of TRY, at the end first."""
    return (word[:at] + letter + word[at + 1 :] for letter in tried for at in reversed(range(len(word))) if word[at] != letter)


def without_repetition(word: str) -> Iterator[str]:
    """Remove two letters that are repeated: "vacacation" → "vacation"."""
    state = 0
    for place in range(2, len(word)):
        state = state + 1 if word[place] == word[place - 2] else 0
        if state == 3 or (state == 2 and place >= 4):
            yield word[: place - 1] + word[place + 1 :]
            state = 0
