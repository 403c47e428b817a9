"""The options of a call: its arguments after checks, with defaults from the settings of the tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from operator import index
from typing import Any, TypedDict

import numpy as np

from fst.errors import not_one_of, quoted
from fst.runtime.model_inputs.encoding import Ints, tensor_kind
from fst.runtime.model_inputs.plan import KEEP, LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND
from fst.runtime.model_inputs.settings import Padding, Truncation
from fst.runtime.model_inputs.templates import Filler, Template, added, template_of
from fst.tables.header import SIDES

TRUNCATION = {
    False: KEEP,
    "do_not_truncate": KEEP,
    True: LONGEST_FIRST,
    "longest_first": LONGEST_FIRST,
    "only_first": ONLY_FIRST,
    "only_second": ONLY_SECOND,
}
NOTHING, LONGEST, FIXED = "do_not_pad", "longest", "max_length"
PADDING = {False: NOTHING, NOTHING: NOTHING, True: LONGEST, LONGEST: LONGEST, FIXED: FIXED}
IDS_ALONE = ("input_ids",)
MAX_NUMBER = (1 << 63) - 1
NO_LIMIT = 1 << 40  # more ids than any text has
KEPT_OPTIONS = 1 << 10  # maximum number of cached results

@dataclass(frozen=True, eq=False)
class Options:
    """The arguments of a call after checks, with defaults.

    Attributes:
        special: whether to add special tokens around texts.
        cut: the argument ``cut`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        tight: whether texts are truncated and `max_length` is less than the number of special tokens around one text, or around a pair.
        max_ids: the number of ids that a row without a second text needs; None: all ids.
        windows: whether each window is a row of the result.
        padding: `NOTHING`, `LONGEST` or `FIXED`.
        width: the length of padded rows, for `FIXED`.
        multiple: the length of padded rows is a multiple of this number.
        pad_left: whether padding is added on the left.
        words: whether texts are lists of words.
        whole: whether texts are str and offsets are not needed.
        kind: "np", "pt", or None for lists.
        filler: the padding token.
        names: the names of the members with one number per token, "input_ids" first.
        template: the templates, with one plane for each of `names`.
        offsets, length: whether the result contains offsets; whether the result contains the lengths of rows.
    """

    special: bool
    cut: Ints
    tight: bool
    max_ids: int | None
    windows: bool
    padding: str
    width: int
    multiple: int
    pad_left: bool
    words: bool
    whole: bool
    kind: str | None
    filler: Filler
    names: tuple[str, ...]
    template: Template
    offsets: bool
    length: bool

    def padded(self, longest: int) -> int:
        """Compute the length of padded rows from the length of the longest row; return 0 without padding."""
        if self.padding == NOTHING:
            return 0
        width = self.width if self.padding == FIXED else longest
        return width + -width % self.multiple

class CallArguments(TypedDict, total=False):
    """Keyword arguments of `fst.Tokenizer.__call__`, whose docstring describes them."""

    add_special_tokens: bool
    padding: bool | str | Enum
    truncation: bool | str | Enum | None
    max_length: int | None
    stride: int
    pad_to_multiple_of: int | None
    padding_side: str | None
    truncation_side: str | None
    return_token_type_ids: bool | None
    return_attention_mask: bool | None
    return_special_tokens_mask: bool
    return_offsets_mapping: bool
    return_length: bool
    threads: int | None

class Resolver:
    """A maker of options for the calls of one tokenizer.

    Args:
        metadata: the metadata of the tokenizer's table.
        ids: a mapping from token to id.
    """

    def __init__(self, metadata: Any, ids: Mapping[str, int]) -> None:
        single, pair = metadata.templates.single, metadata.templates.pair
        self._added = added(single), added(pair)
        self._reverse = [content for content, _ in pair if isinstance(content, str)] == ["B", "A"]
        self._pad_id = ids.get(metadata.settings.named_tokens.get("pad_token", ""))
        self._filler = Filler(self._pad_id or 0, 0, None)
        self.pad_side, self._cut_side = metadata.settings.padding_side, metadata.settings.truncation_side
        self._longest, self._inputs = metadata.settings.model_max_length, metadata.settings.model_input_names
        self.template = cache(lambda special, names, filler: template_of(single, pair, special, names, filler))
        self.resolve = lru_cache(KEPT_OPTIONS)(self._resolve)
        self.settled = lru_cache(KEPT_OPTIONS)(self._settled)

    def _resolve(
        self,
        add_special_tokens: bool,
        padding: Any,
        truncation: Any,
        max_length: int | None,
        stride: int,
        is_split_into_words: bool,
        pad_to_multiple_of: int | None,
        padding_side: str | None,
        truncation_side: str | None,
        return_tensors: Any,
        return_token_type_ids: bool | None,
        return_attention_mask: bool | None,
        return_overflowing_tokens: bool,
        return_special_tokens_mask: bool,
        return_offsets_mapping: bool,
        return_length: bool,
    ) -> Options:
        """Check the arguments of a call, and return the options."""
        if max_length is not None and padding is False and truncation is None:
            truncation = True
        strategy = KEEP if truncation is None else _choice("truncation", truncation, TRUNCATION)
        filling = _choice("padding", padding, PADDING)
        longest = self._longest if max_length is None else _count("max_length", max_length)
        if longest is None:
            strategy, filling = KEEP, NOTHING if filling == FIXED else filling
        longest = longest or 0
        if filling != NOTHING:
            self.filler(padding)
        multiple = 1 if pad_to_multiple_of is None else _count("pad_to_multiple_of", pad_to_multiple_of) or 1
        if strategy != KEEP and filling != NOTHING and longest % multiple:
            raise ValueError(f"max_length is {longest}; expected a multiple of pad_to_multiple_of, which is {multiple}")
        left = longest - self._added[0]
        if strategy != KEEP and 0 <= left < _count("stride", stride):
            raise ValueError(f"stride is {stride}; expected at most {left}, the number of ids of a text in a row of {longest}")
        added = self._added if add_special_tokens else (0, 0)
        capacities = [longest - number for number in added]
        pad_left = _choice("padding_side", self.pad_side if padding_side is None else padding_side, SIDES) == "left"
        cut_left = _choice("truncation_side", self._cut_side if truncation_side is None else truncation_side, SIDES) == "left"
        asked = {
            "input_ids": True,
            "token_type_ids": return_token_type_ids,
            "attention_mask": return_attention_mask,
            "special_tokens_mask": bool(return_special_tokens_mask),
        }
        names = tuple(name for name, wanted in asked.items() if (name in self._inputs if wanted is None else wanted))
        windows = bool(return_overflowing_tokens)
        return Options(
            special=bool(add_special_tokens),
            cut=np.array([strategy, *capacities, stride, cut_left, windows, *added, self._reverse], np.int64),
            tight=strategy != KEEP and min(capacities) < 0,
            max_ids=None if strategy == KEEP or cut_left or windows else capacities[0] + 1,  # one more id, to detect a longer text
            windows=windows,
            padding=filling,
            width=longest,
            multiple=multiple,
            pad_left=pad_left,
            words=bool(is_split_into_words),
            whole=not (is_split_into_words or return_offsets_mapping),
            kind=tensor_kind(return_tensors),
            filler=self._filler,
            names=names,
            template=self.template(bool(add_special_tokens), names, self._filler),
            offsets=bool(return_offsets_mapping),
            length=bool(return_length),
        )

    def _settled(self, special: bool, truncation: Truncation | None, padding: Padding | None, words: bool) -> Options:
        """Make the options from the state of a tokenizer. If its `max_length` is less than the number of special tokens, no text is
        truncated.

        Args:
            special: whether to add special tokens around texts.
            truncation, padding: the state of the tokenizer; None: no truncation, no padding.
            words: whether texts are lists of words.
        """
        added = self._added if special else (0, 0)
        longest = NO_LIMIT if truncation is None else truncation.max_length
        capacities = [NO_LIMIT if longest < n else min(longest - n, NO_LIMIT) for n in added]
        strategy, stride, cut_left = KEEP, 0, False
        if truncation is not None:
            strategy, stride = TRUNCATION[truncation.strategy], min(truncation.stride, NO_LIMIT)
            cut_left = truncation.direction == "left"
        filler = self._filler if padding is None else Filler(padding.pad_id, padding.pad_type_id, padding.pad_token)
        return Options(
            special=special,
            cut=np.array([strategy, *capacities, stride, cut_left, False, *added, self._reverse], np.int64),
            tight=False,
            max_ids=None if strategy == KEEP or cut_left or capacities[0] == NO_LIMIT else capacities[0] + 1,
            windows=False,
            padding=NOTHING if padding is None else LONGEST if padding.length is None else FIXED,
            width=0 if padding is None else padding.length or 0,
            multiple=1 if padding is None else padding.pad_to_multiple_of or 1,
            pad_left=padding is not None and padding.direction == "left",
            words=words,
            whole=False,
            kind=None,
            filler=filler,
            names=IDS_ALONE,
            template=self.template(special, IDS_ALONE, filler),
            offsets=False,
            length=False,
        )

    def filler(self, padding: Any) -> int:
        """Return the id of the padding token."""
        if self._pad_id is None:
            raise ValueError(f"padding is {quoted(padding)}; expected False, because the vocabulary has no padding token, such as '[PAD]'")
        return self._pad_id

def _choice(name: str, asked: Any, choices: Any) -> Any:
    """Look up an argument in `choices`; the argument is a key, or an enum member with a key as its value."""
    value = getattr(asked, "value", asked)
    if value not in choices:
        raise ValueError(not_one_of(name, value, choices))
    return choices[value] if isinstance(choices, dict) else value

def _count(name: str, asked: Any) -> int:
    """Convert an argument to int, and check that it is from 0 to `MAX_NUMBER`."""
    try:
        number = index(asked)
    except TypeError:
        raise ValueError(f"{name} is {quoted(asked)}; expected a whole number") from None
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError(f"{name} is {number}; expected a whole number from 0 to {MAX_NUMBER:,}")
    return number
