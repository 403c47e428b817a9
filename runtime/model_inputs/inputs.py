"""The texts of a call, in a flat list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fst.errors import TextError, counted, quoted
from fst.runtime.model_inputs.encoding import Ints
from fst.runtime.rows.texts import not_text_at

FEW = 1 << 10  # maximum number of samples for a cached array


class Inputs(NamedTuple):
    """The texts of a call, in a flat list, and the texts of each sample.

    Attributes:
        texts: all first texts, then all second texts; if texts are lists of words, these are the words of the lists.
        samples: the argument ``samples`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        paired: whether there are second texts.
        alone: whether the argument of the call is a sample, and not a list of samples.
    """

    texts: Sequence[str]
    samples: Ints
    paired: bool
    alone: bool


def gather(text: Any, text_pair: Any, words: bool) -> Inputs:
    """Collect the texts of a call in a flat list.

    Args:
        text, text_pair: as in `fst.Tokenizer.__call__`.
        words: whether texts are lists of words.
    """
    if text_pair is None and not words and type(text) is list and set(map(type, text)) == {str}:
        return singles(text)
    many = isinstance(text, list | tuple) and (not words or (bool(text) and isinstance(text[0], list | tuple)))
    if not many:
        given = [(text, text_pair) if text_pair else text]
    elif text_pair is None:
        given = list(text)
    elif not isinstance(text_pair, list | tuple) or len(text_pair) != len(text):
        found = f"a list of {len(text_pair)}" if isinstance(text_pair, list | tuple) else type(text_pair).__name__
        raise ValueError(f"text_pair is {found}; expected a list of {counted(len(text), 'text')}, as many as in text")
    else:
        given = list(zip(text, text_pair, strict=True))
    return gathered([sample_of(row, sample, words) for row, sample in enumerate(given)], words, alone=not many)


def singles(texts: Sequence[str]) -> Inputs:
    """Make the inputs of a batch without second texts."""
    return Inputs(texts, _singles(len(texts)), False, False)


def gathered(samples: Sequence[tuple[Any, Any]], words: bool, *, alone: bool) -> Inputs:
    """Make the inputs of samples.

    Args:
        samples: the first and the second text of each sample, with None for no second text.
        words: whether texts are lists of words.
        alone: whether the argument of the call is a sample, and not a list of samples.
    """
    firsts, seconds = [first for first, _ in samples], [second for _, second in samples]
    present = [second for second in seconds if second is not None]
    texts = [*chain.from_iterable(firsts), *chain.from_iterable(present)] if words else firsts + present
    first_ends = np.cumsum([0, *(len(first) if words else 1 for first in firsts)])
    second_ends = np.cumsum([first_ends[-1], *(0 if second is None else len(second) if words else 1 for second in seconds)])
    paired = np.array([second is not None for second in seconds], np.int64)
    rows = np.stack([first_ends[:-1], first_ends[1:], second_ends[:-1], second_ends[1:], paired], axis=1)
    return Inputs(texts, rows, bool(present), alone)


def _singles(count: int) -> Ints:
    """Make the array `Inputs.samples` of `count` samples with one text each."""
    return _few_singles(count) if count <= FEW else _few_singles.__wrapped__(count)


@lru_cache(FEW)
def _few_singles(count: int) -> Ints:
    numbers = np.arange(count)
    return np.stack([numbers, numbers + 1, *[np.zeros_like(numbers)] * 3], axis=1)


def sample_of(row: int, given: Any, words: bool) -> tuple[Any, Any]:
    """Return the first and the second text of a sample, with None for no second text."""
    if is_text(given, words):
        return given, None
    if isinstance(given, list | tuple) and len(given) == 2 and all(is_text(text, words) for text in given):
        return given[0], given[1]
    what = "a list of words, or a pair of such lists" if words else "a str, or a pair of them"
    raise TextError(f"row {row} is {type(given).__name__}, {quoted(given)}; expected {what}")


def is_text(given: Any, words: bool) -> bool:
    """Whether a value is a str; with `words`, whether it is a list of str."""
    return isinstance(given, list | tuple) and all(isinstance(word, str) for word in given) if words else isinstance(given, str)


def not_text(inputs: Inputs) -> TextError | None:
    """Make the error for the first malformed text. The message contains the row of the text's sample, not the index in `inputs.texts`."""
    for row, (first, first_end, second, second_end, _) in enumerate(inputs.samples.tolist()):
        for text in (*inputs.texts[first:first_end], *inputs.texts[second:second_end]):
            place = next((place for place, char in enumerate(text) if "\ud800" <= char <= "\udfff"), None)
            if place is not None:
                return not_text_at(row, place, text)
    return None
