"""Templates as arrays. An item of a template is a special token or a text, and contains a constant for each plane of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.runtime.model_inputs.encoding import Ints


class Filler(NamedTuple):
    """The padding of rows.

    Attributes:
        number, type_id: the id and the type id of the padding token.
        token: the name of the padding token; None: the vocabulary's name for this id.
    """

    number: int
    type_id: int
    token: str | None


class Template(NamedTuple):
    """The arguments ``single`` and ``pair`` of `fst.runtime.model_inputs.kernel.lay_out`."""

    single: Ints
    pair: Ints


def template_of(single: Sequence[Any], pair: Sequence[Any], special: bool, names: Sequence[str], filler: Filler) -> Template:
    """Make the templates of one text and of a pair, with a plane for each name.

    Args:
        single, pair: as in `fst.tables.header.Templates`.
        special: whether to add special tokens around texts.
        names: the names of the planes, which are keys of `_constants`.
        filler: the padding token.
    """
    pad = [-1, *_constants(names, filler.number, filler.type_id, 0, 1, -1)]
    pieces = ([*_pieces(template, special, names), pad] for template in (single, pair))
    return Template(*(np.array(rows, np.int64) for rows in pieces))


def added(template: Sequence[Sequence[Any]]) -> int:
    """Count the special tokens in a template."""
    return sum(len(content) for content, _ in template if not isinstance(content, str))


def _pieces(template: Sequence[Sequence[Any]], special: bool, names: Sequence[str]) -> Iterator[list[int]]:
    for content, type_id in template:
        if isinstance(content, str):
            text = "AB".index(content)
            yield [text, *_constants(names, 0, type_id, 1, 0, text)]
        elif special:
            yield from ([-1, *_constants(names, number, type_id, 1, 1, -1)] for number in content)


def _constants(names: Sequence[str], number: int, type_id: int, attended: int, special: int, text: int) -> list[int]:
    """Return the constants of a special token, of a text or of padding: one for each plane."""
    fields = {
        "input_ids": number,
        "token_type_ids": type_id,
        "attention_mask": attended,
        "special_tokens_mask": special,
        "sequence_ids": text,
        "word_ids": -1,
        "offset": 0,
    }
    return [fields[name] for name in names]
