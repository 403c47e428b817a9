"""Segmentation with dictionaries: how well, and how fast.

    pip install jieba rjieba
    python tests/bench/segmentation.py [FOLDER]

FOLDER is as in ``peers.py``. First F1 of words on development files of Universal Dependencies: a word counts if both of its ends are those
of a reference word. Chinese is segmented with jieba's dictionary, Japanese with the surfaces of IPADIC. Then speed, one thread, in MB/s of
UTF-8: lines of Chinese, of which `fst` gives columns, and the others lists of str. They take turns, and a figure is the best of the rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

from rows import FOLDER, documents
from turns import Run, best_in_turns

import fst
from fst.compile import maxmatch
from fst.machines.maxmatch import DIRECTIONS

TREEBANKS = {"Chinese": "zh_gsdsimp-ud-dev.conllu", "Japanese": "ja_gsd-ud-dev.conllu"}
Segment = Callable[[str], Sequence[str]]


def main() -> None:
    """Print both tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    own = {language: segmenters(folder / "dict", language) for language in TREEBANKS}
    others = peers()
    print("| F1 of words | precision | recall | F1 |\n| --- | ---: | ---: | ---: |")
    for language, treebank in TREEBANKS.items():
        sentences = [*read(folder / "dict" / treebank)]
        compared: dict[str, Segment] = {name: segmenter.segment for name, segmenter in own[language].items()}
        for name, segment in (compared | (others if language == "Chinese" else {})).items():
            print(f"| {language}, {name} | {' | '.join(f'{figure:.4f}' for figure in scores(segment, sentences))} |", flush=True)
    names = [*own["Chinese"], *others]
    print(f"\n| MB/s | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}")
    for name, lines in corpora(folder):
        runs: dict[str, Run] = {
            **{each: partial(segmenter.segment_batch, lines, threads=1) for each, segmenter in own["Chinese"].items()},
            **{each: partial(all_of, segment, lines) for each, segment in others.items()},
        }
        size, taken = sum(len(line.encode()) for line in lines), best_in_turns(runs)
        print(f"| {name} | {' | '.join(f'{size / taken[each] / 1e6:,.1f}' for each in names)} |", flush=True)


def segmenters(folder: Path, language: str) -> dict[str, fst.Segmenter]:
    """The segmenters of this package."""
    name, separator = ("jieba_dict.txt", " ") if language == "Chinese" else ("ipadic_surfaces.tsv", "\t")
    words = [line.split(separator)[0] for line in documents(folder / name) if line]
    return {f"MaxMatch {direction}": fst.Segmenter(maxmatch(words, direction)) for direction in DIRECTIONS}


def peers() -> dict[str, Segment]:
    """The segmenters of others for Chinese, without models of unknown words."""
    import jieba  # type: ignore[import-untyped, unused-ignore]
    import rjieba  # type: ignore[import-not-found, unused-ignore]

    jieba.setLogLevel("WARNING")
    return {"jieba": lambda text: jieba.lcut(text, HMM=False), "rjieba": lambda text: rjieba.cut(text, False)}  # type: ignore[no-any-return, unused-ignore]


def read(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The text of each sentence of a treebank, and its words. Words of several lines have a range of numbers."""
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


def spans(words: Sequence[str]) -> set[tuple[int, int]]:
    """Where words begin and end, blanks aside."""
    sizes = [len("".join(word.split())) for word in words]
    return {(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True) if size}


def corpora(folder: Path) -> Iterable[tuple[str, list[str]]]:
    """Lines of Chinese."""
    yield "documentation", documents(folder / "corpora" / "docs_zh.md")
    yield "sentences of the treebank", [text for text, _ in read(folder / "dict" / TREEBANKS["Chinese"])]


def all_of(segment: Segment, lines: Sequence[str]) -> list[Sequence[str]]:
    """The words of each line."""
    return [segment(line) for line in lines]


if __name__ == "__main__":
    main()
