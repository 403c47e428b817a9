"""Segmentation by the best path through a lattice: the modes of jieba, and the full results of MeCab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fst.core.lazy import Lazy
from fst.machines.segmentation.jieba import JiebaTable
from fst.machines.segmentation.mecab import MecabTable
from fst.runtime.machines.segmentation.segmenter import Segmenter, Segments
from fst.runtime.rows.texts import Texts, batch_of


class JiebaSegmenter(Segmenter):
    """Segments texts as jieba does; made by ``fst.Segmenter(table)``.

    Args:
        table: from `fst.compile.lattice.jieba`; for a file use `fst.load`.

    Examples:
        >>> import fst
        >>> from fst.compile import lattice
        >>> segmenter = fst.Segmenter(lattice.jieba([("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1)]))
        >>> segmenter.segment("研究生命"), segmenter.segment("研究生命", mode="all"), segmenter.segment("研究生", mode="search")
        (['研究', '生命'], ['研究', '研究生', '生命'], ['研究', '研究生'])
    """

    _table: JiebaTable

    def with_mode(self, mode: str) -> JiebaSegmenter:
        """A segmenter with the same dictionary and the given mode.

        Args:
            mode: "default": the tokens of ``jieba.cut(text, HMM=hmm)``, with the `hmm` of the compiler; "search": the tokens of
                ``jieba.cut_for_search(text, HMM=hmm)``; "all": the tokens of ``jieba.cut(text, cut_all=True)``. Tokens of the last two
                overlap.

        Raises:
            ValueError: the mode is unknown.
        """
        return self if mode == self._table.mode else JiebaSegmenter(self._table.with_mode(mode))

    def segment(self, text: str | bytes, *, mode: str | None = None, errors: str = "strict") -> list[str]:
        """The tokens of one text. `mode` is as in `with_mode`; None: the segmenter's mode. Other arguments: see `Segmenter.segment`."""
        return super(JiebaSegmenter, self._in(mode)).segment(text, errors=errors)

    def segment_batch(
        self,
        texts: Texts,
        *,
        mode: str | None = None,
        offsets: bool | str = False,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Segments:
        """The tokens of many texts. `mode` is as in `segment`. Other arguments: see `Segmenter.segment_batch`."""
        return super(JiebaSegmenter, self._in(mode)).segment_batch(texts, offsets=offsets, threads=threads, errors=errors)

    def _in(self, mode: str | None) -> JiebaSegmenter:
        if mode is None or mode == self._table.mode:
            return self
        if mode not in self._others:
            self._others[mode] = self.with_mode(mode)
        return self._others[mode]

    @Lazy
    def _others(self) -> dict[str, JiebaSegmenter]:
        """Mode → segmenter, for the other modes that calls have requested."""
        return {}


class Token(NamedTuple):
    """A word in a text, by MeCab's rules.

    Attributes:
        surface: the word in the text.
        feature: its features from the dictionary, separated by commas.
        start, end: the position of its first character, and one past its last.
        id: its number, see `fst.compile.lattice.mecab`.
        left_id, right_id, word_cost: its connection ids, and its cost.
        cost: the cost of the path from the beginning of the text to the end of this word, its own cost included.
        is_unknown: whether the word is not in the dictionary.
    """

    surface: str
    feature: str
    start: int
    end: int
    id: int
    left_id: int
    right_id: int
    word_cost: int
    cost: int
    is_unknown: bool


class MecabSegmenter(Segmenter):
    """Segments texts as MeCab does; made by ``fst.Segmenter(table)``.

    In MeCab, each line is a sentence. Here, each text is a sentence, and a line feed has its category in ``char.def``. In IPADIC this is
    SPACE, so words may connect across lines.

    Args:
        table: from `fst.compile.lattice.mecab`; for a file use `fst.load`.
    """

    _table: MecabTable

    @property
    def features(self) -> Sequence[str]:
        """By id, the features from the dictionary."""
        return self._table.features

    def analyse(self, text: str | bytes, *, errors: str = "strict") -> list[Token]:
        """The words of a text with all facts that MeCab returns. The arguments are as in `segment`."""
        found = self.segment_batch(batch_of(text), offsets=True, threads=1, errors=errors)
        assert found.starts is not None
        assert found.ends is not None
        tokens, right, cost = list[Token](), 0, 0
        for surface, number, start, end in zip(found[0], found.ids.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True):
            word = self._table.word(number)
            cost += int(self._table.matrix[word.left, right]) + word.cost
            right = word.right
            is_unknown = self._table.is_unknown(number)
            tokens.append(Token(surface, self.features[number], start, end, number, word.left, right, word.cost, cost, is_unknown))
        return tokens

    def cost(self, text: str | bytes, *, errors: str = "strict") -> int:
        """The total cost of the best path through a text, its end included. The arguments are as in `segment`."""
        tokens = self.analyse(text, errors=errors)
        right, cost = (tokens[-1].right_id, tokens[-1].cost) if tokens else (0, 0)
        return cost + int(self._table.matrix[0, right])

    def parse(self, text: str | bytes, *, errors: str = "strict") -> str:
        """A text in MeCab's default format: for each word a line with surface, tab and features; then the line "EOS"."""
        return "".join(f"{token.surface}\t{token.feature}\n" for token in self.analyse(text, errors=errors)) + "EOS\n"
