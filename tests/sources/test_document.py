"""If a tokenizer.json is written from a table, `tokenizers` gives the same results with it as with the source, and it compiles to the
same table.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.compat.tokenizers import KINDS
from support.kept import wordpiece
from support.machines.documents import ADDED, PIECES, TOKENS
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.compat.transformers.document import document

TEXTS = (*PIECES, *ADDED, " ".join(PIECES), "", "un-affable É e\u0301 世x x世 A1b2 ½ ﷺ")
PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
SPECIALS = [{"id": number, "content": TOKENS[number], **PLAIN} for number in range(5)]


def added(content: str, number: int, **settings: Any) -> dict[str, Any]:
    """Make an added token of a tokenizer.json."""
    return {"id": number, "content": content, **PLAIN, **settings}


def template(single: list[tuple[str, int]], pair: list[tuple[str, int]]) -> dict[str, Any]:
    """Make a TemplateProcessing from pairs of a token (or A or B for the texts) and its type id."""
    pieces = [
        [{"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": type_id}} for name, type_id in side]
        for side in (single, pair)
    ]
    named = {name for name, _ in single + pair if name not in "AB"}
    special = {name: {"id": name, "ids": [TOKENS.index(name)], "tokens": [name]} for name in named}
    return {"type": "TemplateProcessing", "single": pieces[0], "pair": pieces[1], "special_tokens": special}


def source(**parts: Any) -> dict[str, Any]:
    """Make BERT's tokenizer.json, in which the given parts are replaced."""
    flags = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    settings = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, **parts.pop("model", {})}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": SPECIALS,
        "normalizer": {"type": "BertNormalizer", **flags, **parts.pop("flags", {})},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", **settings, "vocab": {token: number for number, token in enumerate(TOKENS)}},
        **parts,
    }


SOURCES: dict[str, dict[str, Any]] = {
    "BERT": source(),
    "cased": source(flags={"lowercase": False, "strip_accents": True}),
    "as it is": source(flags={"clean_text": False, "handle_chinese_chars": False, "lowercase": False}),
    "another prefix": source(model={"continuing_subword_prefix": "", "max_input_chars_per_word": 7}),
    "no component": source(normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None, added_tokens=[]),
    "normalizers": source(
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": True}]},
    ),
    "a normalizer": source(normalizer={"type": "Lowercase"}, pre_tokenizer={"type": "Punctuation", "behavior": "Isolated"}),
    "added tokens": source(added_tokens=[*SPECIALS, added("<s>", len(TOKENS)), added("ab!", len(TOKENS) + 1, special=False)]),
    "added tokens with settings": source(
        added_tokens=[
            *SPECIALS[:4],
            added("[MASK]", 4, lstrip=True),
            added("un", TOKENS.index("un"), normalized=True, special=False),
            added("Ab!", len(TOKENS), single_word=True),
            added("<S>", len(TOKENS) + 1, rstrip=True, normalized=True),
        ]
    ),
    "templates": source(
        post_processor=template(
            [("[CLS]", 0), ("[SEP]", 3), ("A", 1), ("[SEP]", 0)], [("B", 5), ("[MASK]", 2), ("A", 1), ("[SEP]", 0), ("[SEP]", 4)]
        )
    ),
    "settings": source(
        truncation={"direction": "Left", "max_length": 5, "strategy": "OnlyFirst", "stride": 1},
        padding={
            "strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 4, "pad_type_id": 1, "pad_token": "[MASK]"
        },
        decoder={"type": "WordPiece", "prefix": "@@", "cleanup": False},
    ),
}  # fmt: skip


def written(content: dict[str, Any], path: Path) -> Path:
    """Write a JSON file, and return its path."""
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def rewritten(path: Path, folder: Path) -> tuple[WordPieceTable, Path]:
    """Compile a file, and write a tokenizer.json from the table."""
    tables = wordpiece(path)
    return tables, written(document(tables), folder / "again.json")


