"""A session has the ids of its text after any changes.

Sessions are compared with `encode` of the whole text, for samples of all tables of tokenizers. Blocks are small, so that a text of some
hundred characters has many chunks.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule, run_state_machine_as_test
from support.conformance.samples import SAMPLES, each
from support.conformance.ways import table_of
from support.naive.sessions import NaiveSession
from support.tiers import examples

import fst
from fst.runtime.sessions import edits

NAMES = [name for name, sample in SAMPLES.items() if sample.kind in ("wordpiece", "bpe", "unigram")]
TRAPS = ("   ", "\n", "\u0301", "e\u0301", "\U0001f600", "a" * 40, "<s>", "<", "s>", "[MASK", "]", "\u3000 ", "1234567", "it's", "\u1100")


@functools.cache
def made(name: str) -> Any:
    """Make the tokenizer of a sample."""
    return fst.Tokenizer(table_of(name))


def encode(tok: Any, text: str) -> list[int]:
    """Encode a text without special tokens around it."""
    ids: list[int] = tok.encode(text, add_special_tokens=False).tolist()
    return ids


def naive(tok: Any) -> NaiveSession:
    """Make the slow twin of a session."""

    def text_of(before: list[int], ids: list[int]) -> str:
        first, both = (tok.decode(row, skip_special_tokens=False) for row in (before, [*before, *ids]))
        return str(both[len(first) :] if both.startswith(first) else tok.decode(ids, skip_special_tokens=False))

    added = tok._table.metadata.added_tokens
    contents = {*added.specials, *added.contextual}
    alone = [special for special in added.specials if not any(other != special and other.startswith(special) for other in contents)]
    return NaiveSession(lambda text: encode(tok, text), text_of, next(iter(alone), ""))


def applied(ids: list[int], change: Any) -> list[int]:
    """Apply a change to ids."""
    return [*ids[: change.start], *change.ids.tolist(), *ids[change.start + change.removed :]]


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide texts into chunks of few characters, in trees of few children, and try short texts."""
    monkeypatch.setattr(edits, "BLOCK", 12)
    monkeypatch.setattr("fst.runtime.sessions.chunks.MOST", 3)
    monkeypatch.setattr("fst.runtime.sessions.reading.TRIED", 6)


class Pair:
    """A session and its slow twin."""

    def __init__(self, session: fst.Session, twin: NaiveSession) -> None:
        self.session, self.twin, self.ids = session, twin, twin.ids
        self.marks: list[tuple[Any, NaiveSession]] = []

    def check(self, change: Any) -> None:
        """Compare the two after a change."""
        assert applied(self.ids, change) == self.twin.ids
        self.ids = self.twin.ids


class Sessions(RuleBasedStateMachine):
    """Random changes of sessions of a sample."""

    name = ""
    pairs = Bundle("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.tok = made(self.name)
        self.parts = (*SAMPLES[self.name].parts, *TRAPS)
        self.all: list[Pair] = []

    def text(self, data: Any, most: int) -> str:
        """Draw a text."""
        return "".join(data.draw(st.lists(st.sampled_from(self.parts), max_size=most)))

    def added(self, pair: Pair) -> Pair:
        """Remember a pair."""
        self.all.append(pair)
        return pair

    @initialize(target=pairs)
    def begin(self) -> Any:
        """Make an empty session."""
        return self.added(Pair(self.tok.session(), naive(self.tok)))

    @rule(pair=pairs, data=st.data())
    def append(self, pair: Pair, data: Any) -> None:
        """Append a text."""
        self.change(pair, len(pair.session), len(pair.session), self.text(data, 12), appends=True)

    @rule(pair=pairs, data=st.data(), size=st.sampled_from([0, 0, 1, 2, 30]))
    def edit(self, pair: Pair, data: Any, size: int) -> None:
        """Replace a part of the text."""
        begin = data.draw(st.integers(0, len(pair.session)))
        self.change(pair, begin, min(begin + size, len(pair.session)), self.text(data, 4), appends=False)

    def change(self, pair: Pair, begin: int, end: int, text: str, *, appends: bool) -> None:
        """Replace a part of the text, or find the same error."""
        twin = pair.twin.copy()
        is_possible = twin.edit(begin, end, text)
        try:
            _ = twin.ids
        except fst.TextError:
            is_possible = False
        if is_possible:
            try:
                change = pair.session.append(text) if appends else pair.session.edit(begin, end, text)
            except ValueError:
                assert pair.session.text.endswith("\ufffd")  # appended ids end inside a character
                return
            pair.twin = twin
            pair.check(change)
        else:
            with pytest.raises((fst.TextError, ValueError)):
                pair.session.edit(begin, end, text)

    @rule(pair=pairs, data=st.data(), of_text=st.booleans())
    def append_ids(self, pair: Pair, data: Any, of_text: bool) -> None:
        """Append the ids of a text, or any ids."""
        some = [*self.tok.get_vocab().values()]
        ids = data.draw(st.lists(st.sampled_from(some), min_size=1, max_size=3))
        if of_text:
            try:
                ids = encode(self.tok, self.text(data, 3))
            except fst.TextError:
                return
        if ids:
            pair.twin.append_ids(ids)
            pair.check(pair.session.append_ids(ids))

    @rule(target=pairs, pair=pairs)
    def fork(self, pair: Pair) -> Any:
        """Fork a session."""
        return self.added(Pair(pair.session.fork(), pair.twin.copy())) if len(self.all) < 4 else multiple()

    @rule(pair=pairs)
    def mark(self, pair: Pair) -> None:
        """Mark a version."""
        pair.marks.append((pair.session.mark(), pair.twin.copy()))

    @rule(pair=pairs, data=st.data())
    def rollback(self, pair: Pair, data: Any) -> None:
        """Return to a mark; later marks become invalid."""
        if pair.marks:
            place = data.draw(st.integers(0, len(pair.marks) - 1))
            pair.session.rollback(pair.marks[place][0])
            later, pair.marks = pair.marks[place + 1 :], pair.marks[: place + 1]
            pair.twin, pair.ids = pair.marks[place][1].copy(), pair.marks[place][1].ids
            for mark, _ in later:
                with pytest.raises(ValueError, match="expected a mark of this session"):
                    pair.session.rollback(mark)

    def teardown(self) -> None:
        """Check all sessions."""
        for pair in self.all:
            self.check(pair)

    @rule(pair=pairs)
    def check(self, pair: Pair) -> None:
        """The ids, the text and the number of certain ids are those of the twin."""
        session, twin = pair.session, pair.twin
        assert (session.ids.tolist(), session.text, len(session)) == (twin.ids, twin.text, len(twin.text))
        assert session.ids.dtype == np.int32
        assert session.certain <= len(twin.ids)
        assert session.certain >= sum(map(len, twin.ids_of_parts[:-1]))
        assert session.is_canonical == (len(twin.parts) == 1 or self.is_encoded(twin))

    def is_encoded(self, twin: NaiveSession) -> bool:
        """Whether the ids of a twin are those of its text."""
        try:
            return encode(self.tok, twin.text) == twin.ids
        except fst.TextError:
            return False


@each(NAMES, 71)
def test_any_changes(name: str) -> None:
    """After random edits, forks, rollbacks and appended ids, the ids are those of the text."""
    machine = type("Machine", (Sessions,), {"name": name})
    options: Any = examples(400, stateful_step_count=20)
    run_state_machine_as_test(machine, settings=options)
