"""Convert texts to the inputs of a model, with the arguments and results of ``transformers.PreTrainedTokenizerFast.__call__``.

A call has four steps::

    options   arguments → `Options`: the checked arguments, with the tokenizer's defaults
    inputs    text, text_pair → `Inputs`: a flat list of texts, and the texts of each sample
    layout    ids of all texts → plan: the ids of each row, after truncation and windows
              plan → arrays: with special tokens, padding, type ids and masks

Each step passes its result to the next step; no state is stored between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import pairwise, repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.core.threads import thread_count
from fst.errors import TextError
from fst.runtime.model_inputs.encoding import BatchEncoding, Encoding, Ints
from fst.runtime.model_inputs.inputs import Inputs, gather, not_text, singles
from fst.runtime.model_inputs.layout import Layout, planned
from fst.runtime.model_inputs.options import IDS_ALONE, Options, Resolver
from fst.runtime.model_inputs.plan import KEEP, PAIRED, SAMPLE, STRATEGY, WINDOWS
from fst.runtime.model_inputs.token_names import Parts, TokenNames
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Limits, Source, rows_of
from fst.runtime.run import Runner
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids, SpecialIds

# The names of the first five fields of `Encoding.table`.
TRACED = ("input_ids", "token_type_ids", "attention_mask", "special_tokens_mask", "sequence_ids")
FEW_TEXTS = 1 << 10  # maximum number of texts for `_encoded_short`
SHORT_TEXTS = 1 << 14  # maximum number of characters for `_encoded_short`
MANY, SHARED = 1 << 16, 1 << 18  # minimum number of ids of a batch for which `_numbers` is used, and number of objects in `_numbers`
IDS, TYPE_IDS, ATTENDED, SPECIAL, SEQUENCE = range(5)  # the fields of `Encoding.table` that need no spans


class Model(Protocol):
    """The methods of a tokenizer that a `Caller` uses."""

    @property
    def _ids_runner(self) -> Runner: ...

    def _encode(self, source: Source, *, special_ids: SpecialIds, with_spans: bool, max_ids: int | None, threads: int | None) -> Batch: ...

    def id_to_token(self, number: int) -> str | None:
        """The token of an id."""


class Caller(Resolver):
    """The implementation of ``fst.Tokenizer.__call__`` for one tokenizer."""

    def __init__(self, metadata: Any, ids: Mapping[str, int]) -> None:
        super().__init__(metadata, ids)
        self._speller = TokenNames(metadata, ids)

    def framed(self, metadata: Any, ids: Mapping[str, int]) -> Caller:
        """Make the caller of the same tokenizer with other templates; `metadata` and `ids` are as in `Caller`."""
        made = copy(self)
        Resolver.__init__(made, metadata, ids)
        return made

    def run(self, model: Model, text: Any, text_pair: Any, options: Options, threads: int | None) -> BatchEncoding[Any]:
        """Return the result of `fst.Tokenizer.__call__`."""
        if threads is not None:
            thread_count(threads)
        short = _encoded_short(model, text) if options.whole and text_pair is None and type(text) is list else None
        inputs = singles(text) if short else gather(text, text_pair, options.words)
        if options.offsets:
            batch = _batch(model, inputs, options, True, threads)
            ids, splits = batch.ids, batch.row_splits
        else:
            ids, splits = short or _encoded(model, inputs, options, threads)
        layout = planned(splits, inputs.samples, options)
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
        """Make a row for each sample. Only ids are computed now; each other member is computed at its first use.

        Args:
            model: the tokenizer.
            inputs: the texts, which must not change later.
            options: a result of `settled`.
            threads: as in `fst.Tokenizer.__call__`.
            located: whether rows contain words, spans and the names of tokens.
        """
        ids, splits = _encoded(model, inputs, options, threads)
        layout = planned(splits, inputs.samples, options)
        shared = Rows(
            begins=np.cumsum([0, *layout.sizes]).tolist(),
            texts=(1 + layout.plan[:, PAIRED]).tolist(),
            plane=partial(self._plane, layout, ids),
            names=partial(self._textless_names, model, options, located),
            trace=partial(self._rows, model, inputs, options, threads, located=located),
        )
        return shared.encodings()

    def _plane(self, layout: Layout, ids: Ids, field: int) -> Ints:
        """Compute one of the first five fields of `Encoding.table`, for all rows."""
        names = IDS_ALONE if field == 0 else (*IDS_ALONE, TRACED[field])
        plane: Ints = layout.put(ids, self.template(layout.options.special, names, layout.options.filler))[-1]
        return plane

    def _rows(self, model: Model, inputs: Inputs, options: Options, threads: int | None, *, located: bool = True) -> list[Encoding]:
        """Make all rows of a call, with tokens, spans and overflowing rows."""
        rows, samples = self._traced(model, inputs, options, threads, located)
        if options.cut[STRATEGY] == KEEP:
            return rows
        cut = options.cut.copy()
        cut[WINDOWS] = True
        asked = (model, inputs, replace(options, cut=cut, max_ids=None, windows=True), threads, located)
        # If `rows` contains only the first window of each sample, all windows are made at the first access.
        windows = lru_cache(1)(lambda: _by_sample(rows, samples) if options.windows else _by_sample(*self._traced(*asked)))
        for number, first in enumerate(np.unique(samples, return_index=True)[1].tolist()):
            rows[first].cut_off = partial(_others, windows, number)
        return rows

    def _traced(self, model: Model, inputs: Inputs, options: Options, threads: int | None, located: bool) -> tuple[list[Encoding], Ints]:
        """Make the rows of a call; return also the number of each row's sample."""
        batch = _batch(model, inputs, options, located, threads)
        layout = planned(batch.row_splits, inputs.samples, options)
        ids = layout.put(batch.ids, self.template(options.special, TRACED, options.filler))
        table = np.concatenate([ids, self._places(layout, batch, inputs) if located else _no_places(ids.shape[1])])
        samples, counts = layout.plan[:, SAMPLE], (1 + layout.plan[:, PAIRED]).tolist()
        tables = [rows.T for rows in layout.rows(np.ascontiguousarray(table.T))]
        names = [partial(self._spelled, model, options, located, inputs, *row) for row in zip(samples.tolist(), tables, strict=True)]
        return [Encoding(*row, None) for row in zip(names, counts, tables, strict=True)], samples

    def _places(self, layout: Layout, batch: Batch, inputs: Inputs) -> Ints:
        """Compute the last three fields of `Encoding.table`: the word, the start and the end of each token."""
        words = _word_numbers(batch, inputs, layout.options)
        template = self.template(layout.options.special, ("word_ids",), layout.options.filler)
        return np.concatenate([layout.put(words, template), self._offsets(layout, batch)])

    def _names(self, model: Model, options: Options, located: bool, table: Ints) -> list[str | None]:
        """Return the names of tokens, from the first four fields of `Encoding.table`; without `located`, tokens of texts have the name
        "".
        """
        ids, _, attended, special = table[:4]
        names = [model.id_to_token(number) for number in ids.tolist()]
        if not located:
            names = [name if is_special else "" for name, is_special in zip(names, special.tolist(), strict=True)]
        if options.filler.token is not None:
            for place in np.flatnonzero(attended == 0).tolist():
                names[place] = options.filler.token
        return names

    def _textless_names(self, model: Model, options: Options, located: bool, table: Ints) -> list[str | None] | None:
        """Return the names of tokens, as in `_names`; None if a name depends on the text."""
        return None if located and self._depends(table).any() else self._names(model, options, located, table)

    def _depends(self, table: Ints) -> NDArray[np.bool_]:
        """Return bool[tokens]: whether a token's name may depend on the text. Only the first field of `table` is read."""
        return np.isin(table[0], self._speller.ids)

    def _spelled(self, model: Model, options: Options, located: bool, inputs: Inputs, sample: int, table: Ints) -> list[str | None]:
        """Return the names of a row's tokens; names that depend on the text come from the sample's texts."""
        found, parts = self._names(model, options, located, table), dict[int, Parts]()
        for place in np.flatnonzero(self._depends(table) & (table[4] >= 0)).tolist() if located else ():
            number, sequence, word, start, end = table[[0, 4, 5, 6, 7], place].tolist()
            text = inputs.samples[sample, 2 * sequence].item() + (word if options.words else 0)
            if text not in parts:
                parts[text] = self._speller.parts(inputs.texts[text])
            found[place] = self._speller.name(parts[text], number, start, end) or found[place]
        return found

    def _offsets(self, layout: Layout, batch: Batch) -> Ints:
        """Compute the start and the end of each token's span, int64[2, n]."""
        assert batch.offsets is not None
        template = self.template(layout.options.special, ("offset",), layout.options.filler)
        return np.concatenate([layout.put(np.ascontiguousarray(side), template) for side in batch.offsets.T])