def saved(tables: WordPieceTable, folder: Path) -> bytes:
    """The bytes of the file of a table."""
    tables.save(folder / "saved.npz")
    return (folder / "saved.npz").read_bytes()


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", SOURCES)
def test_file_made_from_tables_compiles_to_them(name: str, tmp_path: Path) -> None:
    """The tokenizer.json written from a table compiles to the same table."""
    tables, again = rewritten(written(SOURCES[name], tmp_path / "tokenizer.json"), tmp_path)
    assert saved(wordpiece(again), tmp_path) == saved(tables, tmp_path)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", SOURCES)
def test_reference_reads_both_files_alike(name: str, tmp_path: Path) -> None:
    """`tokenizers` gives the same encodings and texts with the source as with the tokenizer.json that is written from the table."""
    path = written(SOURCES[name], tmp_path / "tokenizer.json")
    _, again = rewritten(path, tmp_path)
    one, other = (Tokenizer.from_file(str(file)) for file in (path, again))
    assert one.get_vocab() == other.get_vocab()
    assert (one.truncation, one.padding) == (other.truncation, other.padding)
    for reference in (one, other):
        reference.no_truncation()
        reference.no_padding()
    for text in TEXTS:
        found = [_all_of(reference, text) for reference in (one, other)]
        assert found[0] == found[1]


def _all_of(reference: Tokenizer, text: str) -> list[Any]:
    single, pair = reference.encode(text), reference.encode(text, "un b")
    return [single.ids, single.offsets, pair.ids, pair.type_ids, pair.special_tokens_mask, reference.decode(single.ids)]


@needs_shared
@pytest.mark.parametrize(
    "name", thinned(["bert-base-uncased", "bert-base-multilingual-cased", "all-minilm-l6-v2", "bert-base-chinese"], 8)
)
def test_files_of_public_vocabularies(name: str, tmp_path: Path) -> None:
    """For a public tokenizer.json, the file that is written from its table has the same vocabulary in `tokenizers`, and both files
    compile to the same table.
    """
    path = SHARED / "vocab" / name / "tokenizer.json"
    tables, again = rewritten(path, tmp_path)
    assert saved(wordpiece(again), tmp_path) == saved(tables, tmp_path)
    one, other = (json.loads(Tokenizer.from_file(str(file)).to_str()) for file in (path, again))
    assert one["model"] == other["model"]
    assert one["added_tokens"] == other["added_tokens"]


@pytest.mark.slow
def test_tokens_that_are_only_added_are_none_of_the_model(tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
    """An added token is not written to the model's vocabulary, even if its id follows the vocabulary, because an equal word would then
    get another id.
    """
    tokens = ["[UNK]", "new", "##s"]
    start = reference(tokens)
    start.add_special_tokens(["news"])
    start.save(str(tmp_path / "tokenizer.json"))
    tables, again = rewritten(tmp_path / "tokenizer.json", tmp_path)
    assert list(json.loads(again.read_text())["model"]["vocab"]) == tokens
    assert fst.Tokenizer(tables).tokenize("news NEWS") == ["news", "new", "##s"]
    assert Tokenizer.from_file(str(again)).encode("news NEWS").tokens == ["news", "new", "##s"]


READING = """
import json, sys
from fst.compile.sources.read import of_exported
sources = [of_exported((json.loads(text), {}), "the document") for text in sys.argv[1:]]
kinds = [["wordpiece", "bpe", "unigram"].index(source.model.kind.lower()) for source in sources]
compilers = lambda: {module.split(".")[3] for module in sys.modules if module.startswith("fst.compile.machines.") and ".compiler" in module}
assert {*kinds} == {0, 1, 2} and not compilers(), compilers()
sources[kinds.index(0)].table()
assert compilers() == {"wordpiece"}, compilers()
"""


def test_a_document_is_read_without_compilers() -> None:
    """Reading a tokenizer.json of any kind imports no compiler, and compiling it imports only the compiler of its kind."""
    subprocess.run([sys.executable, "-c", READING, *(made().to_str() for made in KINDS.values())], check=True)
