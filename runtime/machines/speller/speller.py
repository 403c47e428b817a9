"""The speller checks words and running text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError, counted
from fst.machines.speller.layout import (
    CANDIDATES,
    CAPITALIZED,
    COMPOUNDS,
    MOST_DERIVATIONS,
    NOT_FORBIDDEN,
    STEMS,
    SYMBOL,
    TEXTS,
    WORDS,
    Arguments,
)
from fst.machines.speller.table import SpellerTable
from fst.runtime.encoder import Encoder
from fst.runtime.machines.speller.stems import Stems
from fst.runtime.machines.speller.suggest.hunspell.suggestions import HunspellWords
from fst.runtime.machines.speller.suggest.nearest import HUNSPELL, NearWords, need_limit
from fst.runtime.public_class import PublicClass
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Source, Texts, batch_of, listed, rows_of, whole
from fst.runtime.run import Runner
from fst.runtime.workspace import NO_SPECIAL_IDS

CURLY_APOSTROPHE = 0x2019
SUGGESTING = CANDIDATES, COMPOUNDS, CAPITALIZED, NOT_FORBIDDEN  # the modes for suggestions


class Misspelling(NamedTuple):
    """A wrong word of a running text.

    Attributes:
        start, end: the position of the word's first character, and one past its last character.
    """

    start: int
    end: int


class SpellerEncoder(Encoder):
    """The encoder of words, or of running text: an id for each wrong word. `like`: another encoder of the table, which shares arrays."""

    def __init__(self, table: Any, mode: int = WORDS, like: SpellerEncoder | None = None) -> None:
        super().__init__(table)
        self._mode = mode
        if like is not None:
            self._arguments, self._workspaces = like._arguments, like._workspaces

    @Lazy
    def _arguments(self) -> Arguments:
        arguments: Arguments = self._table.arguments()
        return arguments

    @Lazy
    def _ids_runner(self) -> Runner:
        return self._runner(with_spans=False)

    @Lazy
    def _spans_runner(self) -> Runner:
        return self._runner(with_spans=True)

    def _runner(self, *, with_spans: bool) -> Runner:
        arguments = self._arguments._replace(mode=np.array([self._mode]))
        if self._mode == TEXTS:
            arguments = arguments._replace(units=_with_apostrophe(arguments.units))
        return Runner(self._table, arguments, self._workspaces, with_spans=with_spans)


def _with_apostrophe(units: Array) -> Array:
    """The symbols of UTF-16 units, see `Arguments`, in which U+2019 has the symbol of U+0027 if the dictionary does not contain it."""
    if units[CURLY_APOSTROPHE] & SYMBOL:
        return units
    found = units.copy()
    found[CURLY_APOSTROPHE] = units[ord("'")]
    return found


class Speller(PublicClass):
    r"""A speller checks words with a dictionary of Hunspell, and gives the answers of Hunspell 1.7. A speller is immutable, so threads can
    share it without a lock.

    Args:
        table: a result of `fst.compile.speller`. For a table file, use `load`.

    Raises:
        UnsupportedError: the table is not a table of `fst.compile.speller`.

    Examples:
        >>> from pathlib import Path
        >>> from fst.compile import speller
        >>> _ = Path("en.aff").write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s [^s]\n"), Path("en.dic").write_text("1\nword/S\n")
        >>> english = Speller(speller("en.aff"))
        >>> english.check("Words"), english.check("wrods")
        (True, False)
        >>> english.check_text("A word, wrods!")
        [Misspelling(start=0, end=1), Misspelling(start=8, end=13)]
    """

    _compiler = "speller"

    def __init__(self, table: SpellerTable) -> None:
        self._table: SpellerTable = table
        self._encoder = SpellerEncoder(table)

    def __repr__(self) -> str:
        return f"<fst.Speller {counted(len(self._table.word_lists), 'stem')}>"

    def check(self, word: str | bytes, *, errors: str = "strict") -> bool:
        """Whether a word is correct.

        Args:
            word: str, or bytes in UTF-8.
            errors: as in `fst.Tokenizer.encode`.

        Raises:
            TextError: the argument is not text.
            ValueError: `errors` has an unknown value.
        """
        return len(self._encoder.encode(word, errors=errors)) == 0

    def check_batch(self, words: Texts, *, threads: int | None = None, errors: str = "strict") -> NDArray[np.bool_]:
        """Check many words.

        Args:
            words: as in `fst.Tokenizer.encode_batch`.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Returns:
            bool[words], whether each word is correct.

        Raises:
            TextError: a row is not text; the message contains the row's number.
            ValueError: `threads` or `errors` has an invalid value.

        Examples:
            >>> from fst.compile import speller
            >>> Speller(speller("en.aff")).check_batch(["word", "words", "wordses"])
            array([ True,  True, False])
        """
        batch = self._encoder._encode(rows_of(listed(words)), special_ids=NO_SPECIAL_IDS, threads=threads, errors=errors)
        correct: NDArray[np.bool_] = np.diff(batch.row_splits) == 0
        return correct

    def check_text(self, text: str | bytes, *, errors: str = "strict") -> list[Misspelling]:
        """Find the wrong words of a running text.

        A word consists of letters and of the characters of the dictionary's option WORDCHARS. An apostrophe (U+0027 or U+2019) between them
        belongs to the word if the dictionary has words with apostrophes. If the dictionary does not contain U+2019, it is read as U+0027.

        Args:
            text: str, or bytes in UTF-8.
            errors: as in `fst.Tokenizer.encode`.

        Returns:
            The spans of the wrong words, in characters.

        Raises:
            TextError: the argument is not text.
            ValueError: `errors` has an unknown value.
        """
        return self._misspellings(rows_of(batch_of(text)), 1, errors)[0]

    def check_texts(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> list[list[Misspelling]]:
        """Find the wrong words of many running texts.

        Args:
            texts: as in `fst.Tokenizer.encode_batch`.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Returns:
            The result of `check_text` for each text.

        Raises:
            TextError, ValueError: as in `check_batch`.
        """
        return self._misspellings(rows_of(listed(texts)), threads, errors)

    def check_arrow(self, column: Any, *, threads: int | None = None, errors: str = "strict") -> Any:
        """Find the wrong words of a column of running texts. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            threads, errors: as in `check_texts`.

        Returns:
            ``list<struct<start: int32, end: int32>>``, with positions in characters; null rows stay null. For an Array, the result is an
            Array; for any other column, a ChunkedArray with the same chunks.

        Raises:
            TextError: a row is not text, or the column does not contain texts; the message contains the row's number or the column's type.
            ValueError: as in `check_batch`.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import speller
            >>> Speller(speller("en.aff")).check_arrow(pa.array(["word wrod", None])).to_pylist()
            [[{'start': 5, 'end': 9}], None]
        """
        from fst.runtime.rows.arrow import located

        return located(column, lambda rows: self._found(rows, threads, errors))

    def _misspellings(self, rows: Source, threads: int | None, errors: str) -> list[list[Misspelling]]:
        batch = self._found(rows, threads, errors)
        assert batch.offsets is not None
        spans, splits = [*map(Misspelling._make, batch.offsets.tolist())], batch.row_splits.tolist()
        return [spans[start:end] for start, end in pairwise(splits)]

    def _found(self, rows: Source, threads: int | None, errors: str) -> Batch:
        return self._text_encoder._encode(rows, special_ids=NO_SPECIAL_IDS, with_spans=True, threads=threads, errors=errors)

    @Lazy
    def _text_encoder(self) -> SpellerEncoder:
        return SpellerEncoder(self._table, TEXTS, self._encoder)

    def stem(self, word: str | bytes, *, errors: str = "strict") -> list[str]:
        """The stems of a word: the words of the dictionary from which affixes derive it.

        Args:
            word, errors: as in `check`.

        Returns:
            Distinct stems: first those of the word as it is written, then those of the word in other cases. The list is empty for wrong
            words, compounds, numbers, and words that are correct only as parts joined by a hyphen or another break point. At most
            `MOST_DERIVATIONS` derivations of a word are searched.

        Raises:
            TextError, ValueError: as in `check`.

        Examples:
            >>> from fst.compile import speller
            >>> Speller(speller("en.aff")).stem("Words")
            ['word']
        """
        return self.stem_batch(batch_of(word), threads=1, errors=errors)[0]

    def stem_batch(self, words: Texts, *, threads: int | None = None, errors: str = "strict") -> list[list[str]]:
        """The stems of many words.

        Args:
            words, threads, errors: as in `check_batch`.

        Returns:
            The result of `stem` for each word.

        Raises:
            TextError, ValueError: as in `check_batch`.

        Examples:
            >>> from fst.compile import speller
            >>> Speller(speller("en.aff")).stem_batch(["word", "words", "wordses"])
            [['word'], ['word'], []]
        """
        rows = listed(words)
        found: list[dict[int, None]] = [{} for _ in rows]
        left = [*range(len(rows))]
        for encoder in self._stem_encoders:
            batch = encoder._encode(rows_of([rows[row] for row in left]), special_ids=NO_SPECIAL_IDS, threads=threads, errors=errors)
            left = [row for row, size in zip(left, np.diff(batch.row_splits).tolist(), strict=True) if size]
            for row, number in zip(left, batch.ids.tolist(), strict=True):
                found[row][number] = None
            if not left:
                break
        texts = self._stem_texts({number for some in found for number in some})
        return [[texts[number] for number in some if number in texts] for some in found]

    def _stem_texts(self, numbers: Collection[int]) -> dict[int, str]:
        """The strings of stems by their numbers, without the number of a derivation that is excluded."""
        some = [number for number in numbers if number < len(self._table.word_lists)]
        return dict(zip(some, self._stems.texts(some), strict=True))

    @Lazy
    def _stems(self) -> Stems:
        return Stems(self._table, self._encoder._arguments.units & np.uint16(SYMBOL))

    @Lazy
    def _stem_encoders(self) -> Sequence[SpellerEncoder]:
        return [SpellerEncoder(self._table, STEMS + number, self._encoder) for number in range(MOST_DERIVATIONS)]

    def suggest(self, word: str, *, limit: int = 5, style: Literal["nearest", "hunspell"] = "nearest") -> list[str]:
        """Suggest corrections for a wrong word: the nearest words, by the distance of `fst.machines.speller.nearest`, or those of Hunspell.

        The distance is the least sum of the costs of edits: 10 for a character that is inserted, deleted or replaced, and less for frequent
        faults, such as exchanged neighbours and those of the dictionary's options KEY, MAP and REP. Words with a distance of more than 20
        are not suggested. A word with a capital is also compared in lower case. A word of more than 100 characters has no suggestions.

        Args:
            word: a word.
            limit: the maximum number of suggestions.
            style: "nearest", or "hunspell": the first suggestions of Hunspell 1.7, in its order.

        Returns:
            Other words that `check` accepts, the nearest first; words of equal distance in the order of code points.

        Raises:
            ValueError: `limit` is less than 1, or `style` has an unknown value.
            TextError: the argument is not text.
            UnsupportedError: the table was compiled without suggestions, or Hunspell's style does not support the dictionary.

        Examples:
            >>> from fst.compile import speller
            >>> Speller(speller("en.aff")).suggest("wrods")
            ['words', 'word']
        """
        word = whole(rows_of(batch_of(word)), 0, "strict")
        need_limit(limit, style)
        if style == HUNSPELL:
            return self._hunspell_words.suggestions(word)[:limit]
        return [near.text for near in self._near_words.suggestions(word, limit)]

    @Lazy
    def _near_words(self) -> NearWords:
        if not len(self._table.near_finals):
            raise UnsupportedError("the table has no suggestions; compile it with suggestions=True, or without --no-suggestions")
        return NearWords(self._table, self.check_batch)

    @Lazy
    def _hunspell_words(self) -> HunspellWords:
        return HunspellWords(self._table, self._checked)

    def _checked(self, words: Sequence[str], mode: int) -> NDArray[np.bool_]:
        """Whether words are accepted in a mode of `fst.machines.speller.layout`."""
        batch = self._mode_encoders[mode]._encode(rows_of([*words]), special_ids=NO_SPECIAL_IDS)
        accepted: NDArray[np.bool_] = np.diff(batch.row_splits) == 0
        return accepted

    @Lazy
    def _mode_encoders(self) -> dict[int, SpellerEncoder]:
        return {mode: SpellerEncoder(self._table, mode, self._encoder) for mode in (WORDS, *SUGGESTING)}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._table,)

    def __copy__(self) -> Speller:
        """Return the same object, because it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Speller:
        return self