class Rows:
    """The data that the rows of a batch share. Rows are cheap to make, because each member is computed at its first use.

    Args:
        begins: the index of each row's first token in the concatenated rows, and the number of all tokens.
        texts: the number of texts in each row.
        plane: a function that returns a field of `Encoding.table` (`IDS` to `SEQUENCE`) for the tokens of all rows.
        names: a function from the first four fields to the names of all tokens; None if only `trace` can compute them.
        trace: a function that returns all rows with all fields, and with the rows that truncation has cut off.
    """

    def __init__(
        self,
        begins: list[int],
        texts: list[int],
        plane: Callable[[int], Ints],
        names: Callable[[Ints], list[str | None] | None],
        trace: Callable[[], Sequence[Encoding]],
    ) -> None:
        self.begins, self.texts = begins, texts
        self._plane, self._names, self._trace = plane, names, trace
        self._planes: dict[int, Ints] = {}

    def encodings(self) -> list[Encoding]:
        """The rows."""
        return list(map(Row, repeat(self), range(len(self.texts)), self.begins, self.begins[1:]))

    @Lazy
    def ids(self) -> NDArray[Any]:
        """The ids of all rows."""
        ids = self.plane(IDS)
        return _numbers()[ids] if len(ids) >= MANY and int(ids.max()) < SHARED else ids

    def plane(self, field: int) -> Ints:
        """Return a field of `Encoding.table` for the tokens of all rows."""
        if field not in self._planes:
            self._planes[field] = self._plane(field)
        return self._planes[field]

    @Lazy
    def tokens(self) -> list[str | None] | None:
        """The names of the tokens of all rows; None if names depend on the texts."""
        return self._names(np.stack([self.plane(field) for field in (IDS, TYPE_IDS, ATTENDED, SPECIAL)]))

    @Lazy
    def traced(self) -> Sequence[Encoding]:
        """All rows, with all fields."""
        return self._trace()


