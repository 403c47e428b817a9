"""Read the dictionary and the model for unknown words from an installed package `jieba`."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.machines.segmentation.jieba_model import BEFORE, HAN

LETTERS = "BMES"  # the letters by which `jieba` names the states, in the order of `fst.machines.segmentation.jieba_model.STATES`
EXTRA = "pip install jieba==0.42.1, which the extra jieba has"


def read_model() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read the hidden Markov model as the arrays `emits` and `chances`; see `fst.machines.segmentation.jieba.JiebaTable`.

    Raises:
        UnsupportedError: jieba is not installed.
    """
    model = _installed()
    never, start, steps, emitted = model.MIN_FLOAT, model.start_P, model.trans_P, model.emit_P
    emits = np.array([[emitted[state].get(chr(code), never) for state in LETTERS] for code in HAN])
    into = [steps[LETTERS[before]].get(state, never) for state, some in zip(LETTERS, BEFORE, strict=True) for before in some]
    return emits, np.array([*(start[state] for state in LETTERS), *into])


def dictionary() -> Path:
    """The path of jieba's dictionary file.

    Raises:
        UnsupportedError: jieba is not installed.
    """
    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise UnsupportedError(f"jieba is not installed; to compile its dictionary, {EXTRA}; or name a dictionary")
    return Path(spec.origin).with_name("dict.txt")


def _installed() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # importing `jieba` emits warnings about the patterns in its source
            return import_module("jieba.finalseg")
    except ImportError:
        reason = "hmm=True needs the model of jieba, which is not installed"
        raise UnsupportedError(f"{reason}: {EXTRA}; or compile without it, for the tokens of jieba.cut(text, HMM=False)") from None
