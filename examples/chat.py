"""A chat in which each turn encodes only the new message, however long the conversation is.

The arguments are a source of a vocabulary with the special token ``[SEP]``, and a text. The first message is the whole text, like a prompt
with rules and tools; the next messages are its lines::

    python examples/chat.py examples/english-uncased-8000.txt docs/figures.md

A client sends the whole conversation at each turn. The server keeps the ids of the conversation in a session, and a model's states for
these ids in a cache; this example only counts the states. Answers arrive as ids, as from a model, and are not encoded again.
"""

from __future__ import annotations

import time
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import fst
from fst.compile import tokenizer

Ids = NDArray[np.int32]
END = "[SEP]"  # the special token after each message; a real chat has a template, see `apply_chat_template` of `fst.hf`


class Turn(NamedTuple):
    """The number of ids whose states are in the cache, and the number of ids that the model has to read."""

    cached: int
    read: int


class Conversation:
    """A conversation on a server, with its ids, and the number of ids whose states are in the cache.

    Args:
        tok: any tokenizer with sessions.
    """

    def __init__(self, tok: fst.Tokenizer) -> None:
        self._tok, self.session, self.cached = tok, tok.session(), 0

    def receive(self, text: str) -> Turn:
        """Take the whole conversation, which ends with a new message. If its beginning has changed, the cache is emptied."""
        known = self.session.text
        if not text.startswith(known):
            known, self.session, self.cached = "", self._tok.session(), 0
        change = self.session.append(text[len(known) :])
        cached, self.cached = min(self.cached, change.start), change.start + len(change.ids)
        return Turn(cached, self.cached - cached)

    def answer(self, ids: Ids) -> str:
        """Take the ids that the model has written, whose states are already in the cache; return their text."""
        before = len(self.session)
        self.cached += len(self.session.append_ids(ids).ids)
        return self.session.text[before:]


def seconds_of_encode(tok: fst.Tokenizer, text: str, ids: Ids) -> float:
    """The time to encode a whole text, whose ids must be `ids`."""
    begun = time.perf_counter()
    expected = tok.encode(text, add_special_tokens=False)
    taken = time.perf_counter() - begun
    if not np.array_equal(ids, expected):
        raise SystemExit("the ids of the session are not those of the text")
    return taken


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("text", type=click.Path(exists=True, path_type=Path))
@click.option("--turns", type=click.IntRange(1), default=10, show_default=True, help="The number of messages, each with an answer.")
def main(source: Path, text: Path, turns: int) -> None:
    """Chat with the lines of TEXT and the vocabulary SOURCE; compare the ids of each turn with those of the whole conversation."""
    tok = fst.Tokenizer(tokenizer(source))
    prompt = text.read_bytes().decode()
    lines = [line for line in prompt.splitlines() if line.strip()]
    conversation, server = prompt + END, Conversation(tok)
    for number, line in enumerate(islice(cycle(lines), turns), 1):
        conversation += line + END
        begun = time.perf_counter()
        turn = server.receive(conversation)
        taken = time.perf_counter() - begun
        whole = seconds_of_encode(tok, conversation, server.session.ids)
        conversation += server.answer(tok.encode(line[::-1] + END, add_special_tokens=False))
        times = f"{taken * 1e6:5.0f} µs, encode {whole * 1e6:5.0f} µs"
        print(f"turn {number:2}: {turn.cached:6} ids in the cache, {turn.read:6} to read; {times}")


if __name__ == "__main__":
    main()