class Row(Encoding):
    """A row whose members are computed at the first use.

    Args:
        rows: the data that all rows share.
        number: the number of the row.
        begin, end: the index of the row's first token in the concatenated rows, and one past its last token.
    """

    def __init__(self, rows: Rows, number: int, start: int, end: int) -> None:
        self._rows, self._number, self._begin, self._end = rows, number, start, end

    def __getattr__(self, name: str) -> Any:
        if name in ("table", "cut_off"):
            made = getattr(self._rows.traced[self._number], name)
        elif name == "_tokens":
            tokens = self._rows.tokens
            made = [*self._rows.traced[self._number].tokens] if tokens is None else tokens[self._begin : self._end]
        elif name == "n_sequences":
            made = self._rows.texts[self._number]
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)[name] = made
        return made

    def __len__(self) -> int:
        return super().__len__() if "table" in vars(self) else self._end - self._begin

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._list(IDS) if "table" in vars(self) else self._rows.ids[self._begin : self._end].tolist()

    def _list(self, field: int) -> list[int]:
        if "table" in vars(self) or field > SEQUENCE:
            return super()._list(field)
        listed: list[int] = self._rows.plane(field)[self._begin : self._end].tolist()
        return listed


@cache
def _numbers() -> NDArray[Any]:
    """Return the numbers below `SHARED` as Python objects, so that lists of ids share these objects."""
    return np.arange(SHARED).astype(object)


def _batch(model: Model, inputs: Inputs, options: Options, with_spans: bool, threads: int | None) -> Batch:
    """Encode texts; with `with_spans`, include spans."""
    try:
        max_ids = None if inputs.paired else options.max_ids
        return model._encode(rows_of(inputs.texts), special_ids=NO_SPECIAL_IDS, with_spans=with_spans, max_ids=max_ids, threads=threads)
    except TextError as error:
        raise not_text(inputs) or error from None


def _encoded(model: Model, inputs: Inputs, options: Options, threads: int | None) -> tuple[Ids, Ints]:
    """Encode texts; return the ids, possibly followed by unused elements, and the row splits."""
    short = _encoded_short(model, inputs.texts)
    if short:
        return short
    batch = _batch(model, inputs, options, False, threads)
    return batch.ids, batch.row_splits


def _encoded_short(model: Model, texts: Sequence[Any]) -> tuple[Ids, Ints] | None:
    """Encode a few short texts without the overhead of a batch; return the result of `_encoded`.

    Return None if there are too many texts, if a text is too long or malformed, or if it is uncertain that kernels can read the texts in
    place.
    """
    if not 0 < len(texts) <= FEW_TEXTS or not model._ids_runner.is_plain:
        return None
    return model._ids_runner.encode_texts(texts, Limits(SHORT_TEXTS, SHORT_TEXTS, len(texts)), NO_SPECIAL_IDS)


def _by_sample(rows: Sequence[Encoding], samples: Ints) -> list[list[Encoding]]:
    """Divide rows into one list for each sample; `samples` ascends."""
    ends = np.cumsum(np.bincount(samples)).tolist()
    return [[*rows[start:end]] for start, end in pairwise([0, *ends])]


def _others(windows: Callable[[], list[list[Encoding]]], sample: int) -> list[Encoding]:
    """Return all windows of a sample except the first."""
    return windows()[sample][1:]


def _word_numbers(batch: Batch, inputs: Inputs, options: Options) -> NDArray[np.int32]:
    """Return the index of each id's word in its text."""
    if not options.words:
        assert batch.words is not None
        return batch.words
    begins, ends = inputs.samples[:, 0:4:2].T.ravel(), inputs.samples[:, 1:4:2].T.ravel()
    numbers = np.arange(len(inputs.texts)) - np.repeat(begins, ends - begins)
    return np.repeat(numbers, np.diff(batch.row_splits)).astype(np.int32)


def _no_places(count: int) -> Ints:
    """Make the last three fields of `Encoding.table` for tokens whose words and spans are not computed."""
    return np.concatenate([np.full((1, count), -1, np.int64), np.zeros((2, count), np.int64)])
