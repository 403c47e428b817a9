"""Measure keyword search of this package and of libraries in Rust, and print a table.

    pip install -e ".[search]"
    python tests/bench/search.py [FOLDER] [--rows WORD]

``peers.py`` describes FOLDER. All libraries find the leftmost-longest matches in lines, on one thread. `fst` returns columns, and the other
libraries return lists of tuples; the numbers of matches are compared. The libraries take turns, and a figure is the best of the rounds, in
MB/s of UTF-8. Other tables are about single short texts, keywords that nearly match everywhere, compilation, and replacement.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Any

import ahocorasick_rs
import daachorse
from rows import BOOKS, FOLDER, documents
from turns import Run, best_in_turns

import fst
from fst.compile import keywords

MEGABYTES = 8  # size of the text in MB
LONGEST = ahocorasick_rs.MatchKind.LeftmostLongest, daachorse.MATCH_KIND_LEFTMOST_LONGEST
MOST_OF_DFA = 20_000  # maximum number of keywords for a DFA, which would need gigabytes for more


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--rows", default="", metavar="WORD", help="only rows with this word in their name")
    arguments = parser.parse_args()
    batches(arguments.folder, arguments.rows)
    if not arguments.rows:
        short_texts(arguments.folder)
        repeated_letters()
        building(arguments.folder)
        replacing(arguments.folder)


def sets(folder: Path) -> Iterable[tuple[str, list[str], list[str]]]:
    """Yield each set of keywords with its name and the lines to search."""
    text = (folder / "corpora" / BOOKS).read_text(encoding="utf-8")[: MEGABYTES * 10**6]
    words, lines, draw = english(folder), text.splitlines(), random.Random(0)
    common = [word for word, _ in Counter(re.findall(r"\w+", text)).most_common(10_000)]
    yield "10,000 random words", draw.sample(words, 10_000), lines
    yield "10,000 commonest words", common, lines
    yield f"{len(words):,} words", words, lines
    yield "1,000 rare words", ["qz" + word for word in draw.sample(words, 1_000)], lines
    chinese = [line.split(" ")[0] for line in documents(folder / "dict" / "jieba_dict.txt") if line]
    yield f"{len(chinese):,} Chinese words", chinese, documents(folder / "corpora" / "docs_zh.md") * 4


def english(folder: Path) -> list[str]:
    """A large list of words."""
    return [word for word in documents(folder / "dict" / "american-english-huge.txt") if word]


def searches(listed: list[str], lines: list[str]) -> dict[str, Run]:
    """For each library, a function that searches all lines."""
    data, encoded = [line.encode() for line in lines], [word.encode() for word in listed]
    of_text, of_bytes = ahocorasick_rs.AhoCorasick, ahocorasick_rs.BytesAhoCorasick
    find: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
        ("ahocorasick_rs str", of_text(listed, matchkind=LONGEST[0]).find_matches_as_indexes, lines),
        ("ahocorasick_rs bytes", of_bytes(encoded, matchkind=LONGEST[0]).find_matches_as_indexes, data),
        ("daachorse bytes", daachorse.DoubleArrayAhoCorasick(encoded, LONGEST[1]).find, data),
        ("daachorse str", daachorse.CharwiseDoubleArrayAhoCorasick(listed, LONGEST[1]).find, lines),
    ]
    if len(listed) <= MOST_OF_DFA:
        whole = of_text(listed, matchkind=LONGEST[0], implementation=ahocorasick_rs.Implementation.DFA)
        find.append(("ahocorasick_rs DFA", whole.find_matches_as_indexes, lines))
    own: Run = partial(fst.Searcher(keywords(listed)).find_batch, lines, threads=1)
    return {"fst": own} | {name: partial(each, function, texts) for name, function, texts in find}


def each(function: Callable[[Any], Any], texts: Iterable[Any]) -> list[Any]:
    """A function that calls `function` with each text, and returns the results."""
    return [function(text) for text in texts]


def batches(folder: Path, word: str) -> None:
    """Measure the search of lines."""
    names = ["fst", "ahocorasick_rs str", "ahocorasick_rs bytes", "ahocorasick_rs DFA", "daachorse bytes", "daachorse str"]
    print(f"| MB/s | matches | {' | '.join(names)} |\n| --- | ---: |{' ---: |' * len(names)}", flush=True)
    for name, listed, lines in sets(folder):
        if word in name:
            compared = searches(listed, lines)
            found = {peer: matches(search()) for peer, search in compared.items()}
            size = sum(len(line.encode()) for line in lines)
            taken = best_in_turns(compared)
            figures = [figure(size / taken[peer] / 1e6, found[peer] == found["fst"]) if peer in taken else "" for peer in names]
            print(f"| {name} | {found['fst']:,} | {' | '.join(figures)} |", flush=True)
    print("\n† other matches than fst\n")


def figure(speed: float, is_equal: bool) -> str:
    """Format a speed, with a dagger if the number of matches differs."""
    return f"{speed:,.0f}" + ("" if is_equal else " †")


def matches(found: Any) -> int:
    """The number of matches in the result of a library."""
    return len(found.ids) if isinstance(found, fst.Matches) else sum(map(len, found))


def short_texts(folder: Path) -> None:
    """Measure the search of one text of 80 characters at a time."""
    listed = random.Random(0).sample(english(folder), 10_000)
    texts = [line[:80] for line in documents(folder / "corpora" / BOOKS)[:20_000] if len(line) > 60][:2_000]
    own, peer = fst.Searcher(keywords(listed)), ahocorasick_rs.AhoCorasick(listed, matchkind=LONGEST[0])
    runs: dict[str, Run] = {
        "fst": lambda: [[*own.find_iter(text)] for text in texts],
        "ahocorasick_rs": partial(each, peer.find_matches_as_indexes, texts),
    }
    us, them = (spent / len(texts) * 1e6 for spent in best_in_turns(runs).values())
    print(f"`find_iter` on a line: {us:.1f} µs, ahocorasick_rs {them:.1f} µs")


def repeated_letters() -> None:
    """Measure the search of a text of repeated `a` for keywords that nearly match everywhere."""
    text = "a" * 10**6
    runs: dict[str, Run] = {
        str(size): partial(fst.Searcher(keywords(["a", "a" * size + "b"])).find_batch, [text], threads=1)
        for size in (10, 100, 1_000, 4_000)
    }
    taken = best_in_turns(runs)
    shown = ", ".join(f"{size}: {spent / len(text) * 1e9:.1f} ns" for size, spent in taken.items())
    print(f"a, and k times a and b, over many a; a character takes for k = {shown}")


def building(folder: Path) -> None:
    """Measure the compilation of keywords in a separate process, from a file to a file."""
    draw, words = random.Random(0), english(folder)
    letters = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(5, 12))) for _ in range(1_000_000)]
    with tempfile.TemporaryDirectory() as scratch:
        source, table = Path(scratch) / "keywords.txt", Path(scratch) / "table.npz"
        for listed in (draw.sample(words, 10_000), words, letters):
            source.write_text("\n".join(listed), encoding="utf-8")
            begun = time.perf_counter()
            run([sys.executable, "-m", "fst", "compile", "keywords", source, "-o", table], check=True, capture_output=True)
            spent, size = time.perf_counter() - begun, table.stat().st_size / 1e6
            print(f"`fst compile keywords`, {len(listed):,} keywords: {spent:.1f} s, {size:.0f} MB")


def replacing(folder: Path) -> None:
    """Measure the replacement of 1,000 words in lines, also by `re.sub` with an alternation of the words."""
    listed = random.Random(0).sample(english(folder), 1_000)
    lines = documents(folder / "corpora" / BOOKS)[:4_000]
    pattern = re.compile("|".join(map(re.escape, sorted(listed, key=len, reverse=True))))
    searcher = fst.Searcher(keywords(listed))
    runs: dict[str, Run] = {
        "fst": lambda: searcher.replace(lines, "***", threads=1),
        "re": lambda: [pattern.sub("***", line) for line in lines],
    }
    assert runs["fst"]() == runs["re"]()
    taken = best_in_turns(runs)
    print(f"replacing 1,000 keywords: {taken['re'] / taken['fst']:.0f} × `re.sub`")


if __name__ == "__main__":
    main()
