"""Texts of every kind, and WordPiece vocabularies with their reference tokenizers."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import answers, tiers
from support.kept import wordpiece
from support.shared_data import EXAMPLES, SHARED
from support.text.every_character import EVERY_CHARACTER
from tokenizers import Tokenizer, normalizers
from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

import fst
from fst.compile.text.characters import reference as characters

EXAMPLE = EXAMPLES / "english-uncased-8000.txt"
UNCASED, CASED = "bert-base-uncased", "bert-base-multilingual-cased"
DROPPED = {*characters.those("nonspacing").tolist()}
KEPT = [chr(code) for code in np.flatnonzero(characters.orders()) if code not in DROPPED]  # strip_accents may reorder these marks
PART = 4000  # number of texts


@dataclass(frozen=True, eq=False)
class Pair:
    """A tokenizer of `tokenizers` and one of this package, with the same vocabulary and options."""

    reference: Tokenizer
    tokenizer: fst.Tokenizer

    def check(self, texts: list[str]) -> None:
        """Check that all texts get the same ids as from the reference, as str and bytes, on one thread and two; a failure shows the first
        text that differs.
        """
        expected = answers.answer(answers.question(self._settings, texts), lambda: digest_of(self._expected(texts)))
        for rows, threads in ways(texts):
            batch = self.tokenizer.encode_batch(rows, add_special_tokens=False, threads=threads)
            if digest_of(batch) != expected:
                self._show(texts, self._expected(texts), batch)

    @functools.cached_property
    def _settings(self) -> str:
        return self.reference.to_str()

    def _expected(self, texts: Sequence[str]) -> fst.Batch:
        """Encode all texts with the reference tokenizer, as the expected ids."""
        ids, lengths = [np.empty(0, np.int32)], [0]
        # The texts are encoded in parts, because Python's garbage collector is slow with many lists in memory.
        for start in range(0, len(texts), PART):
            rows = [encoding.ids for encoding in self.reference.encode_batch_fast(texts[start : start + PART], add_special_tokens=False)]
            ids.append(np.fromiter(itertools.chain.from_iterable(rows), np.int32))
            lengths += map(len, rows)
        return fst.Batch(np.concatenate(ids), np.cumsum(lengths))

    def _show(self, texts: Sequence[str], expected: fst.Batch, batch: fst.Batch) -> None:
        rows = [row for row in range(len(texts)) if expected[row].tolist() != batch[row].tolist()]
        wanted, given = ([self.tokenizer.id_to_token(number) for number in ids[rows[0]].tolist()] for ids in (expected, batch))
        pytest.fail(f"{len(rows)} texts of {len(texts)} differ, first {texts[rows[0]]!a}:\nreference {wanted!a}\npackage   {given!a}")


def ways(texts: Sequence[str]) -> Iterator[tuple[Any, int]]:
    """Yield types of texts and numbers of threads: str on one, bytes on two; with ``--cases all``, all combinations."""
    kinds = (list(texts), [text.encode() for text in texts])
    return itertools.product(kinds, (1, 2)) if tiers.ALL else zip(kinds, (1, 2), strict=True)


def digest_of(batch: fst.Batch) -> str:
    """The digest of ids and of the position where each row begins."""
    return answers.digest(batch.ids, batch.row_splits)


@functools.cache
def pair_of(name: str) -> Pair:
    """Load a vocabulary with both libraries. Without a tokenizer.json, the settings are BERT's, and only the example is lowercased."""
    file = SHARED / "vocab" / name / "tokenizer.json"
    if file.is_file():
        reference = Tokenizer.from_file(str(file))
        reference.no_truncation()
        reference.no_padding()
        return Pair(reference, fst.Tokenizer(wordpiece(file)))
    lowercase = name == EXAMPLE.stem
    file = EXAMPLE if name.startswith(EXAMPLE.stem) else SHARED / "vocab" / name / "vocab.txt"
    built: Any = BertWordPieceTokenizer(str(file), lowercase=lowercase)
    return Pair(Tokenizer.from_str(built.to_str()), fst.Tokenizer(wordpiece(file, lowercase=lowercase)))


