"""Token masks in ``generate`` of ``transformers``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.machines.guide.arguments import AFTER_END, NO_STATE

if TYPE_CHECKING:
    from fst.runtime.machines.guide.guide import Guide


class LogitsProcessor:
    """A logits processor of ``transformers`` that lets a model write only texts of a guide. It needs PyTorch.

    Use a new object for each call of ``generate``. Sampling, greedy search and beam search are possible; the texts of a batch's rows may be
    at different places. If the text of a row has ended, the row is not changed. After a token that is not allowed, as in a beam without
    hope, a row can only end.

    Args:
        guide: a guide with an `end_id`, for all texts; or a guide for each text of the batch. Each text may have several rows, for beams or
            for samples, one after another as ``generate`` arranges them.

    Raises:
        ValueError: no token ends texts, or there is no guide.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##2"]))
        >>> processor = fst.LogitsProcessor(fst.Guide(tok, regex="12*"))
        >>> model.generate(prompt, logits_processor=[processor])  # doctest: +SKIP
        >>> processor = fst.LogitsProcessor([fst.Guide(tok, regex="12*"), fst.Guide(tok, regex="2")])
        >>> model.generate(two_prompts, logits_processor=[processor])  # doctest: +SKIP
    """

    def __init__(self, guide: Guide | Sequence[Guide]) -> None:
        guides = [*guide] if isinstance(guide, Sequence) else [guide]
        if not guides:
            raise ValueError("there is no guide; expected one, or one for each text of the batch")
        if any(each.end_id is None for each in guides):
            raise ValueError("no token ends texts; make the guide with end_id")
        self._guides = guides
        self._states: dict[tuple[int, bytes], int] = {}  # the place of the guide and the ids of each row in the last call → the state

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Set the scores of all tokens that are not allowed to minus infinity.

        Args:
            input_ids: int64[rows, n], the prompts and the tokens so far.
            scores: float[rows, vocabulary], the scores of the next tokens.

        Returns:
            The new scores.

        Raises:
            ValueError: no token is allowed in a row, or the number of rows is not a multiple of the number of guides.
        """
        from torch import from_numpy

        rows = np.ascontiguousarray(input_ids.cpu().numpy())
        count, rest = divmod(len(rows), len(self._guides))
        if rest:
            raise ValueError(f"the scores have {len(rows):,} rows; expected a multiple of the {len(self._guides):,} guides")
        keys = [(place // count, row.tobytes()) for place, row in enumerate(rows)]
        states = [self._state_of(place, row) for (place, _), row in zip(keys, rows, strict=True)]
        self._states = dict(zip(keys, states, strict=True))
        allowed = np.empty(tuple(scores.shape), np.bool_)
        for place in range(len(self._guides)):
            own = slice(place * count, (place + 1) * count)
            self._fill(place, np.array(states[own]), allowed[own])
        for row in np.flatnonzero(~allowed.any(axis=1)).tolist():
            found = f"row {row} allows none of {allowed.shape[1]:,} tokens"
            raise ValueError(f"{found}; expected scores for the {self._guides[row // count].size:,} ids of the guide")
        return scores.masked_fill(from_numpy(~allowed).to(scores.device), float("-inf"))

    def _fill(self, place: int, states: NDArray[np.int64], allowed: NDArray[np.bool_]) -> None:
        """Fill the rows of a guide: bool[rows, vocabulary], for states of int64[rows]."""
        guide = self._guides[place]
        guide.masks(np.maximum(states, NO_STATE), out=allowed)
        assert guide.end_id is not None
        allowed[:, guide.end_id : guide.end_id + 1] |= (states == NO_STATE)[:, None]  # a slice, since scores may end before this id
        allowed[states == AFTER_END] = True

    def _state_of(self, place: int, row: Any) -> int:
        """The state after the ids of a row. If no row of the last call had the ids before the last id, the state is the start."""
        guide, before = self._guides[place], self._states.get((place, row[:-1].tobytes()))
        if before is None:
            return guide.start
        has_ended = before == AFTER_END or (row[-1] == guide.end_id and guide.is_final(before))
        return AFTER_END if has_ended else guide.step(before, int(row[-1]))
