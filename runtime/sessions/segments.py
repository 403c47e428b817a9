"""Encode texts in which only some parts may contain added tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np

from fst.errors import TextError, UnsupportedError, quoted
from fst.runtime.sessions.session import checked
from fst.runtime.workspace import Ids
from fst.tables.header import AddedTokens

LEAD = "\U0010ffff"  # the first character of new names; repeated until no text contains it
FIRST_NAME = 0xF0000  # a code point for private use


class SegmentEncoder:
    """An encoder of texts whose parts are from different sources.

    The added tokens in parts that allow them are found first, and replaced by new names that do not occur in the text. Another tokenizer,
    for which the added tokens have these names, then encodes the text. If the table cannot rename tokens, a tokenizer without added tokens
    encodes the texts between the tokens.

    Args:
        tok: a tokenizer.
    """

    def __init__(self, tok: Any) -> None:
        self._tok, self._added = tok, tok._table.metadata.added_tokens
        self._ids = np.array([*self._added.ids.values()], np.int32)
        self._renamed = lru_cache(maxsize=2)(self._with_names)

    def encode(self, parts: Iterable[Any]) -> Ids:
        """Encode parts; return the ids, int32[n]. See `fst.Tokenizer.encode_segments`."""
        if not isinstance(parts, Iterable):
            raise TextError(f"parts is {quoted(parts)}; expected pairs of a text and a flag; pass [(text, False)]")
        texts, found = [""], list[str]()  # the texts between added tokens, and the contents of these tokens
        for allows, run in groupby([*map(_part, parts)], itemgetter(1)):
            text, at = "".join(map(itemgetter(0), run)), 0
            for begin, end, content in self._tokens_in(text) if allows else ():
                texts[-1] += text[at:begin]
                texts.append("")
                found.append(content)
                at = end
            texts[-1] += text[at:]
        lead = LEAD
        while any(lead in text for text in texts):
            lead += LEAD
        other = self._renamed(lead)
        if other._table.metadata.added_tokens.ids or not self._added.ids:
            new = _names(self._added, lead)
            return self._bare(other, "".join([texts[0], *(new[content] + text for content, text in zip(found, texts[1:], strict=True))]))
        ids = [np.array([self._added.ids[content]], np.int32) for content in found]
        rows = [self._bare(other, text) for text in texts]
        return np.concatenate([rows[0], *chain.from_iterable(zip(ids, rows[1:], strict=True))])

    def _with_names(self, lead: str) -> Any:
        """The other tokenizer, for new names that begin with `lead`."""
        other, new = self._tok._with_added_tokens_renamed(_renamed(self._added, lead)), _names(self._added, lead)
        for old in self._added.ids if other._table.metadata.added_tokens.ids else ():
            if self._bare(other, new[old]).tolist() != self._bare(self._tok, old).tolist():
                reason = "the normalizer changes text before it is searched for this token"
                remedy = 'compile a tokenizer whose source has "normalized": false for it'
                raise UnsupportedError(f"encode_segments with the added token {quoted(old)}: {reason}; {remedy}")
        return other

    def _bare(self, tok: Any, text: str) -> Ids:
        ids: Ids = tok.encode(text, add_special_tokens=False)
        return ids

    def _tokens_in(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the begin, the end and the content of each added token in a text."""
        batch = self._tok.encode_batch([text], add_special_tokens=False, offsets=True, threads=1)
        for index in np.flatnonzero(np.isin(batch.ids, self._ids)).tolist():
            begin, end = batch.offsets[index].tolist()
            if found := self._at(text, begin, end, int(batch.ids[index])):
                yield found

    def _at(self, text: str, begin: int, end: int, number: int) -> tuple[int, int, str] | None:
        """Find the added token with an id and a span; the span may lack whitespace of the token. None: a token of the model has the id."""
        for content, known in self._added.specials.items():
            first = text.find(content, max(end - len(content), 0), begin + len(content)) if known == number else -1
            if first >= 0:
                return first, first + len(content), content
        for content, token in self._added.contextual.items():
            if token.id == number:
                return begin, end, content
        return None


def _names(added: AddedTokens, lead: str) -> dict[str, str]:
    """The new name of each added token."""
    return {content: f"{lead}{chr(FIRST_NAME + number)}" for number, content in enumerate(added.ids)}


def _renamed(added: AddedTokens, lead: str) -> AddedTokens:
    """Added tokens with new names. A token with a new name is found next to any characters."""
    new = _names(added, lead)
    tokens = {}
    for content, token in added.contextual.items():  # the normalizer may add characters around a token
        spelling = token.decoded.replace(content, new[content]) if content in token.decoded else new[content]
        tokens[new[content]] = replace(token, single_word=False, decoded=spelling)
    return replace(added, specials={new[content]: number for content, number in added.specials.items()}, contextual=tokens)


def _part(part: Any) -> tuple[str, bool]:
    """Check a part; return its text, and whether it may contain added tokens."""
    if not isinstance(part, tuple | list) or len(part) != 2:
        raise TextError(f"a part is {quoted(part)}; expected a pair of a text and a flag that allows added tokens; pass (text, False)")
    text, allows = part
    checked(text)
    if not isinstance(allows, bool | np.bool_):
        raise TextError(f"the flag of a part is {quoted(allows)}; expected True or False: whether the part may contain added tokens")
    return text, bool(allows)
