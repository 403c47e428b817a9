"""The encoder of texts that change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fst.core.lazy import Lazy
from fst.errors import TextError, UnsupportedError, not_one_of
from fst.runtime.encoder import Encoder
from fst.runtime.sessions.covers import CoverFinder, Covers
from fst.runtime.sessions.cuts import longest_beginning, longest_end
from fst.runtime.sessions.reading import START, Checkpoint, Reader
from fst.runtime.sessions.segments import SegmentEncoder
from fst.runtime.sessions.session import Session, Tools, checked, whole
from fst.runtime.workspace import Ids, Workspace
from fst.tables.header import AddedTokens

SIDES = ("left", "right")


class SessionEncoder(Encoder):
    """An encoder that also makes sessions; see `fst.runtime.encoder.Encoder`."""

    def session(self, text: str = "") -> Session:
        """Make a session: a text that grows and changes, of which only the changed part is encoded again.

        Args:
            text: the first text, as for `Session.append`.

        Returns:
            A session whose ids equal those of ``encode(text, add_special_tokens=False)`` after each change, except after `append_ids`.

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

    def cut(self, text: str, *, tokens: int, side: str = "left") -> tuple[str, int]:
        """Find the longest beginning, or the longest end, of a text that has at most a number of ids. Special tokens around a text do not
        count.

        The ids are not stored, and little text after the cut is read. The end of a text without safe cuts (`fst.runtime.safe_cuts`), as for
        Unigram, takes longer: one trial for each character that is cut off.

        Args:
            text: a str.
            tokens: the maximum number of ids, at least 0. 0: the result is empty.
            side: the side of the text that is kept, "left" or "right"; ``truncation_side`` of ``transformers`` is the side that is removed.

        Returns:
            The longest beginning (or end) of the text whose `encode` has at most `tokens` ids; and the number of these ids. A longer text
            may have fewer ids than a shorter one; then the longer text is returned.

        Raises:
            TextError: the argument is not text, or the result has a character that the vocabulary cannot encode.
            TypeError: `tokens` is not a whole number.
            ValueError: `tokens` is negative, or `side` has an unknown value.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able", "fit"]))
            >>> tok.cut("unable unfit fit", tokens=3), tok.cut("unable unfit fit", tokens=2, side="right")
            (('unable unfit ', 3), (' unfit fit', 2))
        """
        most = whole("tokens", tokens)
        if most < 0:
            raise ValueError(f"tokens is {most}; expected at least 0, the maximum number of ids")
        if side not in SIDES:
            raise ValueError(not_one_of("side", side, SIDES))
        if not isinstance(text, str) or not most:
            checked(text)
            return "", 0
        try:
            return self._cut(text, most, side)
        except (UnicodeEncodeError, TextError):
            checked(text)  # raises the error for the first lone surrogate
            raise

    def covers(self, text: str) -> Covers:
        """Find the sequences of ids that cover a text, for token healing. If a text ends inside a token, its ids differ from the first ids
        of the text with its continuation, and a model continues them badly. To heal the text, a model gets the certain ids, and chooses
        among the endings.

        Let `longer` be a text that begins with the given text, and to which the ids ``encode(longer, add_special_tokens=False)`` decode.
        Each `longer` text gives one sequence: its first ids, up to the id that covers the end of the given text. For WordPiece and Unigram,
        `longer` contains no added token. An empty text is covered by each id with which a text may begin. If the normalizer composes, both
        texts are composed before they are compared.

        For byte-level BPE, the time is that of `encode`, and linear in the last pre-token; `Session.covers` needs no `encode`. For
        WordPiece and Unigram, it is linear in the text. The first call makes automata, in 0.5 to 2 s.

        Args:
            text: a str.

        Returns:
            The ids with which all sequences begin; and the endings. An ending is a set of sequences that differ only in their last id.

        Raises:
            TextError: the argument is not text, or it has a character that the vocabulary cannot encode.
            UnsupportedError: the vocabulary has no canonical masks, see `fst.Guide`; the ids of a text of WordPiece or Unigram do not
                decode to the text; or an added token near the end of the text is a part of another one that may follow.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able", "##a", "able", "unit"]))
            >>> certain, endings = tok.covers("able un")
            >>> certain, [(end.ids.tolist(), end.last.tolist(), end.remaining) for end in endings]
            (array([4], dtype=int32), [([], [1, 5], [b'', b'it'])])
        """
        return self.session(text).covers()

    def encode_segments(self, parts: Iterable[tuple[str, bool]]) -> Ids:
        """Encode a text whose parts are from different sources, such as a prompt with untrusted text. Added tokens, special or not,
        are found only in parts that allow them, and never across the border of a part that does not.

        Args:
            parts: pairs of a text, and whether the text may contain added tokens. Adjacent parts that both allow them are one text.

        Returns:
            int32[n], without special tokens around the text. Apart from added tokens, the borders of parts have no effect: a word may
            begin in one part and end in the next.

        Raises:
            TextError: `parts` is not a row of pairs of a text and a bool, or a text has a character that the vocabulary cannot encode.
            UnsupportedError: some part allows added tokens, but the vocabulary does not support `offsets`; or the normalizer changes text
                before it is searched for an added token.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "un", "[", "]", "sep"]))
            >>> tok.encode_segments([("un[SEP]", True), ("un[SEP]", False)])
            array([2, 1, 2, 3, 5, 4], dtype=int32)
        """
        return self._segments.encode(parts)

    @Lazy
    def _segments(self) -> SegmentEncoder:
        return SegmentEncoder(self)

    def _with_added_tokens_renamed(self, added: AddedTokens) -> Any:
        """Make a tokenizer with new names of the added tokens; or without added tokens, if the table cannot rename them."""
        raise NotImplementedError

    def _cut(self, text: str, most: int, side: str) -> tuple[str, int]:
        tools, runner = self._session_tools, self._ids_runner
        if side == "left":
            found = longest_beginning(text, most, tools.reader)
        else:
            may_cut = runner.front_end is None or runner.front_end.keeps_cuts
            cuts = self._safe_cuts if may_cut else None
            found = longest_end(text, most, tools.reader, cuts, self._count)
        if not tools.encodes_all:
            tools.encode(found[0])  # raises an error for an unknown character
        return found

    def _count(self, text: str) -> int:
        """The number of ids of a text."""
        return int(self.count_tokens([text], add_special_tokens=False, threads=1)[0])

    @Lazy
    def _covers(self) -> CoverFinder:
        from fst.bridge.guide import cover_search

        table, reader = self._table, self._session_tools.reader
        return CoverFinder(cover_search(table), table.metadata.added_tokens, reader, self._last_begin)

    @Lazy
    def _session_tools(self) -> Tools:
        return _tools(self, Reader(self._ids_runner, self._carried))

    def _certain_in(self, text: str, ids: Ids) -> int:  # noqa: ARG002
        """Return the number of leading ids of unfinished text that no later text can change; by default, 0."""
        return 0

    def _last_begin(self, text: str) -> int:  # noqa: ARG002
        """Return the last position in unfinished text where a pre-token begins with any later text; by default, 0."""
        return 0

    def _carried(self, workspace: Workspace) -> Sequence[Any]:  # noqa: ARG002
        """Return the arrays of a workspace on which the next part of a text depends, apart from the state and the stored text."""
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
        certain_in=tok._certain_in,
        covers=lambda version: tok._covers.find(version),
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
    """The checkpoint after a special token with which no other added token begins; if there is none, the beginning of a text."""
    added = tok._table.metadata.added_tokens
    contents = [*added.specials, *added.contextual]
    for special, number in added.specials.items():
        is_alone = not any(other != special and other.startswith(special) for other in contents)
        if is_alone and tok.encode(special, add_special_tokens=False).tolist() == [number]:
            return START._replace(special=special)
    return START
