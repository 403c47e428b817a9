"""The rewriter, which writes a new text for each text: by rewrite rules, or by the best path through a weighted transducer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.core.lazy import Lazy
from fst.core.threads import thread_count
from fst.errors import TextError, UnsupportedError, counted
from fst.runtime.public_class import PublicClass
from fst.runtime.rewriting.rows import NO_SPANS, Rewriting, Rows
from fst.runtime.rewriting.stream import RewriteStream
from fst.runtime.rows.strings import strings_of
from fst.runtime.rows.texts import CAPACITY, Bytes, Column, Ints, Limits, Source, Texts, batch_of, check, listed, rows_of, units, whole
from fst.runtime.workspace import Ids
from fst.tables.table import Table

if TYPE_CHECKING:
    from fst.bridge.rules import Explanation

CHUNK = Limits(1 << 16, 1 << 16)  # limits for the rows that a thread rewrites at a time, so that these rows fit into the cache of a core
SHARE = 1 << 10  # maximum number of rows in the task of a thread
MIN_SHARE = 1 << 18  # minimum number of characters or bytes per thread; rewriting fewer takes less time than to wake up a thread
TASKS = 4  # minimum number of tasks per thread, so that all threads end at nearly the same time


@dataclass(frozen=True, eq=False)
class Rewritten:
    """The new texts of a batch, with the place in the old text from which each character comes.

    Attributes:
        texts: the new texts.
        offsets: int32[n, 2]. For each character of the new texts, the span of the characters that became this character, in the old text of
            its row: the first character, and one past the last. All characters of a string that replaced a match have the span of the
            match; the span of an inserted character is empty. In a best path, the span is that of the character that was read last when the
            new character was written.
        row_splits: int64[rows + 1]; the spans of row r are ``offsets[row_splits[r]:row_splits[r + 1]]``.
    """

    texts: list[str]
    offsets: Ids
    row_splits: Ints

    def __len__(self) -> int:
        return len(self.texts)


class Rewriter(PublicClass):
    """A rewriter writes a new text for each text, by rewrite rules or by the best path through a weighted transducer. A rewriter is
    immutable, so that threads can share it without a lock.

    Args:
        table: a result of `fst.compile.rewrite`, `fst.compile.cascade` or `fst.compile.best_path`. For a table file, use `load`.

    Raises:
        UnsupportedError: the table belongs to another public class.

    Examples:
        >>> from fst.compile import cascade, rewrite
        >>> rules = cascade(rewrite({"ch": "tʃ", "rr": "r", "r": "ɾ"}), rewrite("s -> z / _ [bdg]"))
        >>> Rewriter(rules).apply("chorro mismo desde")
        'tʃoro mismo dezde'
    """

    _compiler = "rewrite"

    def __init__(self, table: Table) -> None:
        self._table = table
        self._idle: list[Work] = []

    def __repr__(self) -> str:
        sizes = [counted(size, name.removesuffix("s")) for name, size in self._table.summary.items() if isinstance(size, int)]
        return f"<fst.Rewriter of {self._table.kind}: {', '.join(sizes)}>"

    def apply(self, text: str | bytes, *, errors: str = "strict") -> str:
        """Rewrite one text.

        Args:
            text: str, or bytes in UTF-8.
            errors: "strict", or "replace": U+FFFD replaces lone surrogates and bytes that are not UTF-8.

        Returns:
            The new text, a str.

        Raises:
            TextError: the argument is not text, or has no path through the transducer; or the new text has more than 4 GiB.
            ValueError: `errors` has an invalid value.

        Examples:
            >>> from fst.compile import rewrite
            >>> Rewriter(rewrite("a -> b / c _")).apply("caca a")
            'cbcb a'
        """
        return self.apply_batch(batch_of(text), threads=1, errors=errors)[0]

    def apply_batch(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> list[str]:
        """Rewrite many texts.

        Args:
            texts: as in `fst.Tokenizer.encode_batch`.
            threads: as in `fst.Tokenizer.encode_batch`.
            errors: as in `apply`.

        Returns:
            The new texts.

        Raises:
            TextError: a row is not text, or has no path; the message contains the row's number. Or the new texts are too long, as in
                `apply`.
            ValueError: `threads` or `errors` has an invalid value.

        Examples:
            >>> from fst.compile import rewrite
            >>> Rewriter(rewrite("a -> b / c _")).apply_batch(["ca", "", "ac"])
            ['cb', '', 'ac']
        """
        batch = listed(texts)

        def decoded(rows: Rows) -> list[str]:
            return strings_of(rows.text, rows.starts, batch[rows.first : rows.first + len(rows.starts) - 1])

        return [*chain.from_iterable(self._each(rows_of(batch), decoded, threads, errors))]

    def align_batch(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> Rewritten:
        """Rewrite many texts, and find the characters that each new character comes from.

        Args:
            texts, threads, errors: as in `apply_batch`.

        Raises:
            TextError, ValueError: as in `apply_batch`.

        Examples:
            >>> from fst.compile import rewrite
            >>> found = Rewriter(rewrite({"ch": "tʃ", "h": ""})).align_batch(["hacha"])
            >>> found.texts, found.offsets.tolist()
            (['atʃa'], [[1, 2], [2, 4], [2, 4], [4, 5]])
        """
        parts = self._each(rows_of(listed(texts)), _aligned, threads, errors, with_spans=True)
        counts = [part[2] for part in parts]
        return Rewritten(
            [text for part in parts for text in part[0]],
            np.concatenate([np.empty((0, 2), np.int32), *(part[1] for part in parts)]),
            np.concatenate([np.zeros(1, np.int64), *counts]).cumsum(),
        )

    def apply_arrow(self, column: Any, *, threads: int | None = None, errors: str = "strict") -> Any:
        """Rewrite a column of texts. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            threads, errors: as in `apply_batch`.

        Returns:
            A column of the same type, with the same chunks; null rows stay null.

        Raises:
            TextError, ValueError: as in `apply_batch`; or the column does not contain texts, or the new texts are too long for its type.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import rewrite
            >>> Rewriter(rewrite("a -> b / c _")).apply_arrow(pa.array(["ca", None])).to_pylist()
            ['cb', None]
        """
        from fst.runtime.rows.arrow import rewritten

        def rewrite(rows: Column) -> tuple[Ints, Callable[[], Bytes]]:
            parts = self._each(rows, _copied, threads, errors)
            sizes = [np.diff(part.starts) for part in parts]
            ends = np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()
            return ends, lambda: np.concatenate([np.empty(0, np.uint8), *(part.text for part in parts)])

        return rewritten(column, rewrite)

    def ties(self, text: str, *, limit: int = 100) -> list[str]:
        """Find all new texts whose paths have the least weight: the text that `apply` returns, and the other texts.

        The paths are found by a slow walk. So this method is for short texts.

        Args:
            text: the text.
            limit: maximum number of new texts, 1 or more.

        Returns:
            The text that `apply` returns, and then the other texts in the order of their code points. Rules give one text.

        Raises:
            TextError: as in `apply`; or one of the new texts is not UTF-8.
            ValueError: `limit` is less than 1.

        Examples:
            >>> import fst
            >>> from fst.compile import best_path
            >>> words = [("100", "one hundred", 1.0), ("100", "a hundred", 1.0), ("100", "hundred", 1.5)]
            >>> Rewriter(best_path(fst.Fst.from_strings(words))).ties("100")
            ['a hundred', 'one hundred']
        """
        if limit < 1:
            raise ValueError(f"limit is {limit}; expected 1 or more")
        first = self.apply(text)
        table: Any = self._table
        if not table.ties:
            return [first]
        try:
            found = [data.decode() for data in resolve_name(table.ties)(table, text.encode(), limit)]
        except UnicodeDecodeError:
            raise TextError("a new text of least weight is not UTF-8; expected arcs that write complete characters") from None
        return [first, *(new for new in found if new != first)][:limit]

    def explain(self, text: str) -> Explanation:
        """Explain what the rules do with a text: which rule matched where, and which context failed.

        The rules are applied slowly, by their definition. So this method is for short texts.

        Returns:
            The text that each stage reads, the final text, and the matches; see `fst.bridge.rules.Explanation`. When printed, the
            explanation has a line for each of these.

        Raises:
            UnsupportedError: the table contains no rules, but a transducer.

        Examples:
            >>> from fst.compile import cascade, rewrite
            >>> rules = cascade(rewrite("rr -> R"), rewrite("r -> ɾ / [aeiou] _ [aeiou]"), rewrite("R -> r"))
            >>> print(Rewriter(rules).explain("raro perro"))
            raro perro
              7-9 'rr'  rr -> R  applied: 'R'
            raro peRo
              0-1 'r'  r -> ɾ / [aeiou] _ [aeiou]  left context fails
              2-3 'r'  r -> ɾ / [aeiou] _ [aeiou]  applied: 'ɾ'
            raɾo peRo
              7-8 'R'  R -> r  applied: 'r'
            raɾo pero
        """
        from fst.bridge.rules import explained

        table: Any = self._table
        if not hasattr(table, "stages"):
            raise UnsupportedError(f"the table is of kind {table.kind!r}; expected a table of rewrite rules")
        return explained(table, text)

    def stream(self, *, errors: str = "strict") -> RewriteStream:
        """Rewrite one text that arrives in pieces, into the same new text as in a single call.

        New text can be read as soon as no later input can change it. The stream stores the text after the last separating character: the
        texts before and after such a character do not affect each other. An example is a character that no rule names. So the stream's
        memory does not grow with the text, unless a rule reads every character.

        Args:
            errors: as in `apply`.

        Raises:
            ValueError: `errors` has an invalid value.

        Examples:
            >>> from fst.compile import rewrite
            >>> stream = Rewriter(rewrite("a -> b / _ c")).stream()
            >>> stream.write("x a")
            >>> stream.read()
            'x '
            >>> stream.write("ca")
            >>> stream.close()
            'bca'
        """
        check(errors)
        return RewriteStream(self._rewriting.parts(), errors)

    def _each(
        self, source: Source, result: Callable[[Rows], Any], threads: int | None, errors: str, *, with_spans: bool = False
    ) -> list[Any]:
        """Rewrite all rows, some at a time; call the function `result` with the new rows, and return its results in order."""
        check(errors)
        count = thread_count(threads)
        if count > 1:
            count = min(count, 1 + sum(source.lengths(1)) // MIN_SHARE)
        size = max(1, min(SHARE, len(source) // (TASKS * count))) if count > 1 else max(len(source), 1)
        tasks = [(first, min(first + size, len(source))) for first in range(0, len(source), size)]

        def run(task: tuple[int, int]) -> list[Any]:
            work = self._take()
            found = [result(rows) for rows in self._rewritten(source, *task, work, errors, with_spans)]
            self._idle.append(work)
            return found

        if count == 1:
            return [part for task in tasks for part in run(task)]
        with ThreadPoolExecutor(count) as pool:
            return [part for parts in pool.map(run, tasks) for part in parts]

    def _rewritten(self, source: Source, first: int, last: int, work: Work, errors: str, with_spans: bool) -> Iterator[Rows]:
        """Rewrite the rows from `first` to `last`, some at a time. Each result must be used before the next."""
        most = SHARE  # maximum number of rows at a time, since a source first copies references to all rows of a call
        while first < last:
            text, starts = source.gather(first, min(first + most, last), CHUNK, work.text, errors)
            most = 2 * len(starts)
            if len(starts) == 1:  # a row that exceeds the limits
                text = units(whole(source, first, errors), work.text.dtype)
                starts = np.array([0, len(text)])
            spans = _spans(text, starts) if with_spans else NO_SPANS
            yield self._rewriting.run(Rows(text, starts, spans, first), work.buffers)
            first += len(starts) - 1

    def _take(self) -> Work:
        """Take the arrays of a thread, or make them."""
        try:
            return self._idle.pop()
        except IndexError:
            return Work(self._rewriting.buffers())

    @Lazy
    def _rewriting(self) -> Rewriting:
        table: Any = self._table
        found: Rewriting = resolve_name(table.rewriting)(table)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._table,)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Work:
    """The arrays of one thread.

    Attributes:
        text: uint8[n], for rows of text.
        buffers: for rows that are rewritten.
    """

    def __init__(self, buffers: Any) -> None:
        self.text, self.buffers = np.empty(CAPACITY["utf-8"], np.uint8), buffers


def _spans(text: Bytes, starts: Ints) -> Ids:
    """The spans of the bytes of rows: each byte has the span of its character; see `Rows.spans`."""
    numbers = np.cumsum(_begins(text)) - 1
    firsts = np.append(numbers, len(text))[starts[:-1]]
    numbers -= np.repeat(firsts, np.diff(starts))
    spans = np.zeros((len(text) + 1, 2), np.int32)
    spans[:-1, 0], spans[:-1, 1] = numbers, numbers + 1
    return spans.ravel()


def _aligned(rows: Rows) -> tuple[list[str], Ids, Ints]:
    """The rows as str, the span of each character, and the number of characters of each row."""
    begins = _begins(rows.text)
    counts = np.diff(np.append(0, np.cumsum(begins))[rows.starts])
    return strings_of(rows.text, rows.starts), rows.spans.reshape(-1, 2)[:-1][begins], counts


def _begins(text: Bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """bool[n], whether a character begins at each byte."""
    found: np.ndarray[Any, np.dtype[np.bool_]] = text & 0xC0 != 0x80
    return found


def _copied(rows: Rows) -> Rows:
    """Copies of rows, in new arrays."""
    return Rows(rows.text.copy(), rows.starts)
