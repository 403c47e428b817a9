"""The certain tokens at the beginning of unfinished text.

A pre-token is certain if the search for its end has ended. Let w be the bytes of the last pre-token, which is unfinished, and e(w) its
tokens. In the encoding of a longer pre-token, a token begins at the end of w, or at a position j of w and ends after w; the tokens before
it are e(w[:j]), because no merge crosses the cut before a token. So the certain tokens are the common beginning of e(w[:j]) for all
*possible starts* j: the end of w, and each j for which a longer token t begins with w[j:], and is the last token of e(w[:j] + t). The
tokens e(w[:j]) follow from the last tokens of all beginnings of w (`fst.machines.bpe.automaton`), and their common beginning is found by
going back from the last possible start, token by token, until one start is left. If the pre-token may also end inside w, the position of
this end is a possible start, too.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import PAGE_BITS, ROOT
from fst.core.lazy import Lazy
from fst.machines.bpe.automaton import ENTRY, step
from fst.machines.bpe.table import BpeTable
from fst.runtime.front_end import TextFrontEnd
from fst.runtime.rows.texts import units
from fst.runtime.workspace import Ids
from fst.text.splitter import DEAD, START

MOST = 1 << 10  # characters of a text; in a longer text, no token counts as certain
MOST_TRIED = 1 << 6  # tokens to try at a position; if there are more, the position counts as possible


class Pretokens:
    """A finder of the ends of pre-tokens in unfinished text.

    Args:
        table: the table.
    """

    def __init__(self, table: BpeTable) -> None:
        self._table = table

    def last_begin(self, text: str) -> int:
        """The last position where a pre-token begins with any later text. The text begins with a pre-token."""
        start = 0
        while (end := self._end(text, start)) is not None:
            start = end
        return start

    def _class(self, char: str) -> int:
        """The class of a character."""
        return int(self._table.blocks[int(self._table.pages[ord(char) >> PAGE_BITS]) << PAGE_BITS | ord(char) & (1 << PAGE_BITS) - 1])

    def _search(self, text: str, start: int) -> tuple[int, int]:
        """Search for the pre-token at a position; return its last end so far, and the state of the search."""
        state, end = START, start + 1
        for place in range(start, len(text)):
            move = int(self._table.moves[state, self._class(text[place])])
            end, state = place if move & 1 and place > start else end, move >> 1
            if state == DEAD:
                break
        return end, state

    def _end(self, text: str, start: int) -> int | None:
        """The end of the pre-token at a position; None if later text may change it."""
        end, state = self._search(text, start)
        return end if state == DEAD else None


class CertainTokens(Pretokens):
    """A finder of certain tokens, for a table with an automaton.

    Args:
        table: the table.
    """

    def __init__(self, table: BpeTable) -> None:
        super().__init__(table)
        known = table.metadata.model.model_tokens
        self._tokens = sorted(zip(table.contents[:known], table.token_ids[:known].tolist(), strict=True))
        self._contents = [content for content, _ in self._tokens]
        self._longest = max(map(len, self._contents))
        self._specials = [*table.metadata.added_tokens.ids]

    @staticmethod
    def can_read(table: BpeTable) -> bool:
        """Whether the tokens depend only on the bytes of the pre-token. A normalizer may have mapped and composed its characters."""
        model, by = table.metadata.model, table.metadata.text.normalizer
        is_joined = model.joins_words and not model.longest_match
        changes = (by and (by.edits or not by.is_plain or table.metadata.added_tokens.contextual)) or (
            model.missing_bytes or model.continuing_subword_prefix or model.end_of_word_suffix
        )
        return table.has_automaton and not changes and not len(table.byte_kinds) and not table.drops_bytes and not is_joined

    def count(self, text: str, ids: Ids) -> int:
        """The number of certain tokens of a text that begins with a pre-token, and may continue. `ids`: int32[n], the ids of the text."""
        if len(text) > MOST:
            return 0
        start, known, left = 0, len(text) - self._may_begin_special(text), ids.tolist()
        while (end := self._end(text[:known], start)) is not None:
            tokens = [] if self._table.drops[self._class(text[start])] else [*self._table.run_pretoken(text[start:end].encode())]
            if left[: len(tokens)] != tokens:
                return len(ids) - len(left)
            start, left = end, left[len(tokens) :]
        unfinished = self._unfinished(text[start:], left) if start < known == len(text) else 0
        return len(ids) - len(left) + unfinished

    def _unfinished(self, text: str, ids: list[int]) -> int:
        """The number of certain tokens of an unfinished pre-token with the ids `ids`."""
        data, states = text.encode(), [ROOT]
        for byte in data:
            states.append(step(self._table.entries, states[-1], byte))
        lasts = ENTRY.targets_of(self._table.entries[np.array(states)])
        sizes = self._table.lengths[lasts].tolist()
        sizes[0] = 0
        if _tokens_before(len(data), lasts, sizes) != ids:
            return 0
        common = len(data)
        for end in self._ends_inside(text):
            common = _common(common, end, sizes)
        for at in range(max(len(data) - self._longest, 0), len(data)):
            before = _common(common, at, sizes)
            if before < common and self._may_start(data[at:], states[at]):
                common = before
        if self._table.metadata.model.ignore_merges and self._is_beginning(data):
            common = 0
        return len(_tokens_before(common, lasts, sizes))

    def _is_beginning(self, data: bytes) -> bool:
        """Whether a longer token begins with some bytes."""
        place = bisect_right(self._contents, data)
        return place < len(self._contents) and self._contents[place].startswith(data)

    def _may_start(self, rest: bytes, state: int) -> bool:
        """Whether a longer token may begin with the bytes `rest`, after bytes that lead to a state."""
        first = bisect_right(self._contents, rest)
        for place in range(first, len(self._contents)):
            content, number = self._tokens[place]
            if not content.startswith(rest):
                return False
            if place - first == MOST_TRIED:
                return True
            after = state
            for byte in content:
                after = step(self._table.entries, after, byte)
            if ENTRY.unpack(self._table.entries[after]).target == number:
                return True
        return False

    def _ends_inside(self, text: str) -> list[int]:
        """The position inside an unfinished pre-token, in bytes, where it may end; empty if there is none."""
        end, state = self._search(text, 0)
        return [len(text[:end].encode())] if self._may_fail[state] else []

    @Lazy
    def _may_fail(self) -> NDArray[np.bool_]:
        """bool[states], whether a search may end after a state without a longer match."""
        moves = self._table.moves
        found: NDArray[np.bool_] = np.arange(len(moves)) == DEAD
        for _ in moves:  # a shortest path to such an end passes each state once
            found |= (found[moves >> 1] & (moves & 1 == 0)).any(axis=1)
        return found

    def _may_begin_special(self, text: str) -> int:
        """The number of characters at the end of a text that may be the beginning of an added token."""
        sizes = (size for special in self._specials for size in range(1, len(special)) if text.endswith(special[:size]))
        return max(sizes, default=0)


def before_border(text: str, front_end: TextFrontEnd) -> str:
    """The longest known beginning of an unfinished text whose normal form does not depend on the text after it."""
    data = units(text, np.dtype(np.uint8))
    return bytes(data[: front_end.border(data, np.array([0, len(data)]), np.zeros(3, np.uint64))]).decode()


def _tokens_before(at: int, lasts: NDArray[np.int64], sizes: list[int]) -> list[int]:
    """The tokens of the bytes before a position. `lasts`, `sizes`: the last token before each position, and its number of bytes."""
    found = []
    while at:
        found.append(int(lasts[at]))
        at -= sizes[at]
    return found[::-1]


def _common(one: int, other: int, sizes: list[int]) -> int:
    """The last position at which the tokens before two positions both end."""
    while one != other:
        if one > other:
            one -= sizes[one]
        else:
            other -= sizes[other]
    return one
