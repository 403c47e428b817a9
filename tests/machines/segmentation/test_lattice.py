"""Segmentation by the best path: the naive implementation, the walk and the kernel give the same tokens as `jieba`, MeCab and Vibrato,
both in live runs and in recorded results.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines.lattices import JIEBA, JIEBA_LETTERS, ORACLES, Files, dictionary, refused, walked, written
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.compile import lattice
from fst.machines.segmentation.mecab import MAX_KINDS
from fst.machines.segmentation.unit_trie import ENTRY, LEAF
from fst.runtime.machines.segmentation.lattice import MecabSegmenter

IPADIC = Path("/usr/share/mecab/dic/ipadic")  # the folder in which Debian's package mecab-ipadic is installed
KINDS = ["jieba", "jieba search", "jieba all", "jieba default hmm", "jieba search hmm", "mecab"]
each_kind = pytest.mark.parametrize("kind", KINDS)


# MeCab

MECAB_LETTERS = "abcdあ😀 "


def texts_of(draw: random.Random, letters: str, count: int, longest: int = 12) -> list[str]:
    """Draw random texts."""
    return ["".join(draw.choices(letters, k=draw.randint(0, longest))) for _ in range(count)]


def test_mecab_definition(tmp_path: Path) -> None:
    """With any dictionary, the walk finds a path of minimum cost, and the kernel finds the same path."""
    for seed in sample(range(300), 60):
        draw = random.Random(seed)
        naive, files = dictionary(draw, draw.choice([1, 3, 30000]))
        table = lattice.mecab(written(tmp_path / str(seed), files), max_grouping_size=naive.most)
        table.prove()
        segmenter = fst.Segmenter(table)
        assert isinstance(segmenter, MecabSegmenter)
        for text in texts_of(draw, MECAB_LETTERS, 12, 8):
            assert segmenter.cost(text) == table.cost(text) == naive.least_cost(text), (seed, text)
            assert segmenter.segment(text) == walked(table, text), (seed, text)
            assert segmenter.segment_batch([text]).ids.tolist() == table.run(text)[:-1]


BUILD = "import sys, os; os.chdir(sys.argv[1]); from fugashi import build_dictionary; build_dictionary('-d . -o . -f utf-8 -t utf-8')"


def mecab_itself(folder: Path, most: int) -> Any:
    """Load a dictionary in the MeCab library."""
    mecab = pytest.importorskip("MeCab")
    pytest.importorskip("fugashi")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], check=True, capture_output=True, timeout=60)
    (folder / "mecabrc").touch()
    return mecab.Tagger(f"-r {folder}/mecabrc -d {folder} --max-grouping-size={most}")


def analysed_by(mecab: Any, text: str) -> tuple[list[tuple[str, str, int]], int]:
    """Return the surface, features and cost of each word, and the total cost, as computed by the MeCab library."""
    node, found = mecab.parseToNode(text).next, []
    while node.next:
        found.append((node.surface, node.feature, node.cost))
        node = node.next
    return found, node.cost


def test_mecab_live(tmp_path: Path) -> None:
    """With random dictionaries, words, features and costs equal those of the MeCab library, even if several paths have equal costs."""
    for seed in sample(range(100), 20):
        draw = random.Random(seed)
        naive, files = dictionary(draw, draw.choice([1, 3, 30000]))
        folder = written(tmp_path / str(seed), files)
        mecab, segmenter = mecab_itself(folder, naive.most), fst.Segmenter(lattice.mecab(folder, max_grouping_size=naive.most))
        assert isinstance(segmenter, MecabSegmenter)
        for text in texts_of(draw, MECAB_LETTERS + "\n", 100, 20):
            found = [(token.surface, token.feature, token.cost) for token in segmenter.analyse(text)]
            assert (found, segmenter.cost(text)) == analysed_by(mecab, text), (seed, text)


def test_vibrato_live(tmp_path: Path) -> None:
    """With random dictionaries in which equal costs are unlikely, the words equal those of Vibrato, which treats spaces as ordinary
    characters.
    """
    vibrato = pytest.importorskip("vibrato")
    for seed in sample(range(100), 20):
        draw = random.Random(seed)
        naive, files = dictionary(draw, 30000, related=False)
        folder = written(tmp_path / str(seed), files)
        contents = (files[name] for name in ("lex.csv", "matrix.def", "char.def", "unk.def"))
        peer = vibrato.Vibrato.from_textdict(*contents, ignore_space=False, max_grouping_len=naive.most)
        segmenter = fst.Segmenter(lattice.mecab(folder, skip_spaces=False, max_grouping_size=naive.most))
        for text in texts_of(draw, "abcあ ", 50, 20):
            assert segmenter.segment(text) == peer.tokenize_to_surfaces(text), (seed, text)


@needs_shared
def test_vibrato_oracles() -> None:
    """Words equal those that Vibrato's tests expect, with the settings of these tests for spaces and for grouped characters."""
    rows = [json.loads(line) for line in (ORACLES / "segment_vibrato_small.jsonl").read_text(encoding="utf-8").splitlines()]
    segmenters: dict[Any, Any] = {}
    for row in rows:
        key = row["dictionary"], row.get("user"), bool(row.get("ignore_space"))
        if key not in segmenters:
            folder = ORACLES / row["dictionary"]
            user = [folder / row["user"]] if "user" in row else []
            table = lattice.mecab(folder, user=user, skip_spaces=key[2], max_grouping_size=65_535)
            segmenters[key] = fst.Segmenter(table)
        tokens = segmenters[key].analyse(row["text"])
        assert [token.surface for token in tokens] == row["surfaces"], row["case_id"]
        assert row.get("total_cost") in (None, *(token.cost for token in tokens[-1:])), row["case_id"]