@functools.cache
def letters() -> list[str]:
    """Make a vocabulary of single characters, so that ids show how normalization changes, creates or reorders each character.

    It contains all results of normalization, all marks that normalization reorders, the first 12,544 characters, and every 97th of the
    others.
    """
    made: set[str] = set()
    for strip_accents, lowercase in itertools.product((True, False), repeat=2):
        normalizer = normalizers.BertNormalizer(strip_accents=strip_accents, lowercase=lowercase, handle_chinese_chars=False)
        for char in EVERY_CHARACTER:
            normal = normalizer.normalize_str(char)
            if normal != char:
                made.update(normal)
    known = sorted(made.union(KEPT, EVERY_CHARACTER[:0x3100], EVERY_CHARACTER[::97]))
    return ["[UNK]", *known, *(f"##{char}" for char in known)]


CONTEXTS = {
    "alone": "{}",
    "after a letter": "a{}",
    "before a letter": "{}a",
    "between kept marks": "\U0001e000{}\U0001d165",  # without a character between them, these marks are swapped
    "between stripped marks": "e\u0301{}\u0323",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "uncased": {},
    "cased": {"lowercase": False},
    "lower case with accents": {"strip_accents": False},
    "upper case without accents": {"lowercase": False, "strip_accents": True},
}
QUICK = [("uncased", "alone"), ("uncased", "between kept marks")]


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file. If a line contains code points in hexadecimal, yield their characters, too."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        yield line
        for sequence in re.findall(r"\b[0-9A-F]{4,6}(?: [÷× ]*[0-9A-F]{4,6})*\b", line):
            codes = [int(code, 16) for code in re.findall(r"[0-9A-F]+", sequence)]
            if all(code < 0xD800 or 0xE000 <= code < 0x110000 for code in codes):
                yield "".join(map(chr, codes))


@functools.cache
def hostile() -> list[str]:
    """Read all texts of the hostile files: naughty strings, emoji, look-alikes, Unicode's test files, and a line of every character."""
    texts = json.loads((SHARED / "hostile/blns.json").read_text(encoding="utf-8"))
    for path in sorted((SHARED / "hostile").glob("*.txt")):
        texts += lines_of(path)
    return list(dict.fromkeys(texts))


@functools.cache
def golden_texts() -> list[str]:
    """Read the texts that have recorded ids."""
    with gzip.open(SHARED / "golden/inputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


SCRIPTS = [  # the first and the last code point of the characters in a word
    *((0x61, 0x7A), (0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x21, 0x7E), (0x00, 0x1F), (0x7F, 0x9F), (0xA0, 0xFF)),
    *((0x100, 0x24F), (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x58F), (0x590, 0x5FF)),
    *((0x600, 0x6FF), (0x700, 0x7BF), (0x8A0, 0x8FF), (0x900, 0x97F), (0x980, 0x9FF), (0xA00, 0xB7F), (0xB80, 0xD7F)),
    *((0xE00, 0xE7F), (0xE80, 0xFFF), (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13FF)),
    *((0x1780, 0x17FF), (0x1AB0, 0x1AFF), (0x1B00, 0x1BFF), (0x1C90, 0x1CBF), (0x1D00, 0x1DFF), (0x1E00, 0x1EFF), (0x1F00, 0x1FFF)),
    *((0x2000, 0x206F), (0x2070, 0x20FF), (0x2100, 0x218F), (0x2190, 0x22FF), (0x2300, 0x27BF), (0x2C00, 0x2DFF), (0x2E00, 0x2FFF)),
    *((0x3000, 0x303F), (0x3040, 0x30FF), (0x3040, 0x30FF), (0x3100, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x4E00, 0x9FFF)),
    *((0xA000, 0xA4CF), (0xA640, 0xA7FF), (0xA800, 0xABFF), (0xAC00, 0xD7A3), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FF), (0xE000, 0xF8FF)),
    *((0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFE6F), (0xFE70, 0xFEFF), (0xFF00, 0xFFFF), (0x10000, 0x103FF)),
    *((0x10400, 0x107FF), (0x10800, 0x10FFF), (0x11000, 0x11FFF), (0x12000, 0x16FFF), (0x17000, 0x1BFFF), (0x1D000, 0x1D1FF)),
    *((0x1D400, 0x1D7FF), (0x1E000, 0x1E0FF), (0x1E900, 0x1E95F), (0x1EE00, 0x1EEFF), (0x1F000, 0x1FAFF), (0x20000, 0x2A6DF)),
    *((0x2A700, 0x2FA1F), (0x30000, 0x323AF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF)),
]
SPACES = [*" \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u200b\u2028\u2029\u202f\u205f\u3000\ufeff", *map(chr, range(0x2000, 0x200B))]
SPECIALS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("[mask]", "[MASK", "MASK]", "[[MASK]]", "[ MASK ]", "[UN[UNK]K]", "[CLS", "\uff3bMASK\uff3d", "[MASK\u0301]", "[unused1]"),
]


