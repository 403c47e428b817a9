"""Token masks in ``generate`` of ``transformers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fst.machines.guide.arguments import NO_STATE

if TYPE_CHECKING:
    from fst.runtime.machines.guide.guide import Guide

ENDED = NO_STATE - 1  # the state of a row whose text has ended


class LogitsProcessor:
    """A logits processor of ``transformers`` that lets a model write only texts of a guide. It needs PyTorch.

    Use a new object for each call of ``generate``. Sampling, greedy search and beam search are possible; the texts of a batch's rows may be
    at different places. If the text of a row has ended, the row is not changed. After a token that is not allowed, as in a beam without
    hope, a row can only end.

    Args:
        guide: a guide with an `end_id`.

    Raises:
        ValueError: no token ends texts.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##2"]))
        >>> processor = fst.LogitsProcessor(fst.Guide(tok, regex="12*"))
        >>> model.generate(prompt, logits_processor=[processor])  # doctest: +SKIP
    """

    def __init__(self, guide: Guide) -> None:
        if guide.end_id is None:
            raise ValueError("no token ends texts; make the guide with end_id")
        self._guide, self._end = guide, slice(guide.end_id, guide.end_id + 1)  # a slice, since scores may end before this id
        self._states: dict[bytes, int] = {}  # the ids of each row in the last call → its state

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Set the scores of all tokens that are not allowed to minus infinity.

        Args:
            input_ids: int64[rows, n], the prompts and the tokens so far.
            scores: float[rows, vocabulary], the scores of the next tokens.

        Returns:
            The new scores.

        Raises:
            ValueError: no token is allowed in a row.
        """
        from torch import from_numpy

        rows = np.ascontiguousarray(input_ids.cpu().numpy())
        states = [self._state_of(row) for row in rows]
        self._states = {row.tobytes(): state for row, state in zip(rows, states, strict=True)}
        allowed = np.empty(tuple(scores.shape), np.bool_)
        self._guide.masks(np.maximum(states, NO_STATE), out=allowed)
        allowed[:, self._end] |= np.equal(states, NO_STATE)[:, None]
        allowed[np.equal(states, ENDED)] = True
        for row in np.flatnonzero(~allowed.any(axis=1)).tolist():
            found = f"row {row} allows none of {allowed.shape[1]:,} tokens"
            raise ValueError(f"{found}; expected scores for the {self._guide.size:,} ids of the guide")
        return scores.masked_fill(from_numpy(~allowed).to(scores.device), float("-inf"))

    def _state_of(self, row: Any) -> int:
        """The state after the ids of a row. If no row of the last call had the ids before the last id, the state is the start."""
        before = self._states.get(row[:-1].tobytes())
        if before is None:
            return self._guide.start
        has_ended = before == ENDED or (row[-1] == self._guide.end_id and self._guide.is_final(before))
        return ENDED if has_ended else self._guide.step(before, int(row[-1]))
