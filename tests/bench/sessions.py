"""Measure sessions with GPT-2: the time of each call, the memory, a chat in ten turns, and cuts.

    python tests/bench/sessions.py [FOLDER] [--edits N]

``figures.py`` describes FOLDER. The text is English books. With ``--edits``, nothing is measured: the ids of GPT-2 and Qwen3
after each of N random edits, in texts of a thousand characters at first, are compared with those of `encode`.
"""

from __future__ import annotations

import argparse
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rows import BOOKS, FOLDER

import fst
from fst.compile import tokenizer

ROUNDS = 99
CALLS = 2000
MEGA = 1_000_000
PIECES = ("\u0301", "e\u0301", "   ", "\n\n", "<|endoftext|>", "<|endof", "text|>", "\U0001f600", "it's", "12345", "世界", "a" * 50)


def times(calls: Iterator[Callable[[], object]]) -> str:
    """The median and the 99th percentile of the times of calls, in microseconds."""
    found = sorted(seconds(call) * 1e6 for call in calls)
    return f"{median(found):.1f} (p99 {found[len(found) * 99 // 100]:.1f})"


def seconds(call: Callable[[], object]) -> float:
    """The seconds of a call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def ratio(call: Callable[[], object], other: Callable[[], object]) -> float:
    """The least time of a call relative to that of another. They run in turns, and other programs run on the same cores."""
    both = [(seconds(call), seconds(other)) for _ in range(ROUNDS)]
    return min(first for first, _ in both) / min(second for _, second in both)


def calls_of(tok: Any, text: str) -> dict[str, str]:
    """The times of the calls of a session."""
    draw, start = random.Random(1), 4 * MEGA
    appended, edited = tok.session(text[:start]), tok.session(text[: 10 * MEGA])
    pieces = [text[start + 256 * number :][:256] for number in range(CALLS)]
    places = [draw.randrange(10 * MEGA - 10) for _ in range(CALLS)]
    found = {
        "`append` of 256 characters to 4 million, µs": times(lambda piece=piece: appended.append(piece) for piece in pieces),  # type: ignore[misc]
        "`encode` of the same characters, µs": times(lambda piece=piece: tok.encode(piece) for piece in pieces),  # type: ignore[misc]
        "edit of 10 characters in 10 million, µs": times(
            lambda place=place: edited.edit(place, place + 10, text[place + 7 : place + 17])  # type: ignore[misc]
            for place in places
        ),
        "`fork`, µs": times(edited.fork for _ in range(CALLS)),
        "`mark`, µs": times(edited.mark for _ in range(CALLS)),
    }
    mark = edited.mark()
    found["`rollback`, µs"] = times(lambda: edited.rollback(mark) for _ in range(CALLS))
    assert np.array_equal(edited.ids, tok.encode(edited.text, add_special_tokens=False))
    return found


def memory(tok: Any, text: str) -> float:
    """The bytes per character of a session, the text included."""
    tok.session(text[:MEGA])
    tracemalloc.start()
    session = tok.session(text)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(session)


def chat(tok: Any, text: str) -> float:
    """The time of ten turns of a chat of 40,000 ids, relative to the time to encode the whole chat once."""
    whole, _ = tok.cut(text, tokens=40_000)
    size = len(whole) // 10
    turns = [whole[begin : begin + size] for begin in range(0, len(whole), size)]

    def turn() -> None:
        session = tok.session()
        for each in turns:
            session.append(each)

    return ratio(turn, lambda: tok.encode(whole))


def cut(tok: Any, text: str, side: str) -> float:
    """The time to cut a text at 500,000 ids, relative to the time to count the ids of the result."""
    found, _ = tok.cut(text, tokens=500_000, side=side)
    count = lambda: tok.count_tokens([found], threads=1)  # noqa: E731
    return ratio(lambda: tok.cut(text, tokens=500_000, side=side), count)


def covers(tok: Any, text: str) -> str:
    """The times to find the covers of texts that are cut anywhere, in sessions, in microseconds."""
    draw = random.Random(3)
    sessions = [tok.session(text[begin : begin + 10_000]) for begin in draw.sample(range(len(text) - 10_000), CALLS)]
    sessions[0].covers()
    return times(session.covers for session in sessions)


def wrong(tok: Any, text: str, edits: int) -> int:
    """The number of random edits after which the ids are not those of the text."""
    draw, found = random.Random(2), 0
    for number in range(edits):
        if not number % 50:
            begin = draw.randrange(len(text) - 1000)
            session, known = tok.session(text[begin : begin + 1000]), text[begin : begin + 1000]
        begin = draw.randint(0, len(known))
        end, at = min(begin + draw.choice([0, 0, 1, 5, 60]), len(known)), draw.randrange(len(text))
        new = draw.choice([*PIECES, "", text[at : at + draw.randint(0, 80)]])
        session.edit(begin, end, new)
        known = known[:begin] + new + known[end:]
        found += not np.array_equal(session.ids, tok.encode(known, add_special_tokens=False))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--edits", type=int)
    given = parser.parse_args()
    text = (given.folder / "corpora" / BOOKS).read_text(encoding="utf-8")
    for name in ("gpt2", "qwen3/tokenizer.json.gz") if given.edits else ("gpt2",):
        tok = fst.Tokenizer(tokenizer(given.folder / "vocab_bpe" / name))
        if given.edits:
            print(f"{name}: {wrong(tok, text, given.edits)} wrong of {given.edits} edits", flush=True)
            continue
        tok.encode(text[:MEGA])
        for row in calls_of(tok, text).items():
            print("| {} | {} |".format(*row), flush=True)
        print(f"| `covers` of a text that is cut anywhere, µs | {covers(tok, text[:MEGA])} |", flush=True)
        print(f"| memory of a session, bytes per character | {memory(tok, text[: 10 * MEGA]):.2f} |", flush=True)
        print(f"| ten turns, 40,000 ids in all, relative to one `encode` | {chat(tok, text):.2f} |", flush=True)
        for side in ("left", "right"):
            print(f"| `cut` at 500,000 ids, {side}, relative to `count_tokens` | {cut(tok, text[: 4 * MEGA], side):.2f} |", flush=True)


if __name__ == "__main__":
    main()
