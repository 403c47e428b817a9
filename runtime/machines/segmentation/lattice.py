"""The segmenters of jieba and MeCab, which find the best path through a lattice of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.segmentation.jieba import JiebaTable
from fst.machines.segmentation.jieba_tags import Tagged, tagged
from fst.machines.segmentation.mecab import MecabTable
from fst.runtime.machines.segmentation.segmenter import Segmenter, Segments
from fst.runtime.rows.texts import Texts, batch_of


class JiebaSegmenter(Segmenter):
    """A segmenter with the tokens of jieba; made by ``fst.Segmenter(table)``.

    Args:
        table: a result of `fst.compile.lattice.jieba`. For a table file, use `fst.load`.

    Examples:
        >>> import fst
        >>> from fst.compile import lattice
        >>> segmenter = fst.Segmenter(lattice.jieba([("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1)]))
        >>> segmenter.segment("研究生命"), segmenter.segment("研究生命", mode="all"), segmenter.segment("研究生", mode="search")
        (['研究', '生命'], ['研究', '研究生', '生命'], ['研究', '研究生'])
    """

    _table: JiebaTable
    _compiler = "lattice.jieba"

    def with_mode(self, mode: str) -> JiebaSegmenter:
        """Return a segmenter with the same dictionary and another mode.

        Args:
            mode: "default": the tokens of ``jieba.cut(text, HMM=hmm)``, where `hmm` is the argument of the compiler; "search": the tokens
                of ``jieba.cut_for_search(text, HMM=hmm)``; "all": the tokens of ``jieba.cut(text, cut_all=True)``. In the modes "search"
                and "all", tokens overlap.

        Raises:
            ValueError: the mode is unknown.
        """
        return self if mode == self._table.mode else JiebaSegmenter(self._table.with_mode(mode))

    def segment(self, text: str | bytes, *, mode: str | None = None, errors: str = "strict") -> list[str]:
        """Segment one text. `mode` is as in `with_mode`; None: the segmenter's mode. For other arguments, see `Segmenter.segment`."""
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
        """Segment many texts. `mode` is as in `segment`. For other arguments, see `Segmenter.segment_batch`."""
        return super(JiebaSegmenter, self._in(mode)).segment_batch(texts, offsets=offsets, threads=threads, errors=errors)

    def tag(self, text: str | bytes, *, errors: str = "strict") -> list[Tagged]:
        """Segment a text into words with parts of speech, as ``jieba.posseg.lcut(text, HMM=hmm)`` does, where `hmm` is the argument of the
        compiler. As in jieba, the words may differ from the words of `segment`. The arguments are as in `segment`.

        Returns:
            Pairs with the attributes ``word`` and ``flag``, as in jieba.

        Raises:
            UnsupportedError: the table has no parts of speech; compile it with ``tags=True``.

        Examples:
            >>> import fst
            >>> dictionary = [("研究", 5, "vn"), ("研究生", 3, "n"), ("生命", 4, "vn")]
            >>> fst.JiebaSegmenter(fst.compile.lattice.jieba(dictionary, tags=True)).tag("研究生命。")
            [Tagged(word='研究', flag='vn'), Tagged(word='生命', flag='vn'), Tagged(word='。', flag='x')]
        """
        if not len(self._table.tags):
            raise UnsupportedError("the table has no parts of speech; expected one of lattice.jieba; compile it again with tags=True")
        found = self._untagged.segment_batch(batch_of(text), offsets=True, threads=1, errors=errors)
        return [*tagged(self._table.tagging, zip(found[0], found.ids.tolist(), strict=True))]

    @Lazy
    def _untagged(self) -> JiebaSegmenter:
        """A segmenter for the tokens that the function `tagged` takes."""
        return JiebaSegmenter(self._table.untagged)

    def _in(self, mode: str | None) -> JiebaSegmenter:
        if mode is None or mode == self._table.mode:
            return self
        if mode not in self._others:
            self._others[mode] = self.with_mode(mode)
        return self._others[mode]

    @Lazy
    def _others(self) -> dict[str, JiebaSegmenter]:
        """A mapping from mode to segmenter, for other modes; each segmenter is made at the first call with its mode."""
        return {}


class Token(NamedTuple):
    """A word of a text with the values that MeCab computes.

    Attributes:
        surface: the word as it occurs in the text.
        feature: the word's features from the dictionary, separated by commas.
        start, end: the position of the word's first character, and one past its last character.
        id: the word's number, see `fst.compile.lattice.mecab`.
        left_id, right_id, word_cost: the word's connection ids, and its cost.
        cost: the cost of the path from the beginning of the text to the end of the word, including `word_cost`.
        is_unknown: whether the word is missing in the dictionary.
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
    """A segmenter with the words of MeCab; made by ``fst.Segmenter(table)``.

    MeCab segments each line as a sentence. A `MecabSegmenter` segments each text as a sentence, so a line feed is a character with a
    category from ``char.def``. In IPADIC its category is SPACE, so the connection costs also apply to the last word of a line and the first
    word of the next line.

    Args:
        table: a result of `fst.compile.lattice.mecab`. For a table file, use `fst.load`.
    """

    _table: MecabTable
    _compiler = "lattice.mecab"

    @property
    def features(self) -> Sequence[str]:
        """The features of each word from the dictionary; the index is the word's id."""
        return self._table.features

    def analyse(self, text: str | bytes, *, errors: str = "strict") -> list[Token]:
        """Segment a text into words with features, ids and costs. The arguments are as in `segment`."""
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
        """Compute the cost of the best path through a text, including the connection to the end. The arguments are as in `segment`."""
        tokens = self.analyse(text, errors=errors)
        right, cost = (tokens[-1].right_id, tokens[-1].cost) if tokens else (0, 0)
        return cost + int(self._table.matrix[0, right])

    def parse(self, text: str | bytes, *, errors: str = "strict") -> str:
        """Segment a text, and return MeCab's default output: for each word a line with surface, tab and features; then the line "EOS"."""
        return "".join(f"{token.surface}\t{token.feature}\n" for token in self.analyse(text, errors=errors)) + "EOS\n"
