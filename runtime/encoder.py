"""The base class of all public classes that encode texts into ids."""

from __future__ import annotations

from operator import index
from typing import Any, ClassVar

import numpy as np

from fst.core.lazy import Lazy
from fst.core.threads import thread_count
from fst.errors import UnsupportedError, not_one_of, quoted
from fst.runtime.front_end import Pending
from fst.runtime.randomness import Randomness
from fst.runtime.rows.batch import Batch, Job
from fst.runtime.rows.overflow import in_windows, window
from fst.runtime.rows.texts import MOST_UNITS, Ints, Source, Texts, batch_of, check, listed, rows_of
from fst.runtime.rows.trim import cut, in_bytes
from fst.runtime.run import Runner, capacity_for
from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.short_texts import ShortTexts, can_be_short
from fst.runtime.stream import Stream
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids, SpecialIds, Workspace, Workspaces
from fst.tables.kernel_call import SHORT

OFFSETS = (False, True, "chars", "bytes")


class Encoder:
    """An encoder of texts. An encoder is immutable, so threads can share it without a lock.

    Args:
        table: the table of any machine; for a file use `fst.load`.
    """

    _special_ids = NO_SPECIAL_IDS
    _kinds_of_randomness: ClassVar[tuple[type, ...]] = ()

    def __init__(self, table: Any) -> None:
        self._table = table

    def encode(
        self,
        text: str | bytes,
        *,
        add_special_tokens: bool = True,
        errors: str = "strict",
        randomness: Randomness | None = None,
    ) -> Ids:
        """Encode one text into ids.

        Args:
            text: str, or bytes in UTF-8.
            add_special_tokens: add [CLS] before and [SEP] after the text, or the vocabulary's equivalents.
            errors: "strict", or "replace": U+FFFD replaces lone surrogates and bytes that are not UTF-8.
            randomness: draw the ids at random, with `fst.Dropout` for byte-level BPE or `fst.Sampling` for Unigram. None: no randomness.

        Returns:
            int32[n].

        Raises:
            TextError: the argument is not text.
            UnsupportedError: the vocabulary does not support this kind of randomness.
            ValueError: `errors` has an unknown value, or alpha is too large for the scores of the vocabulary.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> fst.Tokenizer(wordpiece(["[UNK]", "un", "##able"])).encode("unable unfit")
            array([1, 2, 0], dtype=int32)
        """
        if type(text) is str and errors == "strict" and randomness is None:
            short = self._short_texts if add_special_tokens else self._bare_short_texts
            ids = short.encode(text) if short else None
            if ids is not None:
                return ids
        special_ids, drawn = self._special_ids if add_special_tokens else NO_SPECIAL_IDS, self._seeded(randomness)
        return self._encode(rows_of(batch_of(text)), special_ids=special_ids, threads=1, errors=errors, randomness=drawn).ids

    def encode_batch(
        self,
        texts: Texts,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        offsets: bool | str = False,
        threads: int | None = None,
        errors: str = "strict",
        randomness: Randomness | None = None,
    ) -> Batch:
        """Encode many texts into ids.

        Args:
            texts: an iterable, such as a list, a Series, an array or a generator; all items are str, or all items are bytes in UTF-8.
            add_special_tokens: as in `encode`.
            max_length: the maximum number of ids in a row, special tokens included; ids beyond it are cut off at the end. Little of the
                text after the cut is read. So a long text takes no longer than a short text, and malformed text after the cut may not be
                detected.
            offsets: also return the word and the span of each id, in characters (True or "chars") or in bytes of UTF-8 ("bytes"). If
                `errors` is "replace", U+FFFD counts as one character, or as the bytes that it replaces.
            threads: the maximum number of threads, which does not change the ids. None: the value of the environment variable
                ``FST_NUM_THREADS``, which is read at each call; if the variable is not set, the number of cores that affinity and control
                groups allow this process.
            errors: as in `encode`.
            randomness: as in `encode`. The random numbers depend only on the seed, the number of the row and the position in the row, but
                not on the number of threads or on other rows. A single long text uses one thread.

        Returns:
            The ids of all texts, the bounds of the rows, and with `offsets` the span and the word of each id.

        Raises:
            TextError: a row is not text; the message contains the row's number. Or `texts` is a single text, a data frame, or not iterable.
            UnsupportedError: `offsets` is set, but two tokens of different lengths have the same id; or `randomness` as in `encode`.
            ValueError: `threads` or ``FST_NUM_THREADS`` is not a whole number of at least 1; `max_length` is less than the number of
                special tokens around a text; `offsets` has an unknown value; or as in `encode`.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> batch = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able"])).encode_batch(["unable", "", "un un"])
            >>> batch.ids, batch.row_splits
            (array([1, 2, 1, 1], dtype=int32), array([0, 2, 2, 4]))
        """
        if offsets not in OFFSETS:
            raise ValueError(not_one_of("offsets", offsets, OFFSETS))
        special_ids = self._special_ids if add_special_tokens else NO_SPECIAL_IDS
        max_ids = _max_ids(max_length, special_ids)
        texts = texts if type(texts) is list else listed(texts)
        rows = rows_of(texts)
        batch = self._encode(
            rows,
            special_ids=special_ids,
            with_spans=bool(offsets),
            max_ids=max_ids,
            threads=threads,
            errors=errors,
            randomness=self._seeded(randomness),
        )
        if max_ids is not None:
            batch = cut(batch, max_ids, special_ids[1])
        return in_bytes(batch, texts, errors) if offsets == "bytes" else batch

    def encode_arrow(
        self,
        column: Any,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        stride: int | None = None,
        offsets: bool = False,
        padding: bool = False,
        threads: int | None = None,
        errors: str = "strict",
        randomness: Randomness | None = None,
    ) -> Any:
        """Encode a column of texts into a column of ids, without a copy of either column. This method needs pyarrow.

        Args:
            column: an Array or ChunkedArray of pyarrow, or an object with Arrow's PyCapsule interface, such as a column of polars, pandas
                or DuckDB. Columns of UTF-8 with the type ``string``, ``large_string``, ``binary`` or ``large_binary`` are read in place.
                Other possible types are ``string_view``, ``binary_view``, and a ``dictionary`` of any of these.
            add_special_tokens, max_length, threads, errors, randomness: as in `encode_batch`; nulls do not count as rows.
            stride: split texts of more than `max_length` ids into windows that overlap by `stride` ids. None: remove the ids after the
                first `max_length`.
            offsets: also return the span of each id in characters.
            padding: pad rows, or windows, to `max_length`.

        Returns:
            ``list<int32>``; with `offsets` ``list<struct<id, start, end: int32>>``; with `padding` ``fixed_size_list<int32>[max_length]``;
            with `stride`, each row is a list of these values, one for each window. Null rows stay null. The result for an Array is an
            Array; the result for any other column is a ChunkedArray with the same chunks.

        Raises:
            TextError: a row is not text, or the column is not a column of texts; the message contains the row's number or the type.
            UnsupportedError: `randomness` as in `encode`.
            ValueError: as in `encode_batch`; `padding` or `stride` is set without `max_length`; `padding` is set with `offsets`, or the
                vocabulary has no padding token; or `stride` is so large that a window has no new ids.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able"]))
            >>> tok.encode_arrow(pa.array(["unable", None, "un un"])).to_pylist()
            [[1, 2], None, [1, 1]]
            >>> tok.encode_arrow(pa.array(["un unable"]), max_length=2, stride=1).to_pylist()
            [[[1, 1], [1, 2]]]
        """
        from fst.runtime.rows.arrow import Filling, encoded, windowed

        if padding and max_length is None:
            raise ValueError("padding=True needs max_length")
        if padding and offsets:
            raise ValueError("padding=True cannot be combined with offsets=True")
        special_ids = self._special_ids if add_special_tokens else NO_SPECIAL_IDS
        max_ids, drawn = _max_ids(max_length, special_ids), self._seeded(randomness)
        step = None if stride is None else window(max_ids, stride, special_ids)

        def encode_rows(rows: Source) -> Batch:
            nonlocal drawn
            around, most = (special_ids, max_ids) if step is None else (NO_SPECIAL_IDS, None)
            batch = self._encode(
                rows, special_ids=around, with_spans=offsets, max_ids=most, threads=threads, errors=errors, randomness=drawn
            )
            drawn = drawn and drawn.after(len(rows))
            return batch if most is None else cut(batch, most, special_ids[1])

        filling = Filling(max_ids, *self._padding()) if padding and max_ids is not None else None
        if step is None:
            return encoded(column, encode_rows, filling, with_spans=offsets, by_row=drawn is not None)
        return windowed(column, lambda rows: in_windows(encode_rows(rows), step), filling, with_spans=offsets, by_row=drawn is not None)

    def count_tokens(
        self,
        texts: Texts,
        *,
        add_special_tokens: bool = True,
        threads: int | None = None,
        errors: str = "strict",
        randomness: Randomness | None = None,
    ) -> Ints:
        """Count the ids of each text. The ids are not stored, so memory does not grow with the texts.

        Args:
            texts, add_special_tokens, threads, errors, randomness: as in `encode_batch`.

        Returns:
            int64[rows].

        Raises:
            TextError, UnsupportedError, ValueError: as in `encode_batch`.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> fst.Tokenizer(wordpiece(["[UNK]", "un", "##able"])).count_tokens(["unable", "", "un un"])
            array([2, 0, 2])
        """
        special_ids = self._special_ids if add_special_tokens else NO_SPECIAL_IDS
        rows, drawn = rows_of(listed(texts)), self._seeded(randomness)
        counted = self._encode(rows, special_ids=special_ids, threads=threads, errors=errors, counted=True, randomness=drawn)
        return np.diff(counted.row_splits)

    def stream(self, *, add_special_tokens: bool = True, offsets: bool = False, errors: str = "strict") -> Stream:
        """Encode one text that arrives in parts. The ids equal those of `encode`; each id is returned as soon as it is certain.

        Args:
            add_special_tokens: as in `encode`.
            offsets: also return the span and the word of each id in the whole text.
            errors: as in `encode`.

        Returns:
            A stream with the methods `write`, `read` and `close`; only one thread at a time may call them. The stream's memory does not
            grow with the text (see `fst.runtime.stream`), except for ids that are not read.

        Raises:
            UnsupportedError: `offsets` is set, but two tokens of different lengths have the same id.
            ValueError: `errors` has an unknown value, or `offsets` is neither True nor False.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> stream = fst.Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "fit"])).stream()
            >>> stream.write("una")
            >>> stream.write("ble fi")
            >>> stream.read().ids
            array([1, 3, 4], dtype=int32)
            >>> stream.write("t")
            >>> stream.close().ids
            array([5, 2], dtype=int32)
        """
        check(errors)
        if offsets not in (False, True):
            raise ValueError(not_one_of("offsets of a stream", offsets, (False, True)))
        special_ids = self._special_ids if add_special_tokens else NO_SPECIAL_IDS
        runner = self._spans_runner if offsets or not self._table.encodes_all else self._ids_runner
        return Stream(runner, self._pending(runner), special_ids, errors, self._trim, gives_spans=bool(offsets))

    def _encode(
        self,
        source: Source,
        *,
        special_ids: SpecialIds,
        with_spans: bool = False,
        max_ids: int | None = None,
        counted: bool = False,
        threads: int | None = None,
        errors: str = "strict",
        randomness: Randomness | None = None,
    ) -> Batch:
        """Encode rows. The arguments `max_ids` and `counted` are as in `fst.runtime.rows.batch.Job`; `randomness` has a seed."""
        if threads is not None:
            thread_count(threads)
        check(errors)
        if randomness:
            runner = self._random_runner(randomness, with_spans)
            max_ids = None if randomness.needs_whole_rows else max_ids
        else:
            runner = self._spans_runner if with_spans else self._ids_runner
        may_cut = not randomness and (runner.front_end is None or runner.front_end.keeps_cuts)
        cuts = self._safe_cuts if may_cut else None
        return Job(source, special_ids, errors, runner, max_ids, counted, cuts).run(threads)

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        """The positions at which long texts may be cut; None if the machine has no safe cuts."""
        return None

    @Lazy
    def _workspaces(self) -> Workspaces:
        table = self._table
        short = capacity_for(table.ids_per_unit, SHORT * MOST_UNITS[table.unit], 1, self._special_ids)
        return Workspaces(lambda: Workspace(table.work(), table.unit, short))

    @Lazy
    def _ids_runner(self) -> Runner:
        return Runner(self._table, self._table.arguments(), self._workspaces)

    @Lazy
    def _short_texts(self) -> ShortTexts | None:
        return ShortTexts(self._ids_runner, self._special_ids) if can_be_short(self._ids_runner) else None

    @Lazy
    def _bare_short_texts(self) -> ShortTexts | None:
        return ShortTexts(self._ids_runner, NO_SPECIAL_IDS) if can_be_short(self._ids_runner) else None

    @Lazy
    def _spans_runner(self) -> Runner:
        raise UnsupportedError(f"offsets are not available for {self._table.kind} tables, which give ids alone")

    def _seeded(self, randomness: Randomness | None) -> Randomness | None:
        """Return the randomness of a call, with a seed."""
        if randomness is None:
            return None
        if not isinstance(randomness, self._kinds_of_randomness):
            known = " or ".join((*(f"fst.{kind.__name__}" for kind in self._kinds_of_randomness), "None"))
            raise UnsupportedError(f"randomness is {quoted(randomness)}; expected {known} for {self._table.kind} tables")
        return randomness.seeded()

    def _random_runner(self, randomness: Any, with_spans: bool) -> Runner:
        """Return a runner for a call with randomness; the type of `randomness` is one of `_kinds_of_randomness`."""
        raise NotImplementedError

    def _pending(self, runner: Runner) -> Pending | None:
        """Return a test for pending text, which a stream must store; None if pending text is never long."""
        return runner.front_end.pending() if runner.front_end else None

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:
        """For some machines, remove the spaces at the ends of tokens from `offsets`; `firsts` contains the index of each text's first
        id.
        """

    def _padding(self) -> tuple[int, str]:
        """Return the id of the padding token, and the side where padding is added."""
        raise ValueError(f"padding is True; expected False, because {self._table.kind} tables have no padding token")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table. Pickles of equal tables are equal bytes; unpickling proves the table again."""
        return type(self), (self._table,)

    def __copy__(self) -> Any:
        """Return the same object, because it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _max_ids(max_length: Any, special_ids: SpecialIds) -> int | None:
    """Check `max_length`, and return it as an int. The limit includes special ids."""
    if max_length is None:
        return None
    try:
        max_ids, added = index(max_length), len(special_ids[0]) + len(special_ids[1])
    except TypeError:
        raise ValueError(f"max_length is {quoted(max_length)}; expected a whole number") from None
    if max_ids < added:
        raise ValueError(f"max_length is {max_ids}; expected at least {added}, the number of special tokens around a text")
    return max_ids
