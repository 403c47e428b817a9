"""Compiled dictionaries of MeCab give the words of their sources, and damaged files are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.conformance.samples import MECAB
from support.machines.compiled_mecab import written_compiled
from support.machines.lattices import dictionary, written
from support.tiers import sample

import fst
from fst.compile import lattice
from fst.compile.machines.segmentation.mecab_compiled import read_compiled_words
from fst.runtime.machines.segmentation.lattice import MecabSegmenter


def test_compiled_files(tmp_path: Path) -> None:
    """A compiled dictionary gives the words, features and costs of its sources, and the words of MeCab itself if it is installed."""
    for seed in sample(range(100), 25):
        draw = random.Random(seed)
        _, files = dictionary(draw, draw.choice([1, 3, 30000]))
        folder = written_compiled(tmp_path / f"compiled {seed}", files)
        own, other = MecabSegmenter(lattice.mecab(written(tmp_path / f"{seed}", files))), MecabSegmenter(lattice.mecab(folder))
        for _ in range(12):
            text = "".join(draw.choices("abcdあ😀 ", k=draw.randint(0, 12)))
            assert other.parse(text) == own.parse(text), (seed, text)
            assert other.cost(text) == own.cost(text)
            if find_spec("fugashi"):
                from fugashi import GenericTagger

                tagger = GenericTagger(f'-d "{folder}" -r "{folder}/mecabrc"')
                assert [word.surface for word in tagger(text)] == own.segment(text), (seed, text)


def test_charset(tmp_path: Path) -> None:
    """Surfaces and features have the charset in the header of a file, unless another one is given."""
    folder = written_compiled(tmp_path, MECAB | {"lex.csv": "あ,1,1,1,仮名\n"}, "euc-jp")
    assert lattice.mecab(folder).features[0] == "仮名"
    with pytest.raises(fst.VocabularyError, match=r"sys\.dic: a word is not ascii; pass encoding="):
        lattice.mecab(folder, encoding="ascii")


def test_user_words(tmp_path: Path) -> None:
    """Words of a user's CSV file are added to a compiled dictionary."""
    (tmp_path / "user.csv").write_text("世世,0,0,-9000,new\n", encoding="utf-8")
    table = lattice.mecab(written_compiled(tmp_path / "compiled", MECAB), user=tmp_path / "user.csv")
    assert fst.Segmenter(table).segment("世世世") == ["世世", "世"]


Damage = Callable[[bytes], bytes]
DAMAGES: list[tuple[str, Damage, str]] = [
    ("sys.dic", lambda data: data[:20], "it has no header"),
    ("sys.dic", lambda data: data + b"\0", "its first number does not fit"),
    ("sys.dic", lambda data: data[:4] + b"\x65" + data[5:], "the version of the format is 101; expected 102"),
    ("sys.dic", lambda data: data[:24] + b"\x07" + data[25:], "its sections do not fit"),
    ("sys.dic", lambda data: data[:40] + b"klingon\0" + data[48:], "there is no encoding 'klingon'"),
    ("sys.dic", lambda data: data[:40] + b"hex\0" + data[44:], "there is no encoding 'hex'"),
    ("sys.dic", lambda data: data[:40] + b"punycode\0" + data[49:], "a word is not punycode"),
    ("matrix.bin", lambda data: data[:-1], "costs; compile it with mecab-dict-index again"),
    ("char.bin", lambda data: data[:-4], "bytes for 3 categories"),
    ("char.bin", lambda data: data.replace(b"SPACE", b"PLACE"), "the category SPACE is not defined"),
    ("unk.dic", lambda data: data[:0], "it has no header"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_damaged_file(name: str, damage: Damage, message: str, tmp_path: Path) -> None:
    """A damaged file is refused, and the message names the file and the fault."""
    written_compiled(tmp_path, MECAB)
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    with pytest.raises((fst.VocabularyError, fst.UnsupportedError), match=f"{name}.*{message}"):
        lattice.mecab(tmp_path)


@pytest.mark.parametrize("name", ["unk.dic", "matrix.bin", "char.bin"])
def test_missing_file(name: str, tmp_path: Path) -> None:
    """A folder with only some of the compiled files is refused, and the message names the missing file."""
    (written_compiled(tmp_path, MECAB) / name).unlink()
    with pytest.raises(fst.VocabularyError, match=f"{name} is missing; expected the folder of a compiled dictionary"):
        lattice.mecab(tmp_path)


def test_shared_features(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Features or surfaces that would take more memory than the largest file are refused, although the file is small."""
    written_compiled(tmp_path, MECAB)
    for most, message in ((20, "its features have more than 0 MiB"), (4, "its surfaces have more than 0 MiB")):
        with monkeypatch.context() as patch:
            patch.setattr("fst.compile.machines.segmentation.mecab_compiled.MAX_TEXT", most)
            with pytest.raises(fst.VocabularyError, match=message):
                read_compiled_words(tmp_path / "sys.dic", None, (9, 9), with_features=True)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["sys.dic", "unk.dic", "matrix.bin", "char.bin"])
def test_changed_bytes(name: str, tmp_path: Path) -> None:
    """Files with changed bytes are refused with an error of the package, or give a table that is safe."""
    draw = random.Random(name)
    path = written_compiled(tmp_path, MECAB) / name
    content = path.read_bytes()
    for _ in range(20):
        data = bytearray(content)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(len(data))] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        path.write_bytes(data)
        try:
            table = lattice.mecab(tmp_path)
        except fst.FstError:
            continue
        table.prove()
        fst.Segmenter(table).segment("abあ世 cd")