@pytest.fixture(scope="module")
def ipadic(tmp_path_factory: pytest.TempPathFactory) -> MecabSegmenter:
    """Compile IPADIC, save the table, and load a segmenter from the file."""
    if not IPADIC.is_dir():
        pytest.skip(f"{IPADIC} is not there: install Debian's package mecab-ipadic")
    path = tmp_path_factory.mktemp("ipadic") / "ipadic.npz"
    lattice.mecab(IPADIC).save(path)
    return fst.MecabSegmenter.load(path)


@needs_shared
def test_mecab_oracles(ipadic: MecabSegmenter) -> None:
    """With IPADIC, words, ids and costs equal those recorded from MeCab, and so do parts of speech, except those of unknown symbols."""
    rows = [json.loads(line) for line in (ORACLES / "segment_mecab_ipadic.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        tokens = ipadic.analyse(row["text"])
        ours = [(token.surface, token.left_id, token.right_id, token.word_cost, token.cost, token.is_unknown) for token in tokens]
        assert ours == [(surface, *numbers[:4], len(numbers) > 4) for surface, _, *numbers in row["tokens"]], row["case_id"]
        for token, (_, part_of_speech, *_) in zip(tokens, row["tokens"], strict=True):
            assert token.feature.split(",")[0] == part_of_speech or (token.is_unknown and part_of_speech == "記号")
        assert ipadic.cost(row["text"]) == row["cost"], row["case_id"]


@pytest.mark.slow
def test_ipadic_live(ipadic: MecabSegmenter) -> None:
    """Japanese documents have the same words as in the MeCab library with IPADIC from PyPI, and a text that contains line feeds is one
    sentence.
    """
    fugashi, data = pytest.importorskip("fugashi"), pytest.importorskip("ipadic")
    peer = fugashi.GenericTagger(data.MECAB_ARGS)
    corpus = SHARED / "corpora" / "ja_wagahai.txt"
    lines = corpus.read_text(encoding="utf-8").split("\n")[:300] if corpus.exists() else ["吾輩は猫である。名前はまだ無い。"]
    for text in [*lines, "\n".join(lines[:5]), "東京 \n 都\n"]:
        assert ipadic.segment(text) == [node.surface for node in peer(text)]


def test_what_mecab_says_of_words(tmp_path: Path) -> None:
    """The features, ids and costs of a word are available in an object, in MeCab's output format, and by the word's id."""
    files = SMALL | {"lex.csv": 'ab,0,1,-7,noun,*\n"a,""b",1,0,5,"quoted"\n'}
    segmenter = fst.Segmenter(lattice.mecab(written(tmp_path, files)))
    assert isinstance(segmenter, MecabSegmenter)
    token = segmenter.analyse(' aba,"b')[0]
    assert (token.surface, token.feature, token.start, token.end, token.id) == ("ab", "noun,*", 1, 3, 0)
    assert (token.left_id, token.right_id, token.word_cost, token.is_unknown) == (0, 1, -7, False)
    assert segmenter.parse('ab a,"b ?') == 'ab\tnoun,*\na,"b\t"quoted"\n?\tunknown\nEOS\n'
    assert list(segmenter.features) == ["noun,*", '"quoted"', "unknown", "blank"]
    assert list(segmenter.words) == ["ab", 'a,"b', "DEFAULT", "SPACE"]


SMALL: Files = {
    "lex.csv": "ab,0,1,1,noun\nb,1,0,2,verb\nあい,1,1,-3,x\n",
    "unk.def": "DEFAULT,0,0,10,unknown\nSPACE,0,0,9,blank\n",
    "matrix.def": "2 2\n0 0 0\n0 1 2\n1 0 3\n1 1 -1\n",
    "char.def": "DEFAULT 0 1 0\nSPACE 0 1 0\n0x0020 SPACE\n",
}


@pytest.mark.parametrize("encoding", ["euc_jp", "EUC-JP", "shift_jis", "cp932", "utf-8", "UTF-16"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    """Dictionary files are decoded with the encoding that is passed as an option or named in dicrc, and user files may also be in UTF-8."""
    for name, content in SMALL.items():
        (tmp_path / name).write_bytes(content.encode("ascii" if name == "matrix.def" else encoding))
    (tmp_path / "dicrc").write_text(f"dictionary-charset = {encoding}\n")
    (tmp_path / "user.txt").write_text("いう,1,1,-9,ユーザー\n", encoding="utf-8")
    for table in (lattice.mecab(tmp_path), lattice.mecab(tmp_path, encoding=encoding, user=tmp_path / "user.txt")):
        assert "あい" in list(table.words)
    assert lattice.mecab(tmp_path, user=[str(tmp_path / "user.txt")]).features[3] == "ユーザー"


# Tests of jieba and MeCab


@each_kind
def test_streams(kind: str, table: Any) -> None:
    """A text that is streamed in parts, cut anywhere, has the same tokens as in a single call."""
    draw, segmenter = random.Random(kind), fst.Segmenter(table)
    if kind == "jieba all":
        with pytest.raises(fst.UnsupportedError, match="streams with this jieba table"):
            segmenter.stream()
        return
    for text in texts_of(draw, MECAB_LETTERS if kind == "mecab" else JIEBA_LETTERS, 40, 60):
        cuts = [0, *sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 9))), len(text)]
        stream, found = segmenter.stream(), list[str]()
        for begin, end in pairwise(cuts):
            stream.write(text[begin:end])
            found += stream.read()
        assert found + stream.close() == walked(table, text)


@pytest.mark.mostly_slow
@each_kind
@pytest.mark.parametrize("whitespace", [" ", ""])
def test_long_texts_and_threads(kind: str, whitespace: str, table: Any) -> None:
    """A long text has the same tokens from the walk and from the kernel on one thread and on two, whether or not the text has positions
    at which it can be cut.
    """
    letters = ("abcあ" if kind == "mecab" else "研究生命a") + whitespace
    text = "".join(random.Random(1).choices(letters, k=600_000))
    one, two = (fst.Segmenter(table).segment_batch([text], offsets=True, threads=threads) for threads in (1, 2))
    for name in ("ids", "starts", "ends", "row_splits"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    if kind in ("jieba", "mecab"):
        whole = "".join(text[start:end] for start, end in zip(one.starts.tolist(), one.ends.tolist(), strict=True))  # type: ignore[union-attr]
        assert whole == (text.replace(" ", "") if kind == "mecab" else text)
    if kind == "mecab":
        head = fst.Segmenter(table).segment_batch([text[:20_000]])
        assert head.ids.tolist() == table.run(text[:20_000])[:-1]


@pytest.mark.slow
def test_mecab_texts_that_stay_open(tmp_path: Path) -> None:
    """The segmenter follows two paths until one is certain, and refuses a text in which too many words remain undecided."""
    files = SMALL | {"lex.csv": "aa,0,0,-9,x\naaa,0,0,-10,x\n", "matrix.def": "1 1\n0 0 0\n", "unk.def": "DEFAULT,0,0,1,x\nSPACE,0,0,0,x\n"}
    table = lattice.mecab(written(tmp_path, files))
    segmenter = fst.Segmenter(table)
    for size in (9_000, 9_001, 200_001):
        found = segmenter.segment_batch(["a" * size]).ids
        assert len(found) == size // 2
        assert np.count_nonzero(found) == size % 2
    assert segmenter.segment_batch(["a" * 9_001]).ids.tolist() == table.run("a" * 9_001)[:-1]
    with pytest.raises(fst.TextError, match="more possible segmentations than there is memory for"):
        segmenter.segment_batch(["a" * 4_000_000])
    assert segmenter.segment("aaaa") == ["aa", "aa"]


# Invalid input

REFUSED_JIEBA: list[tuple[Any, type[Exception], str]] = [
    ([], fst.VocabularyError, "no word with a frequency above 0"),
    ([("a", 0)], fst.VocabularyError, "no word with a frequency above 0"),
    (["a"], fst.VocabularyError, "entry 0 is 'a', not a word and its frequency"),
    ([("a", 1), ("b", -1)], fst.VocabularyError, "entry 1, 'b': the frequency is -1"),
    ([("a", 10**18)], fst.VocabularyError, "the frequency is 10+"),
    ([("a", 1.5)], fst.VocabularyError, "not a word and its frequency"),
    ([("", 1)], fst.VocabularyError, "entry 0: the word is empty"),
    ([(b"a", 1)], fst.VocabularyError, "entry 0: a word is bytes, not str"),
    ([("\ud800", 1)], fst.VocabularyError, "lone surrogate"),
    ([("a" * 512, 1)], fst.UnsupportedError, "512 UTF-16 units; at most 511"),
]


@pytest.mark.parametrize(("listed", "error", "message"), REFUSED_JIEBA)
def test_dictionaries_that_are_refused(listed: Any, error: type[Exception], message: str) -> None:
    """An invalid entry of a jieba dictionary is refused with its position."""
    with pytest.raises(error, match=message):
        lattice.jieba(listed)


def lists_of_categories(count: int) -> str:
    """Make a ``char.def`` with `count` characters, each with a different list of categories."""
    codes = range(0x100, 0x100 + count)
    lists = (" ".join("AB"[int(bit)] for bit in f"{code:016b}") for code in codes)
    ranges = "".join(f"0x{code:X} {names}\n" for code, names in zip(codes, lists, strict=True))
    return "DEFAULT 0 1 0\nSPACE 0 1 0\nA 0 0 0\nB 0 0 0\n" + ranges


REFUSED_MECAB: list[tuple[str, str | None, str]] = [
    ("lex.csv", "", "there are no words"),
    ("lex.csv", "a,0,0\n", "lex.csv, line 1: 'a,0,0' is not 'surface,left id,right id,cost,features'"),
    ("lex.csv", "a,0,0,1,x\nb,0,zero,1,x\n", "lex.csv, line 2, 'b': 'zero' is not a whole number"),
    ("lex.csv", "a,0,2,1,x\n", "lex.csv, line 1, 'a': ids 0 and 2; the matrix has 2 left and 2 right ids"),
    ("lex.csv", "a,-1,-1,1,x\n", "lex.csv, line 1, 'a': ids of -1"),
    ("lex.csv", "a,0,0,32768,x\n", "lex.csv, line 1, 'a': the cost 32768 does not fit 16 bits"),
    ("lex.csv", "a,0,0,99999999999999999999,x\n", "is not a whole number of at most 9 digits"),
    ("lex.csv", "a" * 5000 + ",0,0,1,x\n", "a word has 5,000 UTF-16 units; at most 4,096"),
    ("lex.csv", '"a,0,0,1,x\n', "is not 'surface,left id,right id,cost,features'"),
    ("unk.def", "DEFAULT,0,0,1,x\nNONE,0,0,1,x\n", "unk.def, entry 2: the category 'NONE' is not in char.def"),
    ("unk.def", "SPACE,0,0,1,x\n", "there is no entry for the category DEFAULT"),
    ("unk.def", None, "unk.def is missing"),
    ("matrix.def", None, "matrix.def is missing"),
    ("matrix.def", "2\n", "matrix.def, line 1: b'2' is not the number of right and of left ids"),
    ("matrix.def", "65535 65535\n0 0 0\n", "65535 × 65535 costs are more than a matrix can have"),
    ("matrix.def", "2 2\n0 0 0\n0 1\n", "matrix.def, line 3: b'0 1' is not a right id"),
    ("matrix.def", "2 2\n0 0 0 0 1\n1\n", "matrix.def, line 2: .* is not a right id"),
    ("matrix.def", "2 2\n0 2 0\n", "matrix.def, line 2: '0 2 0' is out of range"),
    ("matrix.def", "2 2\n0 0 0\n\n0 1 40000\n", "matrix.def, line 4: '0 1 40000' is out of range"),
    ("matrix.def", "2 2\n0 0 x\n", "matrix.def, line 2: .* is not a right id"),
    ("matrix.def", "2 2\n0 0 99999999999999\n", "matrix.def, line 2: .* is not a right id"),
    ("char.def", None, "char.def is missing"),
    ("char.def", "DEFAULT 0 1 0\n", "the category SPACE is not defined"),
    ("char.def", "DEFAULT 0 1 0\nDEFAULT 0 1 0\n", "char.def, line 2: the category 'DEFAULT' is defined twice"),
    ("char.def", "DEFAULT 0 1\n", "char.def, line 1: .* is not a category"),
    ("char.def", "DEFAULT 0 1 16\n", "the length of 'DEFAULT' is 16; it can be 0 to 15"),
    ("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0x20 BLANK\n", "char.def, line 3: the category 'BLANK' is not defined above"),
    ("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0x30..0x20 SPACE\n", "char.def, line 3: '0x30..0x20' is not a range"),
    ("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0xFFFF SPACE\n", "char.def, line 3: '0xFFFF' is not a range"),
    ("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0x20\n", "char.def, line 3: '0x20' has no category"),
    ("char.def", "".join(f"C{number} 0 0 0\n" for number in range(19)), "char.def, line 19: there are more than 18 categories"),
    ("char.def", "DEFAULT 0 1 0\nSPACE 0 1 0\n0x20 SPACE\n0x21 SPACE DEFAULT\n", "a space can have no other category"),
    ("char.def", lists_of_categories(MAX_KINDS), f"char.def: there are more than {MAX_KINDS:,} lists of categories"),
    ("dicrc", "dictionary-charset = EBCDIC-99\n", "there is no encoding 'EBCDIC-99'"),
    ("dicrc", "dictionary-charset = base64\n", "there is no encoding 'base64'"),
    ("dicrc", "userdic = own.dic\n", "dicrc has a userdic, which adds words; expected none"),
]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("name", "content", "message"), REFUSED_MECAB)
def test_files_that_are_no_dictionary_of_mecab(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    """A malformed file of a MeCab dictionary is refused, and the message contains the file, the line and the invalid word."""
    written(tmp_path, SMALL if content is None else {**SMALL, name: content})
    if content is None:
        (tmp_path / name).unlink()
    with pytest.raises((fst.VocabularyError, fst.UnsupportedError), match=message):
        lattice.mecab(tmp_path)


@pytest.mark.slow
def test_as_many_kinds_as_fit(tmp_path: Path) -> None:
    """A dictionary with `MAX_KINDS` kinds of characters is compiled."""
    written(tmp_path, {**SMALL, "char.def": lists_of_categories(MAX_KINDS - 1), "unk.def": SMALL["unk.def"] + "A,0,0,1,x\nB,0,0,1,x\n"})
    table = lattice.mecab(tmp_path)
    table.prove()
    assert len(table.kinds) == MAX_KINDS


def test_files_of_another_encoding(tmp_path: Path) -> None:
    """A dictionary file that is not in the expected encoding is refused, and the message contains the line."""
    written(tmp_path, SMALL)
    (tmp_path / "lex.csv").write_bytes(b"a,0,0,1,x\n\xff,0,0,1,x\n")
    with pytest.raises(fst.VocabularyError, match=r"lex\.csv, line 2: byte 10 is not utf-8; pass encoding="):
        lattice.mecab(tmp_path)


def test_modes_that_are_none() -> None:
    """A mode that does not exist in `jieba` is refused."""
    segmenter: Any = fst.Segmenter(lattice.jieba(JIEBA))
    with pytest.raises(ValueError, match="mode is 'fast'; expected 'default', 'search' or 'all'"):
        segmenter.segment("a", mode="fast")


# Damaged tables


HARM_MECAB: dict[str, tuple[str, Any, Any, str]] = {
    "a left id past the last": ("lists", 0, 9 | 1 << 48, "word 0 has a left id past the last"),
    "a right id past the last": ("lists", 0, 9 << 16 | 1 << 48, "word 0 has a right id past"),
    "a list without an end": ("lists", -1, 0, "the last list of words has no end"),
    "a word with other bits": ("lists", 0, 1 << 60, "word 0 has the bits"),
    "a number past the last": ("numbers", 0, 99, "word 0 has the id 99"),
    "a kind past the last": ("units", 5, 99 << 17, "unit 5 is of kind 99"),
    "a kind of no category": ("kinds", 0, 17 << 18, "kind 0 has the bits"),
    "a category without words": ("unknowns", 0, -1, "category 0 has the words at -1"),
    "features that are not UTF-8": ("feature_bytes", 0, 0xFF, "the features are not UTF-8"),
    "a value past the last": ("entries", 1, ENTRY.pack(1, LEAF, 999), "has the value 999"),
}


@pytest.mark.parametrize("name", HARM_MECAB)
def test_damaged_tables_of_mecab_are_refused(name: str, mecab_folder: Path) -> None:
    """A table that violates a precondition of the kernels is refused, and the message gives the reason."""
    refused(lattice.mecab(mecab_folder), *HARM_MECAB[name])
