"""The encoder of texts that change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.runtime.encoder import Encoder
from fst.runtime.sessions.reading import START, Checkpoint, Reader
from fst.runtime.sessions.session import Session, Tools
from fst.runtime.workspace import Ids, Workspace


class SessionEncoder(Encoder):
    """An encoder that also makes sessions; see `fst.runtime.encoder.Encoder`."""

    def session(self, text: str = "") -> Session:
        """Make a session: a text that grows and changes, of which only the changed part is encoded again.

        Args:
            text: the first text, as for `Session.append`.

        Returns:
            A session whose ids equal those of ``encode(text, add_special_tokens=False)`` after each change.

        Raises:
            TextError: the argument is not text, or it has a character that the vocabulary cannot encode.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> s = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able", "fit"])).session("un")
            >>> s.append("able fit").ids
            array([2, 3], dtype=int32)
        """
        session = Session(self._session_tools)
        session.append(text)
        return session

    @Lazy
    def _session_tools(self) -> Tools:
        return _tools(self, Reader(self._ids_runner, self._carried))

    def _carried(self, workspace: Workspace) -> Sequence[Any]:  # noqa: ARG002
        """Return the arrays of a workspace, besides the state and what it stores, on which the next part of a text depends."""
        return ()


def _tools(tok: Any, reader: Reader) -> Tools:
    """The parts of a tokenizer that its sessions use."""
    return Tools(
        reader=reader,
        encode=lambda text: tok.encode(text, add_special_tokens=False),
        encodes_all=tok._table.encodes_all,
        has_id=lambda number: tok.id_to_token(number) is not None,
        text_of=lambda before, ids: _text_of(tok, before, ids),
        ends_inside=lambda ids: _ends_inside(tok, ids),
        after_ids=_after_special(tok),
    )


def _text_of(tok: Any, before: Ids, ids: Ids) -> str:
    """The text of ids. The text of a token may depend on the token before it: a space at its beginning may be left out."""
    first, both, alone = (str(tok.decode(row, skip_special_tokens=False)) for row in (before, np.concatenate([before, ids]), ids))
    return both[len(first) :] if both.startswith(first) else alone


def _ends_inside(tok: Any, ids: Ids) -> bool:
    """Whether ids end inside a character."""
    try:
        stream = tok.decode_stream(skip_special_tokens=False)
    except UnsupportedError:  # tokens are joined as strings, and contain no bytes
        return False
    stream.write(ids)
    return "\ufffd" in stream.close()


def _after_special(tok: Any) -> Checkpoint:
    """The checkpoint after a special token; without a special token that no text can make longer, the beginning of a text."""
    added = tok._table.metadata.added_tokens
    contents = [*added.specials, *added.contextual]
    for special, number in added.specials.items():
        is_alone = not any(other != special and other.startswith(special) for other in contents)
        if is_alone and tok.encode(special, add_special_tokens=False).tolist() == [number]:
            return START._replace(special=special)
    return START
