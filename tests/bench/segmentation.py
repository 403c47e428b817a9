"""Measure the quality and the speed of segmentation with dictionaries.

    pip install -e ".[segmentation]" && apt-get install mecab-ipadic
    python tests/bench/segmentation.py [FOLDER]

``peers.py`` describes FOLDER. The first table contains the F1 of words in development files of Universal Dependencies. A word is correct if
it begins and ends where a word of the treebank begins and ends. Chinese is segmented with `jieba`'s dictionary, and Japanese with the
surfaces of IPADIC. "best path" is the method of MeCab, and of `jieba` without its hidden Markov model; "HMM" includes this model, as
`jieba` does by default. The second table contains the speed on lines with one thread, in MB/s of UTF-8. `fst` returns columns, `fugashi`
returns lists of nodes, and the others return lists of str. All segmenters take turns, and a figure is the best of the rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from rows import FOLDER, documents
from turns import Run, best_in_turns

import fst
from fst.compile import lattice, maxmatch
from fst.machines.segmentation.maxmatch import DIRECTIONS

TREEBANKS = {"Chinese": "zh_gsdsimp-ud-dev.conllu", "Japanese": "ja_gsd-ud-dev.conllu"}
DOCUMENTS = {"Chinese": {"documentation": "docs_zh.md"}, "Japanese": {"documentation": "docs_ja.md", "a novel": "ja_wagahai.txt"}}
IPADIC = Path("/usr/share/mecab/dic/ipadic")
Segment = Callable[[str], Sequence[Any]]


def main() -> None:
    """Print both tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    own = {language: segmenters(folder / "dict", language) for language in TREEBANKS}
    others = {"Chinese": chinese_peers(), "Japanese": japanese_peers()}
    print("| F1 of words | precision | recall | F1 |\n| --- | ---: | ---: | ---: |")
    for language, treebank in TREEBANKS.items():
        sentences = [*read(folder / "dict" / treebank)]
        compared: dict[str, Segment] = {name: segmenter.segment for name, segmenter in own[language].items()}
        for name, segment in (compared | others[language]).items():
            print(f"| {language}, {name} | {' | '.join(f'{figure:.4f}' for figure in scores(segment, sentences))} |", flush=True)
    for language in TREEBANKS:
        names = [*own[language], *others[language]]
        print(f"\n| {language}, MB/s | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}")
        for name, lines in corpora(folder, language):
            runs: dict[str, Run] = {
                **{each: partial(segmenter.segment_batch, lines, threads=1) for each, segmenter in own[language].items()},
                **{each: partial(all_of, segment, lines) for each, segment in others[language].items()},
            }
            size, taken = sum(len(line.encode()) for line in lines), best_in_turns(runs)
            print(f"| {name} | {' | '.join(f'{size / taken[each] / 1e6:,.1f}' for each in names)} |", flush=True)


def segmenters(folder: Path, language: str) -> dict[str, fst.Segmenter]:
    """The segmenters of this package for a language."""
    name, separator = ("jieba_dict.txt", " ") if language == "Chinese" else ("ipadic_surfaces.tsv", "\t")
    words = [line.split(separator)[0] for line in documents(folder / name) if line]
    found = {f"MaxMatch {direction}": fst.Segmenter(maxmatch(words, direction)) for direction in DIRECTIONS}
    if language == "Chinese" or IPADIC.is_dir():
        found["best path"] = fst.Segmenter(lattice.jieba(folder / name) if language == "Chinese" else lattice.mecab(IPADIC))
    if language == "Chinese":
        found["HMM"] = fst.Segmenter(lattice.jieba(folder / name, hmm=True))
    return found


def japanese_peers() -> dict[str, Segment]:
    """Japanese segmenters of other libraries, with IPADIC."""
    import fugashi  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import ipadic  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import vibrato  # type: ignore[import-untyped, import-not-found, unused-ignore]

    found: dict[str, Segment] = {"fugashi": fugashi.GenericTagger(ipadic.MECAB_ARGS)}
    if IPADIC.is_dir():
        words = "".join(path.read_text(encoding="euc_jp") for path in sorted(IPADIC.glob("*.csv")))
        matrix, characters, unknown = ((IPADIC / name).read_text(encoding="euc_jp") for name in ("matrix.def", "char.def", "unk.def"))
        peer = vibrato.Vibrato.from_textdict(words, matrix, characters, unknown, ignore_space=True, max_grouping_len=24)
        found["vibrato"] = peer.tokenize_to_surfaces
    return found


def chinese_peers() -> dict[str, Segment]:
    """Chinese segmenters of other libraries, with and without their models for unknown words."""
    import jieba  # type: ignore[import-untyped, unused-ignore]
    import rjieba  # type: ignore[import-not-found, unused-ignore]

    jieba.setLogLevel("WARNING")
    return {  # type: ignore[no-any-return, unused-ignore]
        "jieba": lambda text: jieba.lcut(text, HMM=False),
        "rjieba": lambda text: rjieba.cut(text, False),
        "jieba, HMM": jieba.lcut,
        "rjieba, HMM": rjieba.cut,
    }


def read(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the text and the words of each sentence in a treebank file. A line with a range of numbers represents several words."""
    text, words, covered = "", list[str](), 0
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif line and not line.startswith("#"):
            number, form, *_ = line.split("\t")
            first, _, last = number.partition("-")
            if "." not in number and int(first) > covered:
                words.append(form)
                covered = int(last or first)
        elif not line and words:
            yield text, words
            text, words, covered = "", [], 0


def scores(segment: Segment, sentences: Iterable[tuple[str, Sequence[str]]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of words."""
    found = expected = equal = 0
    for text, words in sentences:
        own, reference = spans(segment(text)), spans(words)
        found, expected, equal = found + len(own), expected + len(reference), equal + len(own & reference)
    return equal / found, equal / expected, 2 * equal / (found + expected)


def spans(words: Sequence[Any]) -> set[tuple[int, int]]:
    """The start and the end of each word in characters, not counting spaces."""
    sizes = [len("".join(str(word).split())) for word in words]
    return {(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True) if size}


def corpora(folder: Path, language: str) -> Iterable[tuple[str, list[str]]]:
    """Yield the names and the lines of the corpora of a language."""
    for name, file in DOCUMENTS[language].items():
        yield name, documents(folder / "corpora" / file)
    yield "sentences of the treebank", [text for text, _ in read(folder / "dict" / TREEBANKS[language])]


def all_of(segment: Segment, lines: Sequence[str]) -> list[Sequence[Any]]:
    """Segment all lines, and return the words of each line."""
    return [segment(line) for line in lines]


if __name__ == "__main__":
    main()
