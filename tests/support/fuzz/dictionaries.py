"""Readers of dictionaries, lists of words and rules as targets of fuzzing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from support.conformance.samples import CHINESE, MECAB, japanese
from support.fuzz.reader import Reader, joined
from support.machines.compiled_mecab import written_compiled

import fst
from fst.compile import keywords, lattice, maxmatch, rules, tokenizer

JIEBA = "".join(f"{word} {frequency} n\n" for word, frequency in CHINESE)
COMPILED = ("sys.dic", "unk.dic", "matrix.bin", "char.bin")
JAPANESE_FILES = ("tokenizer_config.json", "vocab.txt", "special_tokens_map.json", "added_tokens.json")
CSV = 'word,number\nab,1\n"a ""b""\nc",2\né,3\n'
RULES = (
    "# a cascade\nV = [aeiou]\nch -> tʃ ,, ll -> ʝ\nr -> ɾ / V _ V\nrr -> r\n"
    "rtl: a{1,3} -> b / _ (b|c)* $\nltr: \\u{e9} -> e\\/ / ^ _\n-> x / \\b _ \\p{Lu}\n"
)


def _jieba(folder: Path) -> None:
    fst.Segmenter(lattice.jieba(folder / "dict.txt", user=folder / "user.txt" if (folder / "user.txt").exists() else None)).segment(
        "研究生命ab"
    )


def _mecab(folder: Path) -> None:
    fst.Segmenter(lattice.mecab(folder)).segment("abあ世 cd")


def _compiled(folder: Path) -> None:
    fst.Segmenter(lattice.mecab(folder)).segment("abあ世 cd")


def _compiled_files() -> list[bytes]:
    with TemporaryDirectory() as folder:
        path = written_compiled(Path(folder), MECAB)
        return [joined(COMPILED, {name: (path / name).read_bytes() for name in COMPILED})]


def _japanese(folder: Path) -> None:
    for name, content in MECAB.items():
        (folder / name).write_text(content, encoding="utf-8")
    found = fst.Tokenizer(tokenizer(folder, dictionary=folder))
    found.decode(found.encode("abあ世 cd[MASK]"))


def _japanese_files() -> list[bytes]:
    with TemporaryDirectory() as folder:
        path = japanese(Path(folder), do_lower_case=True, never_split=["AB"], mecab_kwargs={"mecab_option": "-M 3"})
        return [joined(JAPANESE_FILES, {name: (path / name).read_bytes() for name in JAPANESE_FILES[:2]})]


def _keywords(folder: Path) -> None:
    fst.Searcher(keywords(folder / "words.txt", ignore_case=True)).find("ab é AB")


def _csv(folder: Path) -> None:
    fst.Segmenter(maxmatch(folder / "words.csv", column="word")).segment("ab é AB")


def _rules(folder: Path) -> None:
    fst.Rewriter(rules(folder / "a.rules")).apply("chicharro caro éaaab X")


def _mapping(folder: Path) -> None:
    fst.Rewriter(rules(folder / "a.tsv")).apply("ab é AB")


READERS = {
    "jieba": Reader(
        _jieba,
        lambda: [joined(("dict.txt", "user.txt"), {"dict.txt": JIEBA, "user.txt": "云计算 5\n创新办 3 i\nabc\n"})],
        ("dict.txt", "user.txt"),
    ),
    "mecab": Reader(_mecab, lambda: [joined((*MECAB,), MECAB)], (*MECAB,)),
    "mecab compiled": Reader(_compiled, _compiled_files, COMPILED),
    "japanese": Reader(_japanese, _japanese_files, JAPANESE_FILES),
    "keywords": Reader(_keywords, lambda: ["ab\nÉ\r\nab é\nabab\n".encode()], ("words.txt",)),
    "csv": Reader(_csv, lambda: [CSV.encode()], ("words.csv",)),
    "rules": Reader(_rules, lambda: [RULES.encode()], ("a.rules",)),
    "mapping": Reader(_mapping, lambda: ["ab\tx\né\t\nb\tab\n".encode()], ("a.tsv",)),
}
