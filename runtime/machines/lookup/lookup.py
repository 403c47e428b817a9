"""Look-up: all analyses of a word, or all words of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError, counted, not_one_of, quoted
from fst.machines.lookup.layout import MAX_ANALYSES
from fst.machines.lookup.table import LookupTable
from fst.runtime.machines.lookup.analyses import Analyses
from fst.runtime.machines.lookup.encoder import LookupEncoder
from fst.runtime.machines.lookup.spelling import Strings, finder, spelled
from fst.runtime.machines.lookup.streams import Blanks, parsed_rows, stream_of, streams
from fst.runtime.machines.lookup.text import TextEncoder, Token, tokens_of, with_hyphens, without_hyphens
from fst.runtime.public_class import PublicClass
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import PAST_END, Bytes, Ints, Source, Texts, batch_of, check, listed, rows_of, whole
from fst.runtime.short_texts import can_prepare

if TYPE_CHECKING:
    from typing_extensions import Self

CASES, UNKNOWN = ("exact", "fold"), (None, "copy")


class Lookup(PublicClass):
    """A look-up finds all outputs of a transducer for a word, such as its morphological analyses. A look-up is immutable, so that threads
    can share it without a lock.

    Args:
        table: a result of `fst.compile.lookup`. For a table file, use `load`.

    Raises:
        UnsupportedError: the table is not for look-up.

    Examples:
        >>> from fst.compile import lookup
        >>> words = Lookup(lookup({"flies": ["fly+N+Pl", "fly+V+3Sg"], "fly": ["fly+N+Sg"]}, inverse=True))
        >>> words("flies")
        ['fly+N+Pl', 'fly+V+3Sg']
        >>> words.lookup_batch(["fly", "bee"])[0]
        ['fly+N+Sg']
        >>> words.inverted()("fly+N+Pl")
        ['flies']
    """

    _compiler = "lookup"

    def __init__(self, table: LookupTable) -> None:
        self._table = table
        self._encoder = LookupEncoder(table)

    def __repr__(self) -> str:
        return f"<fst.Lookup, {'generation' if self._encoder.inverse else 'analysis'}, {counted(self._table.arc_count, 'arc')}>"

    def inverted(self) -> Self:
        """The look-up in the other direction, which generates words if this look-up analyses words.

        Raises:
            UnsupportedError: the table contains only one direction.
        """
        if self._table.metadata.settings.generator is None:
            raise UnsupportedError("the table contains only analysis; expected both directions; compile it with inverse=True or --inverse")
        other = type(self)(self._table)
        other._encoder = LookupEncoder(self._table, inverse=not self._encoder.inverse, like=self._encoder)
        return other

    def __call__(self, word: str | bytes, *, limit: int | None = None, case: str = "exact", unknown: str | None = None) -> list[str]:
        """Look up one word.

        Args:
            word: str, or bytes in UTF-8.
            limit, case, unknown: as in `lookup_batch`.

        Returns:
            The analyses, each once; in a weighted table, the smallest weight first. An unknown word has no analyses.

        Raises:
            TextError: the argument is not text, or as in `lookup_batch`.
            ValueError: as in `lookup_batch`.
        """
        if type(word) is str and limit is None and case == "exact" and unknown is None:
            short = self._find(word)
            if short is not None:
                return short
        _check(case, unknown)
        batch = self._limited(limit).look_up(rows_of(batch_of(word)), 1, "strict", folds=case == "fold")
        found = spelled(batch.ids.tolist(), self._pieces, weighted=self._table.is_weighted)
        if found or unknown is None:
            return found
        return [word if isinstance(word, str) else str(word, "utf-8")]

    def lookup_batch(
        self,
        words: Texts,
        *,
        limit: int | None = None,
        case: str = "exact",
        unknown: str | None = None,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Analyses:
        """Look up many words.

        Args:
            words: as in `fst.Tokenizer.encode_batch`.
            limit: the maximum number of analyses of a word, 1 to 4096; None: 4096. `Analyses.is_complete` is False for words that may have
                more analyses.
            case: "exact"; or "fold": a word without analyses is looked up in lower case if only its first letter is in upper case; if all
                letters are in upper case, the word is looked up first with a capital, then in lower case. These are the rules of Hunspell.
            unknown: None: a word without analyses has an empty list; or "copy": its list contains the word.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Returns:
            The analyses of each word, as a sequence of lists of str, and as arrays.

        Raises:
            TextError: a row is not text, or a word takes more than a million steps, because its flag diacritics have too many combinations;
                the message contains the row's number.
            ValueError: `limit`, `case`, `unknown`, `threads` or `errors` has an invalid value.
        """
        _check(case, unknown)
        texts = listed(words)
        return self._analyses(rows_of(texts), [*texts] if unknown else None, limit, case, threads, errors)

    def lookup_arrow(self, column: Any, *, limit: int | None = None, case: str = "exact", threads: int | None = None) -> Any:
        """Look up a column of words. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            limit, case, threads: as in `lookup_batch`.

        Returns:
            ``list<string>``; null rows stay null. For an Array, the result is an Array; for any other column, a ChunkedArray with the same
            chunks.

        Raises:
            TextError: as in `lookup_batch`, or the column does not contain texts; the message contains the row's number or the column's
                type.
            ValueError: as in `lookup_batch`.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import lookup
            >>> Lookup(lookup({"flies": ["fly+N", "fly+V"]})).lookup_arrow(pa.array(["flies", None, "bee"])).to_pylist()
            [['fly+N', 'fly+V'], None, []]
        """
        from fst.runtime.rows.arrow import looked_up

        _check(case, None)

        def look_up(rows: Source) -> tuple[Bytes, Ints, Ints]:
            found = self._analyses(rows, None, limit, case, threads, "strict")
            return *found.strings(), found.row_splits

        return looked_up(column, look_up)

    def analyze_text(self, text: str | bytes, *, limit: int | None = None, errors: str = "strict") -> list[Token]:
        """Find the words of a running text by longest match, with their analyses, as lt-proc does.

        At each position, the longest string that has analyses is a token; a token may contain spaces. In a section of the kind "standard",
        a token ends before a character that is no letter, no mark and no number; see ``sections`` of `fst.compile.lookup`. Letters that
        begin no token are an unknown word. Other characters belong to no token. Soft hyphens (U+00AD) are ignored. Upper-case letters are
        also read in lower case; then the analyses have the case of the word.

        Args:
            text: str, or bytes in UTF-8.
            limit: as in `lookup_batch`.
            errors: as in `fst.Tokenizer.encode`.

        Returns:
            Tuples of ``start`` and ``end`` in characters, ``analyses``, and ``section``. An unknown word has no analyses, and the section
            None.

        Raises:
            UnsupportedError: the look-up is inverted.
            TextError: the argument is not text, or as in `lookup_batch`.
            ValueError: `limit` or `errors` has an invalid value.

        Examples:
            >>> from fst.compile import lookup
            >>> words = Lookup(lookup({"New York": "New York<np>", "in": "in<pr>"}))
            >>> [(token.start, token.end, token.analyses) for token in words.analyze_text("In New York now.")]
            [(0, 2, ['In<pr>']), (3, 11, ['New York<np>']), (12, 15, [])]

        Source: lt-proc of lttoolbox 3.7.
        """
        return next(self._tokens(batch_of(text), limit, 1, errors))

    def analyze_batch(
        self, texts: Texts, *, limit: int | None = None, threads: int | None = None, errors: str = "strict"
    ) -> Iterator[list[Token]]:
        """Analyse many running texts. Each list of tokens is made when the iterator reaches it.

        Args:
            texts: as in `fst.Tokenizer.encode_batch`.
            limit, threads, errors: as in `lookup_batch`.

        Returns:
            The result of `analyze_text` for each text.

        Raises:
            UnsupportedError, TextError, ValueError: as in `analyze_text`; the message contains the row's number.
        """
        return self._tokens(listed(texts), limit, threads, errors)

    def to_apertium(
        self, texts: Texts, *, deformatted: bool = False, limit: int | None = None, threads: int | None = None, errors: str = "strict"
    ) -> list[str]:
        r"""Analyse many running texts, and write them in Apertium's stream format, as lt-proc does.

        Args:
            texts, limit, threads, errors: as in `analyze_batch`.
            deformatted: whether the texts come from a deformatter of Apertium, like the input of lt-proc. If so, superblanks, such as
                ``[<b>]``, are copied and count as a space, and a backslash removes the meaning of the character after it.

        Returns:
            The stream of each text: ``^word/analysis/analysis$`` for a word, ``^word/*word$`` for an unknown word, and the text between
            words. Characters with a meaning in the format follow a backslash. Soft hyphens are left out.

        Raises:
            UnsupportedError, TextError, ValueError: as in `analyze_batch`.

        Examples:
            >>> from fst.compile import lookup
            >>> words = Lookup(lookup({"flies": ["fly<n>", "fly<v>"]}))
            >>> words.to_apertium(["Flies, [flew]"])
            ['^Flies/Fly<n>/Fly<v>$, \\[^flew/*flew$\\]']
            >>> words.to_apertium(["[<b>]Flies[</b>]"], deformatted=True)
            ['[<b>]^Flies/Fly<n>/Fly<v>$[</b>]']
        """
        given, blanks = listed(texts), dict[int, Blanks]()
        if deformatted:
            check(errors)
            source = rows_of(given)
            given, blanks = parsed_rows([whole(source, row, errors) for row in range(len(source))])
        given = [without_hyphens(text, errors) for text in given]
        rows = rows_of(given)
        batch = self._text_batch(rows, limit, threads, errors)
        is_plain = errors == "strict" and all(type(text) is str for text in given)
        whole_texts = given if is_plain else [whole(rows, row, errors) for row in range(len(rows))]
        found = streams(whole_texts, batch, self._data, weighted=self._table.is_weighted)
        for row, some in blanks.items():
            found[row] = stream_of(whole_texts[row], self._row_tokens(batch, row, whole_texts[row]), some)
        return found

    def _tokens(self, texts: Sequence[Any], limit: int | None, threads: int | None, errors: str) -> Iterator[list[Token]]:
        """Analyse texts, and return an iterator over the tokens of each text."""
        bare, source = [without_hyphens(text, errors) for text in texts], rows_of(texts)
        rows = rows_of(bare)
        batch = self._text_batch(rows, limit, threads, errors)

        def tokens(row: int) -> list[Token]:
            found = self._row_tokens(batch, row, whole(rows, row, errors))
            return found if bare[row] is texts[row] else [*with_hyphens(found, whole(source, row, errors))]

        return map(tokens, range(len(texts)))

    def _row_tokens(self, batch: Batch, row: int, text: str) -> list[Token]:
        """The tokens of a text of a batch."""
        return [*tokens_of(text, batch[row].tolist(), self._pieces, weighted=self._table.is_weighted)]

    def _text_batch(self, rows: Source, limit: int | None, threads: int | None, errors: str) -> Batch:
        """Analyse rows as running text."""
        if self._encoder.inverse:
            raise UnsupportedError("analyze_text reads words, and this look-up generates; call inverted() first")
        _check_limit(limit)
        encoder = self._text_encoder if limit is None else TextEncoder(self._table, self._encoder.arguments, limit)
        return encoder.analyse(rows, threads, errors)

    @Lazy
    def _text_encoder(self) -> TextEncoder:
        return TextEncoder(self._table, self._encoder.arguments, None)

    def _analyses(
        self, rows: Source, unknown: Sequence[Any] | None, limit: int | None, case: str, threads: int | None, errors: str
    ) -> Analyses:
        batch = self._limited(limit).look_up(rows, threads, errors, folds=case == "fold")
        return Analyses(batch, self._pieces, self._data, unknown, weighted=self._table.is_weighted)

    def _limited(self, limit: int | None) -> LookupEncoder:
        """The encoder for a limit."""
        _check_limit(limit)
        if limit is None:
            return self._encoder
        return LookupEncoder(self._table, inverse=self._encoder.inverse, limit=limit, like=self._encoder)

    @Lazy
    def _find(self) -> Callable[[str], list[str] | None]:
        """A function that returns the analyses of a word, or None if the word needs a batch."""
        if not can_prepare():
            return lambda _: None
        return finder(self._encoder._ids_runner, self._data, weighted=self._table.is_weighted)

    @Lazy
    def _pieces(self) -> list[str]:
        return [*self._table.pieces]

    @Lazy
    def _data(self) -> Strings:
        past_end = np.zeros(PAST_END, np.uint8)
        return Strings(np.append(self._table.piece_bytes, past_end), np.append(0, self._table.piece_ends).astype(np.int64))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_generator, (self._table,)) if self._encoder.inverse else (type(self), (self._table,))

    def __copy__(self) -> Self:
        """Return the same object, because it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _check_limit(limit: int | None) -> None:
    if limit is not None and (type(limit) is not int or not 1 <= limit <= MAX_ANALYSES):
        raise ValueError(f"limit is {quoted(limit)}; expected a whole number from 1 to {MAX_ANALYSES}, or None")


def _check(case: str, unknown: str | None) -> None:
    if case not in CASES:
        raise ValueError(not_one_of("case", case, CASES))
    if unknown not in UNKNOWN:
        raise ValueError(not_one_of("unknown", unknown, UNKNOWN))


def _generator(table: LookupTable) -> Any:
    """Unpickle a look-up that generates."""
    return Lookup(table).inverted()
