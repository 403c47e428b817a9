"""Decorators and alphabets for tests of the words after normalizers and pre-tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.text.components import (
    Part,
    sequence,
)
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.alphabets import folded
from fst.text.alphabet import Alphabet


def each(argument: str, components: dict[str, list[Part]], share: int) -> pytest.MarkDecorator:
    """A decorator that runs a test for a sample of components, as `thinned` draws it."""
    return pytest.mark.parametrize(argument, thinned([pytest.param(parts, id=name) for name, parts in components.items()], share))


def alphabet_of(normalizer: Sequence[Part], pre_tokenizer: Sequence[Part]) -> Alphabet:
    """Compile normalizers and pre-tokenizers, given as in a tokenizer.json, into an alphabet.

    Raises:
        UnsupportedError: no alphabet expresses them, so that texts are normalized step by step.
    """
    found = folded(
        folding.components(sequence(normalizer, "normalizers")),
        pre_tokenizers.components(sequence(pre_tokenizer, "pretokenizers")),
    )
    if not found.is_whole:
        raise fst.UnsupportedError("no alphabet expresses these components")
    return found.alphabet


Load = Callable[[dict[str, Any]], tuple[Tokenizer, fst.Tokenizer]]
