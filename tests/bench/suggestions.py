"""Compare the time of suggestions with that of Hunspell's library, in one process, in processor time of one thread.

    python tests/bench/suggestions.py /usr/share/hunspell/en_US.aff

The words are words of the dictionary after one or two random edits. Hunspell's library must be installed (Debian: libhunspell-1.7-0).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import mean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sources.hunspell_library import Hunspell

import fst
from fst.compile import speller
from fst.compile.sources.transducers.hunspell.files import read_dictionary

LETTERS = "abcdefghijklmnoprstuvwz"


def main() -> None:
    """Print the times for each dictionary."""
    parser = argparse.ArgumentParser(description="Compare the time of suggestions with that of Hunspell's library.")
    parser.add_argument("dictionaries", nargs="+", type=Path, metavar="AFF")
    parser.add_argument("--words", type=int, default=300)
    given = parser.parse_args()
    for path in given.dictionaries:
        source, ours = read_dictionary(path), fst.Speller(speller(path))
        theirs, words = Hunspell(path, source.options.encoding), list[str]()
        draw, right = Random(1), [entry.word for entry in source.entries if len(entry.word) > 3]
        while len(words) < given.words:
            word = misspelled(draw, draw.choice(right))
            words += [] if ours.check(word) else [word]
        ours.suggest(words[0])
        mine, other = (timed(suggest, words) for suggest in (ours.suggest, theirs.suggest))
        found = mean(shared(ours.suggest(word), theirs.suggest(word)[:5]) for word in words)
        times = f"median {median(mine):.2f} / {median(other):.2f} ms, mean {mean(mine):.2f} / {mean(other):.2f} ms"
        print(f"{path.stem}, fst / hunspell: {times}; {found:.0%} of hunspell's first five are among ours")


def misspelled(draw: Random, word: str) -> str:
    """A word after one or two random edits."""
    letters = [*word]
    for _ in range(draw.choice((1, 1, 1, 2))):
        at, kind = draw.randrange(len(letters)), draw.randrange(4)
        new = ["", draw.choice(LETTERS), letters[at] + draw.choice(LETTERS), "".join(letters[at : at + 2][::-1])][kind]
        letters[at : at + 1 + (kind == 3)] = new
    return "".join(letters)


def shared(ours: list[str], theirs: list[str]) -> float:
    """The share of the suggestions of the library that are among ours; 1 if there are none."""
    return mean(text in ours for text in theirs) if theirs else 1.0


def timed(suggest: Callable[[str], list[str]], words: list[str]) -> list[float]:
    """The time for each word, in ms."""
    times = []
    for word in words:
        start = time.thread_time()
        suggest(word)
        times.append(1e3 * (time.thread_time() - start))
    return times


if __name__ == "__main__":
    main()
