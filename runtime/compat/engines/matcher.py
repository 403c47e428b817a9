"""The text of one request of an inference engine, as states of a `fst.Guide`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import counted
from fst.machines.guide.arguments import AFTER_END, NO_STATE
from fst.machines.guide.vocabulary import WORD_BITS, ids_of

if TYPE_CHECKING:
    from fst.runtime.machines.guide.guide import Guide

Rows = NDArray[np.uint32]


class Matcher:
    """A text that a model writes: the states of a guide after each token. Tokens can be taken back.

    Args:
        guide: the guide; texts may share it.
        ends: the ids that end the text. Each is allowed exactly where a text of the guide may end, even if the token has text.
            None or empty: the guide's `end_id`.

    Raises:
        ValueError: no token ends texts.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> guide = fst.Guide(wordpiece(["[UNK]", "[SEP]", "1", "2", "##2", "[END]"]), regex="12*")
        >>> matcher = Matcher(guide, ends=[1, 5])
        >>> matcher.accept([2, 4]), matcher.validate([4, 5, 2]), matcher.accept([2])
        (2, 2, 0)
        >>> matcher.accept([5]), matcher.has_ended
        (1, True)
        >>> matcher.rollback(2)
        >>> matcher.allowed().tolist()
        [1, 4, 5]
    """

    def __init__(self, guide: Guide, ends: Collection[int] | None = None) -> None:
        self.guide, self._states = guide, [guide.start]
        own = [] if guide.end_id is None else [guide.end_id]
        self._ends = frozenset(ends or own)
        if not self._ends:
            raise ValueError("no token ends texts; make the guide with end_id, or pass ends")
        # Id → whether it ends the text, for ids whose bits in the masks of the guide are wrong for this text.
        self._others = {} if self._ends == {*own} else {number: number in self._ends for number in (*own, *self._ends)}

    def __repr__(self) -> str:
        return f"<Matcher after {counted(len(self._states) - 1, 'token')}, {self.guide!r}>"

    def again(self) -> Matcher:
        """Begin another text of the guide."""
        return Matcher(self.guide, self._ends)

    @property
    def has_ended(self) -> bool:
        """Whether a token has ended the text."""
        return self._states[-1] == AFTER_END

    def accept(self, ids: Sequence[int]) -> int:
        """Append tokens to the text. The first token that is not allowed, and all tokens after it, are ignored.

        Args:
            ids: the ids of the tokens; ids outside of the vocabulary are not allowed.

        Returns:
            The number of tokens that were appended.
        """
        count = len(self._states)
        for number in ids:
            after = self._after(self._states[-1], number)
            if after == NO_STATE:
                break
            self._states.append(after)
        return len(self._states) - count

    def validate(self, ids: Sequence[int]) -> int:
        """The number of tokens that `accept` would append."""
        state = self._states[-1]
        for count, number in enumerate(ids):
            state = self._after(state, number)
            if state == NO_STATE:
                return count
        return len(ids)

    def rollback(self, count: int) -> None:
        """Take back the last tokens.

        Raises:
            ValueError: the text has fewer tokens.
        """
        if not 0 <= count < len(self._states):
            raise ValueError(f"the number of tokens to take back is {count}; expected 0 to {len(self._states) - 1}")
        del self._states[len(self._states) - count :]

    def reset(self) -> None:
        """Take back all tokens."""
        del self._states[1:]

    def forced(self) -> list[int]:
        """The ids of the next tokens, as long as only one text is possible, without the token that ends the text."""
        found = list[int]()
        state = self._states[-1]
        for number in [] if state == AFTER_END else self.guide.forced(state):
            after = NO_STATE if self.guide.is_final(state) else self._after(state, number)
            if after == NO_STATE:
                break
            found.append(number)
            state = after
        return found

    def allowed(self) -> NDArray[np.int64]:
        """The ids that are allowed next, in ascending order: int64[n]."""
        row = np.zeros((1, max(self.guide.words, max(self._ends) // WORD_BITS + 1)), np.uint32)
        self.fill(row, 0)
        return ids_of(row[0])

    def fill(self, rows: Any, row: int) -> None:
        """Write the mask of the next token.

        Args:
            rows: uint32 or int32[n, words], a NumPy array, or a tensor in the memory of the CPU. Type and size are not checked.
            row: the index of the row for the mask, which has the layout of `fst.Guide.masks`.
        """
        bits = bits_of(rows)
        self.guide.masks((max(self._states[-1], NO_STATE),), out=bits[row : row + 1])
        self._add_ends(bits[row])

    def _add_ends(self, bits: Rows) -> None:
        """Correct the bits of the tokens that end texts in a mask of the guide."""
        if not self._others and not self.has_ended:
            return
        is_final = self._is_final(self._states[-1])
        for number, is_end in (self._others or dict.fromkeys(self._ends, True)).items():
            bit = np.uint32(1 << number % WORD_BITS)
            if is_final and is_end:
                bits[number // WORD_BITS] |= bit
            else:
                bits[number // WORD_BITS] &= ~bit

    def _is_final(self, state: int) -> bool:
        return state == AFTER_END or self.guide.is_final(state)

    def _after(self, state: int, number: int) -> int:
        """The state after a token; `NO_STATE` if it is not allowed."""
        if number in self._ends:
            return AFTER_END if state != AFTER_END and self.guide.is_final(state) else NO_STATE
        if state == AFTER_END or number in self._others or not 0 <= number < self.guide.size:
            return NO_STATE
        return self.guide.step(state, number)


def fill_rows(matchers: Sequence[tuple[Matcher, int]], rows: Any) -> None:
    """Write the masks of several texts, with one call for all texts of the same guide.

    Args:
        matchers: each text, with the index of the row for its mask.
        rows: as in `Matcher.fill`.
    """
    bits, groups = bits_of(rows), dict[int, list[tuple[Matcher, int]]]()
    for each in matchers:
        groups.setdefault(id(each[0].guide), []).append(each)
    for group in groups.values():
        guide, places = group[0][0].guide, [place for _, place in group]
        states = [max(matcher._states[-1], NO_STATE) for matcher, _ in group]
        bits[places] = guide.masks(states, out=np.empty((len(group), bits.shape[1]), np.uint32))
    for matcher, place in matchers:
        matcher._add_ends(bits[place])


def bits_of(rows: Any) -> Rows:
    """A view of masks as uint32."""
    array: NDArray[Any] = rows if isinstance(rows, np.ndarray) else rows.numpy()
    return array.view(np.uint32)
