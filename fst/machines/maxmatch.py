"""The machine of MaxMatch: the automaton of keyword search, which reports all tokens of a text.

MaxMatch takes the longest word of a dictionary that begins where the last token ended, or a single character if none does. So its words are
the matches of leftmost-longest keyword search, and its other tokens are the characters outside of them (Song et al. 2021, *Fast WordPiece
Tokenization*, Section 3.6). The arrays, their proof and the bound on look-ups are those of `fst.machines.keywords`.

Backward MaxMatch goes from the end of a text to its begin. Its automaton has the words' bytes in reverse order, and reads those of a text
so. It need not know where characters begin: in UTF-8, the bytes of a word stand only where its characters do, so they do in reverse order.

A rule makes one entry of several tokens (Sassano 2014, *Deterministic Word Segmentation Using Maximum Matching with Fully Lexicalized
Rules*): an output of the automaton is a list of matches, so the output of such an entry lists the words of the rule's right side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fst.forms import one_of, stored_as
from fst.lazy import Lazy
from fst.machines import keywords
from fst.machines.keyword_text import PLAIN, KeywordText
from fst.machines.keywords import LABEL_SHIFT, LONGEST, OWN, KeywordAutomaton, KeywordMetadata, KeywordTables
from fst.proof import need
from fst.rows import Array
from fst.table import Each

DIRECTIONS = FORWARD, BACKWARD = "forward", "backward"
UNSEEN = -1  # the id of a character outside of all words
DONE = keywords.NOTES  # index into `keywords.Work.notes`: the position up to which the kernel has written tokens


@dataclass(frozen=True)
class MaxMatchAutomaton(KeywordAutomaton):
    """What the automaton is.

    Attributes:
        direction: in which direction it reads.
    """

    match_kind: str = stored_as(one_of(LONGEST))
    direction: str = stored_as(one_of(*DIRECTIONS))


@dataclass(frozen=True)
class MaxMatchMetadata(KeywordMetadata):
    """The metadata of a table of MaxMatch."""

    SECTIONS = (MaxMatchAutomaton, KeywordText)

    automaton: MaxMatchAutomaton


class Arguments(NamedTuple):
    """What `fst.runtime.kernels.maxmatch` and `fst.runtime.maxmatch` read.

    Attributes:
        entries, roots, depths, matches: as in `fst.machines.keywords.Arguments`.
        is_cut: bool[256], whether a byte is a character of its own, on which no state has a transition.
        is_backward: bool[1].
    """

    entries: Array
    roots: Array
    depths: Array
    matches: Array
    is_cut: Array
    is_backward: Array


class Token(NamedTuple):
    """A token in UTF-8: its id, or `UNSEEN`; its first byte, and one past the last."""

    id: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class MaxMatchTables(KeywordTables):
    """A dictionary, compiled. The arrays are those of `fst.machines.keywords.KeywordTables`; the keywords are the words."""

    kind: ClassVar[str] = "maxmatch"
    kernel: ClassVar[str] = "fst.runtime.maxmatch"
    face: ClassVar[str] = "fst.runtime.segmenter.Segmenter"

    @Lazy
    def metadata(self) -> MaxMatchMetadata:
        """What the table says beside its arrays."""
        return MaxMatchMetadata.from_json(self.about)

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of their ids."""
        return self.keywords

    @property
    def streams(self) -> bool:
        """Whether texts can be read in pieces."""
        return self.metadata.automaton.direction == FORWARD

    @Lazy
    def cuts(self) -> str:
        """The characters after which any text may be cut: those of ASCII that stand in no entry."""
        return "".join(map(chr, np.flatnonzero(self._is_cut).tolist()))

    @Lazy
    def _is_cut(self) -> Array:
        used = np.bincount((self.entries >> np.uint64(LABEL_SHIFT)).astype(np.int64), minlength=OWN)[:OWN]
        found: Array = (used == 0) & (np.arange(OWN) < 0x80)
        return found

    def run(self, text: str) -> list[int]:
        """The id of each token, in slow and plain Python."""
        return [token.id for token in self.tokens(text.encode())]

    def tokens(self, data: bytes) -> list[Token]:
        """The tokens of some UTF-8, in slow and plain Python."""
        size = len(data)
        if self.streams:
            return [*self._tokens(data)]
        return [Token(word, size - end, size - start) for word, start, end in self._tokens(data[::-1])][::-1]

    def _tokens(self, read: bytes) -> Iterator[Token]:
        """The tokens of bytes in the order of reading: the matches, and the characters between them."""
        done = 0
        for match in self._search(read):
            yield from self._unseen(read, done, match.start)
            yield Token(*match)
            done = match.end
        yield from self._unseen(read, done, len(read))

    def _unseen(self, read: bytes, start: int, end: int) -> Iterator[Token]:
        """A token for each character. Of its bytes, the first one in UTF-8 is read first, or last if the direction is backward."""
        leads = [place for place in range(start, end) if read[place] & 0xC0 != 0x80]
        borders = [*leads, end] if self.streams else [start, *(lead + 1 for lead in leads)]
        return (Token(UNSEEN, *span) for span in pairwise(borders))

    def prove(self, each: Each = map) -> None:
        """Prove what kernels may assume. Texts are read as they are."""
        super().prove(each)
        need(self.metadata.text == PLAIN, "texts are not read as they are, and a dictionary has no rules for that")

    def arguments(self) -> Any:
        """What the kernel reads."""
        return Arguments(*super().arguments(), self._is_cut, np.array([not self.streams]))

    def work(self) -> Any:
        """The kernel's working arrays for one thread."""
        return super().work()._replace(notes=np.zeros(DONE + 1, np.uint64))


def about(direction: str, states: int) -> Mapping[str, Any]:
    """The JSON of a table."""
    return MaxMatchMetadata(MaxMatchAutomaton(MaxMatchTables.kind, LONGEST, states, direction), PLAIN).to_json()
