"""The text of a request that allows a few texts; each result is computed from these texts."""

from __future__ import annotations

from collections.abc import Sequence


class Matcher:
    """A text that is being written.

    Args:
        texts: the allowed texts.
        tokens: the string of each id; None for a token without text.
        ends: the ids that end the text.
    """

    def __init__(self, texts: Sequence[str], tokens: Sequence[str | None], ends: set[int]) -> None:
        self.texts, self.tokens, self.ends = texts, tokens, ends
        self.ids: list[int] = []

    def is_allowed(self, ids: Sequence[int], number: int) -> bool:
        """Whether a token may come after others."""
        before = "".join(self.tokens[each] or "" for each in ids)
        if any(each in self.ends for each in ids):
            return False
        if number in self.ends:
            return before in self.texts
        token = self.tokens[number] if 0 <= number < len(self.tokens) else None
        return token is not None and any(text.startswith(before + token) for text in self.texts)

    def allowed(self) -> list[int]:
        """The ids that are allowed next."""
        return self._allowed_after(self.ids)

    def validate(self, ids: Sequence[int]) -> int:
        """The number of leading ids that are allowed one after another."""
        for count, number in enumerate(ids):
            if not self.is_allowed([*self.ids, *ids[:count]], number):
                return count
        return len(ids)

    def forced(self) -> list[int]:
        """The ids of the next tokens, as long as only one is allowed."""
        ids = list(self.ids)
        while len(found := self._allowed_after(ids)) == 1 and found[0] not in self.ends:
            ids += found
        return ids[len(self.ids) :]

    def _allowed_after(self, ids: Sequence[int]) -> list[int]:
        return [number for number in range(len(self.tokens)) if self.is_allowed(ids, number)]
