"""The speller of a lexicon and an error model."""

from __future__ import annotations

import re
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError, counted
from fst.runtime.machines.speller.speller import Misspelling, Speller
from fst.runtime.machines.speller.suggest.nearest import HUNSPELL, NEAREST, need_limit
from fst.runtime.machines.speller.zhfst.searching import Search
from fst.runtime.rows.texts import Texts, batch_of, listed, rows_of, whole

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class ZhfstSpeller(Speller):
    """A speller of Giella: `fst.Speller` for tables of ``.zhfst`` archives. It gives the answers of hfst-ospell 0.5.3."""

    _table: Any  # a ZhfstTable

    def __init__(self, table: Any) -> None:
        self._table = table

    def __repr__(self) -> str:
        return f"<fst.Speller {self._table.metadata.settings.locale} of {counted(len(self._table.lexicon_finals), 'state')}>"

    @Lazy
    def _search(self) -> Search:
        return Search(self._table)

    def check(self, word: str | bytes, *, errors: str = "strict") -> bool:
        """Whether the lexicon reads a word; see `fst.Speller.check`."""
        return bool(self.check_batch(batch_of(word), errors=errors)[0])

    def check_batch(self, words: Texts, *, threads: int | None = None, errors: str = "strict") -> NDArray[np.bool_]:  # noqa: ARG002
        """Check many words, in one thread; see `fst.Speller.check_batch`."""
        rows = rows_of(listed(words))
        return np.array([self._search.is_right(whole(rows, row, errors)) for row in range(len(rows))], np.bool_)

    def check_text(self, text: str | bytes, *, errors: str = "strict") -> list[Misspelling]:
        """Find the wrong words of a running text. A word consists of letters, and of apostrophes and hyphens between letters."""
        return self.check_texts(batch_of(text), errors=errors)[0]

    def check_texts(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> list[list[Misspelling]]:
        """Find the wrong words of many running texts; see `check_text`."""
        rows = rows_of(listed(texts))
        found = [[*WORD.finditer(whole(rows, row, errors))] for row in range(len(rows))]
        is_right = iter(self.check_batch([match[0] for some in found for match in some], threads=threads).tolist())
        return [[Misspelling(*match.span()) for match in some if not next(is_right)] for some in found]

    def check_arrow(self, column: Any, *, threads: int | None = None, errors: str = "strict") -> NoReturn:  # noqa: ARG002
        """Refuse columns.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("the table is from a .zhfst archive, which does not check columns; expected texts; call check_texts")

    def stem_batch(self, words: Texts, *, threads: int | None = None, errors: str = "strict") -> NoReturn:  # noqa: ARG002
        """Refuse stems, which an archive does not contain.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("the table is from a .zhfst archive, which has no stems; expected a dictionary of Hunspell; use fst.Lookup")

    def suggest(self, word: str, *, limit: int = 5, style: Literal["nearest", "hunspell"] = "nearest") -> list[str]:
        """Suggest corrections, those of least weight first; those of equal weight in the order of code points.

        A suggestion is a string into which the error model turns the word, and which the lexicon reads. A right word is a suggestion for
        itself.

        Raises:
            ValueError: `limit` is less than 1, or `style` has an unknown value.
            UnsupportedError: `style` is "hunspell", which needs a dictionary of Hunspell.
            TextError: the argument is not text, the word is too long, or the search takes too many steps.
        """
        word = whole(rows_of(batch_of(word)), 0, "strict")
        need_limit(limit, style)
        if style == HUNSPELL:
            raise UnsupportedError(f"style is {style!r}; expected {NEAREST!r} for an archive of Giella")
        return [found.text for found in self._search.suggestions(word, limit)]