def words_by_script(rng: random.Random) -> Iterator[str]:
    """Yield words of 1 to 12 characters, each word in one script, without end."""
    while True:
        first, last = rng.choice(SCRIPTS)
        yield "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 12)))


def mixed(words: Iterator[str], rng: random.Random, rows: int) -> Iterator[str]:
    """Yield texts of a few words, with any kind of whitespace or nothing between them, and sometimes a special token."""
    for _ in range(rows):
        text = ""
        for _ in range(rng.randint(1, 8)):
            text += rng.choice(SPECIALS) if rng.random() < 0.08 else next(words)
            text += rng.choice((" ", " ", "", rng.choice(SPACES)))
        yield text


@functools.cache
def sentences() -> list[str]:
    """Sentences in 109 languages."""
    lines = (SHARED / "corpora/multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line)["text"] for line in lines if line]


FLAGS = {
    "lowercase": (True, False),
    "strip_accents": (None, True, False),
    "clean_text": (True, False),
    "handle_chinese_chars": (True, False),
    "pre_tokenizer": ("bert", "none"),
}
OF_ALL_KINDS = [
    *("[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abeAEéÉßİiıσςŞş", "##a", "##b", "##e", "##é", "##A", "##i", "##ß", "ab", "##ab", "##AB"),
    *("\u0301", "##\u0301", "\u0307", "##\u0307", "\u0338", "##\u0338", "=", "≠", "##=", "##≠", "é", "e\u0301", "##e\u0301"),
    *("中", "##中", "文", "##文", "中文", "##中文", "𠀀", "##𠀀", "豈", "##豈", "か", "##か", "が", "##が", "##\u3099"),
    *("가", "##가", "각", "##각", "ᄀ", "##ᄀ", "##ᅡ", "##ᆨ", *".,!-", "##.", "##-", "a.", "a-b", "..", "##.a", "。", "##。"),
    *(" ", "a b", "## ", "  ", "\t", "##\t", "\n", "##\u00a0", "\u00a0", "\u3000", "##\u3000", "\u0000", "##\u0000", "##\ufffd"),
    *("\u200b", "##\u200b", "\ue000", "##\ue000", "\u2028", "##\u2028", "\U0001d165", "##\U0001d165", "##\U0001e000", "\U0001e000"),
]


def pieces_of_all_kinds(rng: random.Random) -> Iterator[str]:
    """Yield short words of characters that the options treat differently, without end."""
    chars = [*sorted(set("".join(OF_ALL_KINDS)) - set("[]UNKCLSMP")), *KEPT[:40:8], *SPACES, *"\u0901\ufffd한#z"]
    while True:
        yield "".join(rng.choices(chars, k=rng.randint(1, 6)))


@functools.cache
def texts_of_all_kinds() -> list[str]:
    """Texts for the tests of options. Each text has a few words, and is short enough for segmentation even if an option joins the words."""
    rng = random.Random(5)
    words = pieces_of_all_kinds(rng)
    return [*map("".join, itertools.product(OF_ALL_KINDS, repeat=2)), *mixed(words, rng, 1000), *itertools.islice(words, 3000)]
