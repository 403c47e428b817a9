"""Read the dictionary and the model for unknown words from an installed package `jieba`."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.machines.segmentation.jieba_model import BEFORE, HAN
from fst.machines.segmentation.jieba_tags import NO_TAG_MODEL, UNLIKELY, TagModel

LETTERS = "BMES"  # the letters by which `jieba` names the states, in the order of `fst.machines.segmentation.jieba_model.STATES`
LETTERS_OF_TAGS, MAX_TAGS = "BEMS", (1 << 15) - 1
EXTRA = "pip install jieba==0.42.1, which the extra jieba has"


def read_model() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read the hidden Markov model as the arrays `emits` and `chances`; see `fst.machines.segmentation.jieba.JiebaTable`."""
    model = _installed("jieba.finalseg")
    never, start, steps, emitted = model.MIN_FLOAT, model.start_P, model.trans_P, model.emit_P
    emits = np.array([[emitted[state].get(chr(code), never) for state in LETTERS] for code in HAN])
    into = [steps[LETTERS[before]].get(state, never) for state, some in zip(LETTERS, BEFORE, strict=True) for before in some]
    return emits, np.array([*(start[state] for state in LETTERS), *into])


def tag_model(tags: Collection[str], *, hmm: bool) -> tuple[list[str], TagModel]:
    """The names of tags in ascending order, and the hidden Markov model of tags; without `hmm`, an empty model. `tags`: the tags of the
    dictionary. `hmm`: whether to read the model from an installed jieba.
    """
    installed = _installed("jieba.posseg") if hmm else None
    found = sorted(installed.start_P) if installed else []
    names = sorted({*tags, *(tag for _, tag in found)})
    if len(names) > MAX_TAGS:
        raise UnsupportedError(f"the words have {len(names):,} different parts of speech; a table has room for {MAX_TAGS:,}")
    if installed is None:
        return names, NO_TAG_MODEL
    starts, steps, emitted, listed = installed.start_P, installed.trans_P, installed.emit_P, installed.char_state_tab_P
    numbers = {state: number for number, state in enumerate(found)}
    states = np.array([(LETTERS_OF_TAGS.index(letter), names.index(tag)) for letter, tag in found], np.int16)
    rows = [[steps[before].get(state, -np.inf) for state in found] for before in found] + [[starts[state] for state in found]]
    of_chars: dict[str, set[Any]] = {char: {*some} for char, some in listed.items()}
    for state, chars in emitted.items():
        for char in chars:
            of_chars.setdefault(char, set()).add(state)
    every = [(char, sorted(of_chars.get(char, ()))) for char in map(chr, HAN)]
    pairs = [(char, state) for char, some in every for state in some]
    return names, TagModel(
        states,
        steps=np.array(rows),
        ranges=np.cumsum([0, *(len(some) for _, some in every)], dtype=np.int32),
        emitting=np.array([numbers[state] for _, state in pairs], np.int16),
        emits=np.array([emitted[state].get(char, UNLIKELY) for char, state in pairs]),
        listed=np.array([state in listed.get(char, ()) for char, state in pairs], np.uint8),
    )


def dictionary() -> Path:
    """The path of jieba's dictionary file."""
    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise UnsupportedError(f"jieba is not installed; to compile its dictionary, {EXTRA}; or name a dictionary")
    return Path(spec.origin).with_name("dict.txt")


def _installed(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # importing `jieba` emits warnings about the patterns in its source
            return import_module(name)
    except ImportError:
        reason = "hmm=True needs the model of jieba, which is not installed"
        raise UnsupportedError(f"{reason}: {EXTRA}; or compile without it, for the tokens of jieba.cut(text, HMM=False)") from None
