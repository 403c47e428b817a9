"""The call: texts to model inputs. Arguments and results are those of ``transformers.PreTrainedTokenizerFast.__call__``.

A call has four steps::

    resolve     arguments → `Options`: their meaning for this tokenizer
    gather      text, text_pair → `Inputs`: a flat list of texts, and the texts of each sample
    plan_rows   ids of all texts → plan: the ids of each row, after truncation and windows
    lay_out     plan → arrays: with special tokens, padding, type ids and masks

A call leaves no state behind: each step passes its result on to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from operator import index
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.threads import thread_count
from fst.errors import TextError
from fst.runtime.encoder import NO_FRAME
from fst.runtime.model_inputs.encoding import BatchEncoding, Encoding, Ints, as_tensor, tensor_kind
from fst.runtime.model_inputs.plan import (
    ADDED,
    KEEP,
    LENGTH,
    LONGEST_FIRST,
    ONLY_FIRST,
    ONLY_SECOND,
    PAIRED,
    PLAN_FIELDS,
    ROOM,
    SAMPLE,
    STRATEGY,
    STRIDE,
    WINDOWS,
)
from fst.runtime.model_inputs.rows import Rows
from fst.runtime.model_inputs.settings import Padding, Truncation
from fst.runtime.model_inputs.token_names import Parts, Speller
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Limits, Source, not_text_at, rows_of
from fst.runtime.run import Runner
from fst.runtime.workspace import Frame, Ids
from fst.tables.header import SIDES, Metadata

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
MODEL_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
TRACED = (*MODEL_INPUTS, "special_tokens_mask", "sequence_ids")  # the first five fields of `Encoding.table`
IDS_ALONE = ("input_ids",)
MAX_NUMBER = (1 << 63) - 1
NO_LIMIT = 1 << 40  # more ids than a text has
FEW_TEXTS = 1 << 10  # maximum of texts for `_encoded_short`, and of samples whose array is cached
SHORT_TEXTS = 1 << 14  # maximum of characters for `_encoded_short`
plan_rows, lay_out = (Deferred("fst.runtime.model_inputs.kernel", name) for name in ("plan_rows", "lay_out"))


class Model(Protocol):
    """The part of a tokenizer that calls use."""

    @property
    def _ids_runner(self) -> Runner: ...

    def _encode(self, source: Source, *, frame: Frame, with_spans: bool, max_ids: int | None, threads: int | None) -> Batch: ...

    def id_to_token(self, number: int) -> str | None:
        """The token of an id."""


class Filler(NamedTuple):
    """What rows are padded with.

    Attributes:
        number, type_id: the id of a padding token, and its type id.
        token: its name; None: that of the id.
    """

    number: int
    type_id: int
    token: str | None


class Template(NamedTuple):
    """``single`` and ``pair`` of `fst.runtime.model_inputs.kernel.lay_out`."""

    single: Ints
    pair: Ints


@dataclass(frozen=True, eq=False)
class Options:
    """The resolved arguments of a call.

    Attributes:
        special: whether to add special tokens around texts.
        cut: ``cut`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        tight: whether truncation is asked for, but `max_length` is less than the number of special tokens of one text or of a pair.
        max_ids: the most ids needed of a text without a second one; None: all.
        windows: whether each window gets a row.
        padding: `NOTHING`, `LONGEST` or `FIXED`.
        width: the length of padded rows for `FIXED`.
        multiple: the number of which the length of padded rows is a multiple.
        pad_left: whether to pad on the left.
        words: whether texts come split into words.
        whole: whether they do not come split, and no offsets are asked for.
        kind: "np", "pt", or None for lists.
        filler: what rows are padded with.
        names: the members with a number for each token, "input_ids" first.
        template: the templates, with a plane for each of `names`.
        offsets, length: whether these members are asked for.
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
        """The length of padded rows, from that of the longest row; 0 without padding."""
        if self.padding == NOTHING:
            return 0
        width = self.width if self.padding == FIXED else longest
        return width + -width % self.multiple


class Inputs(NamedTuple):
    """The texts of a call.

    Attributes:
        texts: the texts of all samples, or their words if they came split: all first texts, then all second ones.
        samples: ``samples`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        paired: whether there are second texts.
        alone: whether the call has a single sample that is not in a batch.
    """

    texts: Sequence[str]
    samples: Ints
    paired: bool
    alone: bool


class Layout(NamedTuple):
    """The rows of a call, as a plan.

    Attributes:
        plan: ``plan`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        width: the length to which rows are padded.
        size: the length of every row, padding included; None if rows differ in length.
        options: the options of the call.
    """

    plan: Ints
    width: int
    size: int | None
    options: Options

    @property
    def sizes(self) -> Ints:
        """The length of each row, padding included."""
        return np.maximum(self.plan[:, LENGTH], self.width)

    def put(self, values: NDArray[np.int32], template: Template) -> Ints:
        """Lay out a value for each id in the first plane, and constants in the others: int64[planes, n], rows one after the other."""
        single, pair = template
        count = len(self.plan) * self.size if self.size is not None else self.sizes.sum()
        planes = np.empty((single.shape[1] - 1, count), np.int64)
        lay_out.call(values, self.plan, single, pair, self.width, self.options.pad_left, planes)
        return planes

    def rows(self, plane: Any) -> Iterator[Any]:
        """Split a plane into rows."""
        ends = np.cumsum(self.sizes).tolist()
        return (plane[begin:end] for begin, end in pairwise([0, *ends]))

    def members(self, planes: Ints) -> dict[str, Any]:
        """The members of the result with a number for each token."""
        names, kind = self.options.names, self.options.kind
        if self.size is None or kind is None:
            return {name: self.member(name, plane) for name, plane in zip(names, planes, strict=True)}
        arrays = planes.reshape(len(names), len(self.plan), self.size)
        arrays = arrays if kind == "np" else as_tensor("input_ids", arrays, kind)
        return {name: arrays[plane] for plane, name in enumerate(names)}

    def member(self, name: str, plane: Ints) -> Any:
        """The member of the result for a plane, which has a number, or a span, for each token."""
        kind = self.options.kind
        if kind is None:
            flat = plane.tolist()
            return list(self.rows(flat if plane.ndim == 1 else list(map(tuple, flat))))
        if self.size is None:
            return as_tensor(name, list(self.rows(plane)), kind)
        return as_tensor(name, plane.reshape(len(self.plan), self.size, *plane.shape[1:] if self.size else ()), kind)

    def numbers(self, name: str, numbers: Ints) -> Any:
        """The member of the result for an array with a number for each row."""
        kind = self.options.kind
        return numbers.tolist() if kind is None else as_tensor(name, numbers.copy(), kind)


class Caller:
    """Runs the calls of one tokenizer.

    Args:
        metadata: the metadata of its table.
        ids: token → id.
    """

    def __init__(self, metadata: Metadata, ids: Mapping[str, int]) -> None:
        self._single, self._pair = metadata.templates.single, metadata.templates.pair
        self._added = _added(self._single), _added(self._pair)
        self._reverse = [content for content, _ in self._pair if isinstance(content, str)] == ["B", "A"]
        self._pad_id = ids.get(metadata.settings.named_tokens.get("pad_token", ""))
        self._filler = Filler(self._pad_id or 0, 0, None)
        self._speller = Speller(metadata, ids)
        self.pad_side, self._cut_side = metadata.settings.padding_side, metadata.settings.truncation_side
        self._longest, self._inputs = metadata.settings.model_max_length, metadata.settings.model_input_names
        self._template = cache(self._make_template)
        self.resolve = lru_cache(FEW_TEXTS)(self._resolve)
        self.settled = lru_cache(FEW_TEXTS)(self._settled)

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
        """Check the arguments of a call, and resolve them to options.

        Raises:
            ValueError: an argument has an unknown value, or two of them contradict each other.
        """
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
            raise ValueError(f"max_length={longest} is no multiple of pad_to_multiple_of={multiple}, so rows cannot have both lengths")
        left = longest - self._added[0]
        if strategy != KEEP and 0 <= left < _count("stride", stride):
            raise ValueError(f"stride={stride}: with max_length={longest} a row has {left} ids of a text, and shares fewer with the next")
        added = self._added if add_special_tokens else (0, 0)
        rooms = [longest - number for number in added]
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
            cut=np.array([strategy, *rooms, stride, cut_left, windows, *added, self._reverse], np.int64),
            tight=strategy != KEEP and min(rooms) < 0,
            max_ids=None if strategy == KEEP or cut_left or windows else rooms[0] + 1,  # one more tells whether there are more
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
            template=self._template(bool(add_special_tokens), names, self._filler),
            offsets=bool(return_offsets_mapping),
            length=bool(return_length),
        )

    def _settled(self, special: bool, truncation: Truncation | None, padding: Padding | None, words: bool) -> Options:
        """The options that state makes, as in ``tokenizers``: a maximum below the number of special tokens cuts nothing.

        Args:
            special: whether to add special tokens around texts.
            truncation, padding: the state; None: rows are not truncated, or not padded.
            words: whether texts come split into words.
        """
        added = self._added if special else (0, 0)
        rooms = [NO_LIMIT if truncation is None or truncation.max_length < n else min(truncation.max_length - n, NO_LIMIT) for n in added]
        strategy, stride, cut_left = KEEP, 0, False
        if truncation is not None:
            strategy, stride = TRUNCATION[truncation.strategy], min(truncation.stride, NO_LIMIT)
            cut_left = truncation.direction == "left"
        filler = self._filler if padding is None else Filler(padding.pad_id, padding.pad_type_id, padding.pad_token)
        return Options(
            special=special,
            cut=np.array([strategy, *rooms, stride, cut_left, False, *added, self._reverse], np.int64),
            tight=False,
            max_ids=None if strategy == KEEP or cut_left or rooms[0] == NO_LIMIT else rooms[0] + 1,
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
            template=self._template(special, IDS_ALONE, filler),
            offsets=False,
            length=False,
        )

    def filler(self, padding: Any) -> int:
        """The id of the padding token.

        Raises:
            ValueError: the vocabulary has none.
        """
        if self._pad_id is None:
            raise ValueError(f"padding={padding!r}: the vocabulary's source names no token for it, such as '[PAD]', or does not hold it")
        return self._pad_id

    def run(self, model: Model, text: Any, text_pair: Any, options: Options, threads: int | None) -> BatchEncoding[Any]:
        """Make the result of `fst.Tokenizer.__call__`."""
        if threads is not None:
            thread_count(threads)
        short = _encoded_short(model, text) if options.whole and text_pair is None and type(text) is list else None
        inputs = Inputs(text, _few_singles(len(text)), False, False) if short else gather(text, text_pair, options.words)
        if options.offsets:
            batch = _batch(model, inputs, options, True, threads)
            ids, splits = batch.ids, batch.row_splits
        else:
            ids, splits = short or _encoded(model, inputs, options, threads)
        layout = _planned(splits, inputs.samples, options)
        planes = layout.put(ids, options.template)
        data = layout.members(planes)
        if options.offsets:
            data["offset_mapping"] = layout.member("offset_mapping", np.ascontiguousarray(self._offsets(layout, batch).T))
        if options.length:
            data["length"] = layout.numbers("length", layout.sizes)
        if options.windows:
            data["overflow_to_sample_mapping"] = layout.numbers("overflow_to_sample_mapping", layout.plan[:, SAMPLE])
        elif inputs.alone and options.kind is None:
            data = {name: value[0] if isinstance(value[0], list) else value for name, value in data.items()}
        return BatchEncoding(data, partial(self._rows, model, inputs, options, threads))

    def encodings(self, model: Model, inputs: Inputs, options: Options, threads: int | None, *, located: bool) -> list[Encoding]:
        """The row of each sample. Only its ids are computed now, everything else when it is first asked for.

        Args:
            model: the tokenizer.
            inputs: texts that do not change.
            options: how rows are made of them, from `settled`.
            threads: as in `fst.Tokenizer.__call__`.
            located: whether rows will tell words, spans and the names of tokens.
        """
        ids, splits = _encoded(model, inputs, options, threads)
        layout = _planned(splits, inputs.samples, options)
        shared = Rows(
            begins=np.cumsum([0, *layout.sizes]).tolist(),
            texts=(1 + layout.plan[:, PAIRED]).tolist(),
            plane=partial(self._plane, layout, ids),
            names=partial(self._textless_names, model, options, located),
            trace=partial(self._rows, model, inputs, options, threads, located=located),
        )
        return shared.encodings()

    def _plane(self, layout: Layout, ids: Ids, field: int) -> Ints:
        """A field of `Encoding.table` of all rows, one of the first five."""
        names = IDS_ALONE if field == 0 else (*IDS_ALONE, TRACED[field])
        plane: Ints = layout.put(ids, self._template(layout.options.special, names, layout.options.filler))[-1]
        return plane

    def _rows(self, model: Model, inputs: Inputs, options: Options, threads: int | None, *, located: bool = True) -> list[Encoding]:
        """All rows of a call, each with its tokens and their spans, and with its overflowing rows."""
        rows, samples = self._traced(model, inputs, options, threads, located)
        if options.cut[STRATEGY] == KEEP:
            return rows
        cut = options.cut.copy()
        cut[WINDOWS] = True
        asked = (model, inputs, replace(options, cut=cut, max_ids=None, windows=True), threads, located)
        # Either the rows are all windows already; or the windows of all samples are made once those of any sample are asked for.
        windows = lru_cache(1)(lambda: _by_sample(rows, samples) if options.windows else _by_sample(*self._traced(*asked)))
        for number, first in enumerate(np.unique(samples, return_index=True)[1].tolist()):
            rows[first].cut_off = partial(_others, windows, number)
        return rows

    def _traced(self, model: Model, inputs: Inputs, options: Options, threads: int | None, located: bool) -> tuple[list[Encoding], Ints]:
        """The rows of a call, and the sample of each."""
        batch = _batch(model, inputs, options, located, threads)
        layout = _planned(batch.row_splits, inputs.samples, options)
        ids = layout.put(batch.ids, self._template(options.special, TRACED, options.filler))
        table = np.concatenate([ids, self._places(layout, batch, inputs) if located else _no_places(ids.shape[1])])
        samples, counts = layout.plan[:, SAMPLE], (1 + layout.plan[:, PAIRED]).tolist()
        tables = [rows.T for rows in layout.rows(np.ascontiguousarray(table.T))]
        names = [partial(self._spelled, model, options, located, inputs, *row) for row in zip(samples.tolist(), tables, strict=True)]
        return [Encoding(*row, None) for row in zip(names, counts, tables, strict=True)], samples

    def _places(self, layout: Layout, batch: Batch, inputs: Inputs) -> Ints:
        """The last three fields of `Encoding.table`: the word of each token, begin and end of its span."""
        words = _word_numbers(batch, inputs, layout.options)
        template = self._template(layout.options.special, ("word_ids",), layout.options.filler)
        return np.concatenate([layout.put(words, template), self._offsets(layout, batch)])

    def _names(self, model: Model, options: Options, located: bool, table: Ints) -> list[str | None]:
        """The names of tokens, from the first four fields of `Encoding.table`; without `located`, those of texts are empty."""
        ids, _, attended, special = table[:4]
        names = [model.id_to_token(number) for number in ids.tolist()]
        if not located:
            names = [name if is_special else "" for name, is_special in zip(names, special.tolist(), strict=True)]
        if options.filler.token is not None:
            for place in np.flatnonzero(attended == 0).tolist():
                names[place] = options.filler.token
        return names

    def _textless_names(self, model: Model, options: Options, located: bool, table: Ints) -> list[str | None] | None:
        """As `_names`; None if a name depends on the text."""
        return None if located and self._depends(table).any() else self._names(model, options, located, table)

    def _depends(self, table: Ints) -> NDArray[np.bool_]:
        """Which names of tokens may depend on the text, from the first fields of `Encoding.table`."""
        return np.isin(table[0], self._speller.ids)

    def _spelled(self, model: Model, options: Options, located: bool, inputs: Inputs, sample: int, table: Ints) -> list[str | None]:
        """The names of the tokens of a row, as `_names`; those that depend on the texts of its sample as these spell them."""
        found, parts = self._names(model, options, located, table), dict[int, Parts]()
        for place in np.flatnonzero(self._depends(table) & (table[4] >= 0)).tolist() if located else ():
            number, sequence, word, begin, end = table[[0, 4, 5, 6, 7], place].tolist()
            text = inputs.samples[sample, 2 * sequence].item() + (word if options.words else 0)
            if text not in parts:
                parts[text] = self._speller.parts(inputs.texts[text])
            found[place] = self._speller.name(parts[text], number, begin, end) or found[place]
        return found

    def _offsets(self, layout: Layout, batch: Batch) -> Ints:
        """Begin and end of each token's span: int64[2, n]."""
        assert batch.offsets is not None
        template = self._template(layout.options.special, ("offset",), layout.options.filler)
        return np.concatenate([layout.put(np.ascontiguousarray(side), template) for side in batch.offsets.T])

    def _make_template(self, special: bool, names: Sequence[str], filler: Filler) -> Template:
        pad = [-1, *_constants(names, filler.number, filler.type_id, 0, 1, -1)]
        pieces = ([*_pieces(template, special, names), pad] for template in (self._single, self._pair))
        return Template(*(np.array(rows, np.int64) for rows in pieces))


def gather(text: Any, text_pair: Any, words: bool) -> Inputs:
    """Gather the texts of a call in one list.

    Args:
        text, text_pair: as in `fst.Tokenizer.__call__`.
        words: whether texts come split into words.

    Raises:
        TextError: an item is not a text; the message names its row.
        ValueError: the numbers of first and of second texts differ.
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
        raise ValueError(f"text is a list of {len(text)}, so text_pair must be a list of as many; it is {found}")
    else:
        given = list(zip(text, text_pair, strict=True))
    return gathered([sample_of(row, sample, words) for row, sample in enumerate(given)], words, alone=not many)


def singles(texts: Sequence[str]) -> Inputs:
    """The inputs of a batch of texts without second ones."""
    return Inputs(texts, _singles(len(texts)), False, False)


def gathered(samples: Sequence[tuple[Any, Any]], words: bool, *, alone: bool) -> Inputs:
    """The inputs of some samples.

    Args:
        samples: the first and the second text of each; None for no second text.
        words: whether texts come split into words.
        alone: whether the call has a single sample that is not in a batch.
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
    """Samples of one text each."""
    return _few_singles(count) if count <= FEW_TEXTS else _few_singles.__wrapped__(count)


@lru_cache(FEW_TEXTS)
def _few_singles(count: int) -> Ints:
    numbers = np.arange(count)
    return np.stack([numbers, numbers + 1, *[np.zeros_like(numbers)] * 3], axis=1)


def sample_of(row: int, given: Any, words: bool) -> tuple[Any, Any]:
    """The first text of a sample, and the second one or None.

    Raises:
        TextError: the sample is not text.
    """
    if is_text(given, words):
        return given, None
    if isinstance(given, list | tuple) and len(given) == 2 and all(is_text(text, words) for text in given):
        return given[0], given[1]
    what = "a list of words, or a pair of such lists" if words else "a str, or a pair of them"
    raise TextError(f"row {row} must be {what}, and is {type(given).__name__}: {given!r:.80}")


def is_text(given: Any, words: bool) -> bool:
    """Whether something is a text, or one split into words."""
    return isinstance(given, list | tuple) and all(isinstance(word, str) for word in given) if words else isinstance(given, str)


def _batch(model: Model, inputs: Inputs, options: Options, with_spans: bool, threads: int | None) -> Batch:
    """The ids of texts, and their spans if these are asked for."""
    try:
        max_ids = None if inputs.paired else options.max_ids
        return model._encode(rows_of(inputs.texts), frame=NO_FRAME, with_spans=with_spans, max_ids=max_ids, threads=threads)
    except TextError as error:
        raise _not_text(inputs) or error from None


def _not_text(inputs: Inputs) -> TextError | None:
    """The error for the first sample that is not text. It names the row of the sample, not that of the text in `inputs.texts`."""
    for row, (first, first_end, second, second_end, _) in enumerate(inputs.samples.tolist()):
        for text in (*inputs.texts[first:first_end], *inputs.texts[second:second_end]):
            place = next((place for place, char in enumerate(text) if "\ud800" <= char <= "\udfff"), None)
            if place is not None:
                return not_text_at(row, place, text)
    return None


def _encoded(model: Model, inputs: Inputs, options: Options, threads: int | None) -> tuple[Ids, Ints]:
    """The ids of texts, perhaps with unused room after them, and where the ids of each text begin."""
    short = _encoded_short(model, inputs.texts)
    if short:
        return short
    batch = _batch(model, inputs, options, False, threads)
    return batch.ids, batch.row_splits


def _encoded_short(model: Model, texts: Sequence[Any]) -> tuple[Ids, Ints] | None:
    """The same for a few short texts, without the overhead of a batch.

    None if there are too many texts, they are too long or not text, or the tokenizer has a fallback.
    """
    if not 0 < len(texts) <= FEW_TEXTS or not model._ids_runner.is_plain:
        return None
    return model._ids_runner.encode_texts(texts, Limits(SHORT_TEXTS, SHORT_TEXTS, len(texts)), NO_FRAME)


def _planned(splits: Ints, samples: Ints, options: Options) -> Layout:
    """Truncate samples, and plan the rows."""
    cut = options.cut
    if options.tight:
        _check_room(samples, cut)
    plan = np.empty((len(samples), PLAN_FIELDS), np.int64)
    rows, longest, least, most, wrong = plan_rows.call(splits, samples, cut, plan)
    if wrong >= 0:
        raise _refusal(wrong, samples[wrong].tolist(), splits, cut)
    if rows > len(plan):
        plan = np.empty((rows, PLAN_FIELDS), np.int64)
        _, longest, least, most, _ = plan_rows.call(splits, samples, cut, plan)
    width = options.padded(longest)
    size = most if most > width else width
    return Layout(plan, width, size if least >= size or width == size or not rows else None, options)


def _by_sample(rows: Sequence[Encoding], samples: Ints) -> list[list[Encoding]]:
    """The rows of each sample; rows come in the order of their samples."""
    ends = np.cumsum(np.bincount(samples)).tolist()
    return [[*rows[begin:end]] for begin, end in pairwise([0, *ends])]


def _others(windows: Callable[[], list[list[Encoding]]], sample: int) -> list[Encoding]:
    """The windows of a sample, without the first one."""
    return windows()[sample][1:]


def _check_room(samples: Ints, cut: Ints) -> None:
    """Refuse a `max_length` that the special tokens alone exceed."""
    for paired in set(samples[:, PAIRED].tolist()):
        room, added = int(cut[ROOM + paired]), int(cut[ADDED + paired])
        if room < 0:
            raise ValueError(f"max_length={room + added} is less than the {added} special tokens around a text")


def _refusal(row: int, sample: list[int], splits: Ints, cut: Ints) -> ValueError:
    """The error for a sample that cannot be truncated as asked."""
    first, first_end, second, second_end, paired = sample
    strategy, room, stride = int(cut[STRATEGY]), int(cut[ROOM + paired]), int(cut[STRIDE])
    lengths = [int(splits[first_end] - splits[first]), int(splits[second_end] - splits[second])]
    found = f"row {row} has {' and '.join(map(str, lengths[: 1 + paired]))} ids, and there is room for {room}"
    if strategy == ONLY_SECOND and not paired:
        return ValueError(f"truncation='only_second': {found}, but there is no second text")
    for name, only, length in (("only_first", ONLY_FIRST, lengths[0]), ("only_second", ONLY_SECOND, lengths[1])):
        if strategy == only and length <= sum(lengths) - room:
            return ValueError(f"truncation={name!r}: {found}, so that nothing of it would be left; pass 'longest_first'")
    return ValueError(f"stride={stride}: {found}, so that a window would not go beyond the one before it; pass a smaller one")


def _word_numbers(batch: Batch, inputs: Inputs, options: Options) -> NDArray[np.int32]:
    """The number of each id's word within its text."""
    if not options.words:
        assert batch.words is not None
        return batch.words
    begins, ends = inputs.samples[:, 0:4:2].T.ravel(), inputs.samples[:, 1:4:2].T.ravel()
    numbers = np.arange(len(inputs.texts)) - np.repeat(begins, ends - begins)
    return np.repeat(numbers, np.diff(batch.row_splits)).astype(np.int32)


def _no_places(count: int) -> Ints:
    """The last three fields of `Encoding.table`, for tokens of which no words and spans are known."""
    return np.concatenate([np.full((1, count), -1, np.int64), np.zeros((2, count), np.int64)])


def _pieces(template: Sequence[Sequence[Any]], special: bool, names: Sequence[str]) -> Iterator[list[int]]:
    for content, type_id in template:
        if isinstance(content, str):
            text = "AB".index(content)
            yield [text, *_constants(names, 0, type_id, 1, 0, text)]
        elif special:
            yield from ([-1, *_constants(names, number, type_id, 1, 1, -1)] for number in content)


def _constants(names: Sequence[str], number: int, type_id: int, attended: int, special: int, text: int) -> list[int]:
    """The constants of a special token, of a text's tokens, or of padding, one for each plane."""
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


def _added(template: Sequence[Sequence[Any]]) -> int:
    """The number of special tokens in a template."""
    return sum(len(content) for content, _ in template if not isinstance(content, str))


def _choice(name: str, asked: Any, choices: Any) -> Any:
    """The choice for an argument, which is one of some values, or an enumeration's member with such a value."""
    value = getattr(asked, "value", asked)
    if value not in choices:
        raise ValueError(f"{name}={value!r}: there are {', '.join(map(repr, choices))}")
    return choices[value] if isinstance(choices, dict) else value


def _count(name: str, asked: Any) -> int:
    """Check an argument that is a whole number from 0 to `MAX_NUMBER`."""
    try:
        number = index(asked)
    except TypeError:
        raise ValueError(f"{name}={asked!r} is no whole number") from None
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError(f"{name}={number} is below 0, or too large")
    return number
