"""NFKC as in Python's `unicodedata`, which tokenizers in Python apply. The decompositions of `tokenizers` are those of Unicode 9.0, without
characters such as ㋿, so a table for such a tokenizer has those of Unicode 16.0, the version of Python 3.14.
"""

from __future__ import annotations

from dataclasses import replace

from fst.compile.text.characters import reference
from fst.compile.text.normalizer import normalizer
from fst.text.normalizer import Normalizer
from fst.text.whitespace import NO_WHITESPACE


def nfkc() -> Normalizer:
    """The normalizer.

    >>> nfkc().normalized("㋿ｶﾞ")[0], normalizer([{"type": "NFKC"}], NO_WHITESPACE).normalized("㋿ｶﾞ")[0]
    ('令和ガ', '㋿ガ')
    """
    by = normalizer([{"type": "NFKC"}], NO_WHITESPACE)
    assert by.composition
    newer = reference.properties("newer.tsv")
    decomposed, pairs = ({code: _codes(value) for code, _, value in newer[name]} for name in ("compatible", "pair"))
    orders = {code: int(order) for first, last, order in newer["order"] for code in range(first, last + 1)}
    found = replace(
        by.composition,
        decompositions={**by.composition.decompositions, **decomposed},
        orders=orders,
        pairs={**by.composition.pairs, **{(first, second): whole for whole, (first, second) in pairs.items()}},
        suspects=by.composition.suspects | decomposed.keys() | orders.keys() | {second for _, second in pairs.values()},
    )
    return replace(by, composition=found)


def _codes(value: str) -> list[int]:
    return [int(code, 16) for code in value.split()]
