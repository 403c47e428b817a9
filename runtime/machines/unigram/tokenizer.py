"""The tokenizer of Unigram tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.unigram.sampling import Sampling, whole_paths
from fst.machines.unigram.table import UnigramTable
from fst.runtime.encoder import NO_FRAME
from fst.runtime.machines.unigram.sampling import SamplingRunners, Segmentation
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.texts import MOST_UNITS, Ints, batch_of, check, rows_of
from fst.runtime.run import SHORT, Runner
from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.workspace import Ids


class UnigramTokenizer(PretokenTokenizer):
    """A tokenizer over a Unigram table, as `fst.load` returns it.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from fst.compile import tokenizer
        >>> vocab = [["<unk>", 0], ["▁", -2], ["▁c", -3], ["af", -4], ["é", -5]]
        >>> blanks = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
        >>> parts = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "pre_tokenizer": blanks, "decoder": blanks}
        >>> _ = Path("coffee.json").write_text(json.dumps(parts))
        >>> tok = UnigramTokenizer(tokenizer("coffee.json"))
        >>> tok.tokenize("café ☕"), tok.decode(tok.encode("café"))
        (['▁c', 'af', 'é', '▁', '<unk>'], 'café')
    """

    _kinds_of_randomness = (Sampling,)
    _table: UnigramTable

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        return None if self._table.is_whole else super()._safe_cuts

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:
        """Of the bytes of an unknown word, only the last has its span, as `PretokenTokenizer` has it for those of a character."""
        if not self._table.has_words:
            super()._trim(ids, offsets, firsts)
            return
        goes_on = self._are_bytes[ids[1:]] & (offsets[1:] == offsets[:-1]).all(axis=1)
        goes_on[firsts[firsts > 0] - 1] = False
        offsets[:-1][goes_on, 1] = offsets[:-1][goes_on, 0]

    @Lazy
    def _are_bytes(self) -> NDArray[np.bool_]:
        """By id, whether a token represents a byte."""
        return self._stand_for(range(256))

    def nbest(self, text: str | bytes, n: int, *, add_special_tokens: bool = True, errors: str = "strict") -> list[Segmentation]:
        """The best segmentations of a text, the best first.

        Args:
            text, add_special_tokens, errors: as in `encode`.
            n: how many, 1 to 1024.

        Returns:
            At most `n` segmentations, each with its score; fewer if the text has no more. The first has the ids that `encode` gives, unless
            only rounding decides between two. [Their order](exactness.md#sampling) is certain, equal scores included.

        Raises:
            TextError: the argument is not text; or it is too long for so many segmentations.
            UnsupportedError: tokens are whole words, so that a text has a single segmentation.
            ValueError: `n` or `errors` has a value that it cannot have.

        Examples:
            >>> import fst, json
            >>> from pathlib import Path
            >>> from fst.compile import tokenizer
            >>> vocab = [["<unk>", 0], ["c", -2], ["a", -3], ["f", -4], ["caf", -6]]
            >>> _ = Path("coffee.json").write_text(json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}))
            >>> tok = fst.Tokenizer(tokenizer("coffee.json"))
            >>> [(ids.tolist(), score) for ids, score in tok.nbest("caf", 5)]
            [([4], -6.0), ([1, 2, 3], -9.0)]
        """
        whole_paths("n", n, 1)
        check(errors)
        rows = rows_of(batch_of(text))
        self._need_paths()
        return self._sampling_runners.nbest(rows, int(n), self._frame if add_special_tokens else NO_FRAME, errors)

    def _random_runner(self, randomness: Sampling, with_spans: bool) -> Runner:
        if randomness.nbest_size in (0, 1):
            return self._spans_runner if with_spans else self._ids_runner
        self._need_paths()
        if with_spans:
            self._need_spans()
        return self._sampling_runners.runner(randomness, with_spans=with_spans)

    def _need_paths(self) -> None:
        """Refuse to choose between segmentations if a text has a single one."""
        if self._table.has_words:
            raise UnsupportedError(
                "sampling, nbest: tokens are whole words, so a text has a single segmentation; call encode without randomness"
            )

    @Lazy
    def _sampling_runners(self) -> SamplingRunners:
        return SamplingRunners(self._table, self._ids_runner, self._ids_runner.room(SHORT * MOST_UNITS[self._table.unit], 1, self._frame))
