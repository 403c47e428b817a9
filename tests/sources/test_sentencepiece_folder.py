"""A folder with a SentencePiece model and files of `transformers` gives the same ids as the class that AutoTokenizer chooses for it."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support.naive.sentencepiece import NORMAL, UNKNOWN, USER_DEFINED, Piece
from support.shared_data import SHARED, needs_shared
from support.sources.folders import same_settings, write
from support.sources.sentencepiece import Spaces, model_of

import fst
from fst.compile import tokenizer
from fst.compile.sources.pretrained.sentencepiece import FAMILIES, MODEL_TYPES, OTHER_TYPES
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported

Json = dict[str, Any]
CONFIG, SPECIALS, ADDED, MODEL = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"
FIRST = {
    "T5": ["<pad>", "</s>", "<unk>"],
    "Albert": ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"],
    "MBart": ["<unk>", "<s>", "</s>"],
    "XLMRoberta": ["<unk>", "<s>", "</s>"],
    "Llama": ["<unk>", "<s>", "</s>"],
}
PARTS = [*"abcABéÉ.,( \n▁漢ﬁ", "  ", "ab", "<s>", "</s>", "<unk>", "<mask>", "[MASK]", "<extra_id_0>", "en_XX", "<x>", "ab c", "``", "x<y>"]


def model(name: str) -> bytes:
    """A small model of the kind that a class requires."""
    chance = random.Random(name)
    pieces = [Piece(piece, 0, UNKNOWN if piece == "<unk>" else CONTROL) for piece in FIRST[name]]
    pieces += [Piece(piece, 0, BYTE) for piece in BYTES] if name == "Llama" else []
    words = {"".join(chance.choices("abcAB.▁", k=chance.randrange(2, 4))) for _ in range(30)}
    pieces += [Piece(piece, -chance.random(), NORMAL) for piece in [*"abcA.,▁é", *sorted(words)]] + [Piece("(", 0, USER_DEFINED)]
    kind = "bpe" if name == "Llama" else "unigram"
    return model_of(pieces, kind, replacements={"ﬁ": "ab", "B": "b"}, byte_fallback=name == "Llama")


def folder_of(folder: Path, name: str, files: Json) -> Path:
    """Write a folder with a small model and the given files."""
    write(folder, files)
    (folder / FAMILIES[f"{name}Tokenizer"].file).write_bytes(model(name))
    return folder


def hold(folder: Path, texts: list[str]) -> None:
    """Check that ids, decoded texts, the vocabulary and settings equal those of AutoTokenizer."""
    reference = transformers.AutoTokenizer.from_pretrained(folder)
    found = fst.Tokenizer(tokenizer(folder))
    expected = reference(texts)["input_ids"]
    assert [row.tolist() for row in found.encode_batch(texts)] == expected
    for skip in (False, True):
        made = reference.batch_decode(expected, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
        assert found.decode_batch(expected, skip_special_tokens=skip) == made
    pairs = reference(texts[:9], texts[1:10], return_token_type_ids=True)
    assert found(texts[:9], texts[1:10], return_token_type_ids=True)["input_ids"] == pairs["input_ids"]
    assert {token: found.token_to_id(token) for token in reference.get_vocab()} == reference.get_vocab()
    same_settings(found, reference)


def mixed(count: int) -> list[str]:
    """Draw texts of characters, whitespace and special tokens."""
    chance = random.Random(0)
    return ["".join(chance.choices(PARTS, k=chance.randrange(15))) for _ in range(count)]


def of_class(name: str, files: Json | None = None, /, **config: Any) -> tuple[str, Json]:
    """Return the name of a class, and the files of a folder that names this class."""
    return name, {CONFIG: {"tokenizer_class": f"{name}Tokenizer", **config}, **(files or {})}


SPECIAL = {"content": "<x>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}
FOLDERS = {
    **{name: of_class(name) for name in FIRST},
    "T5 by the type of the model": ("T5", {MODEL: {"model_type": "mt5"}}),
    "T5 with fewer tokens of its own": of_class("T5", extra_ids=3),
    "T5 with listed tokens": of_class("T5", additional_special_tokens=["<extra_id_0>", "<x>"], extra_ids=100),
    "T5 with another end": of_class("T5", eos_token="<x>"),
    "T5 with older files": of_class("T5", {SPECIALS: {"pad_token": SPECIAL}, ADDED: {"<y>": 200}}, model_max_length=512),
    "ALBERT with case": of_class("Albert", do_lower_case=False, keep_accents=True),
    "ALBERT without a blank": of_class("Albert", add_prefix_space=False, cls_token="[MASK]"),
    "ALBERT with numbered tokens": of_class("Albert", added_tokens_decoder={"4": {**SPECIAL, "content": "[MASK]", "special": True}}),
    "mBART with a language": of_class("MBart", src_lang="de_DE", tgt_lang="fr_XX"),
    "mBART without tokens of its own": of_class("MBart", extra_special_tokens=[]),
    "XLM-R with settings": of_class("XLMRoberta", add_prefix_space=False, mask_token={"__type": "AddedToken", **SPECIAL}),
    "XLM-R by two files": ("XLMRoberta", {MODEL: {"model_type": "bert", "tokenizer_class": "XLMRobertaTokenizerFast"}}),
    "Llama with ends": of_class("Llama", {MODEL: {"model_type": "llama"}}, add_bos_token=True, add_eos_token=True),
    "Llama as it was": of_class("Llama", legacy=True, add_bos_token=True),
    "Llama without a blank": of_class("Llama", add_prefix_space=False, extra_special_tokens={"y_token": "<y>"}),
}


@pytest.mark.parametrize(("name", "files"), FOLDERS.values(), ids=FOLDERS.keys())
def test_folder_has_the_ids_of_its_class(name: str, files: Json, tmp_path: Path) -> None:
    """A folder gives the same ids, decoded texts, names and settings as the class that AutoTokenizer chooses."""
    hold(folder_of(tmp_path, name, files), mixed(100))


@pytest.mark.parametrize("has_prefix", [True, False])
@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma"])
def test_type_of_model_is_enough(kind: str, has_prefix: bool, tmp_path: Path) -> None:
    """A tokenizer.model and a config.json with the type of model are enough: the ids are those of AutoTokenizer."""
    write(tmp_path, {MODEL: {"model_type": kind}})
    pieces = [Piece(piece, -number, NORMAL) for number, piece in enumerate([*"abcAB.▁é", "▁▁", "ab", "▁a", "▁ab", "ab▁", "a▁b"])]
    first = [Piece("<unk>", 0, UNKNOWN), Piece("<s>", 0, CONTROL), Piece("</s>", 0, CONTROL)]
    data = model_of([*first, *(Piece(piece, 0, BYTE) for piece in BYTES), *pieces], "bpe", Spaces(has_prefix, False), byte_fallback=True)
    (tmp_path / "tokenizer.model").write_bytes(data)
    hold(tmp_path, mixed(100))


REAL = {
    "T5": "vocab_unigram/t5/spiece.model",
    "MBart": "vocab_unigram/spm_fixtures/test_sentencepiece.model",
    "XLMRoberta": "vocab_unigram/spm_fixtures/test_sentencepiece.model",
    "Llama": "vocab_bpe/mistral01/tokenizer.model",
}


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_models_in_folders(name: str, tmp_path: Path) -> None:
    """A real model in a folder gives the same ids as the class that the folder names."""
    write(tmp_path, of_class(name)[1])
    shutil.copy(SHARED / REAL[name], tmp_path / FAMILIES[f"{name}Tokenizer"].file)
    hold(tmp_path, mixed(1000))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({CONFIG: {"tokenizer_class": "PegasusTokenizer"}}, "a .model with tokenizer_class PegasusTokenizer; supported are T5Tokenizer, "),
        ({MODEL: {"model_type": "llama"}}, "a .model with no tokenizer_class, and the type of model 'llama'"),
        ({CONFIG: {}}, "a .model with no tokenizer_class, and the type of model None"),
        ({CONFIG: {"tokenizer_class": "LlamaTokenizer"}, MODEL: {"model_type": "phi3"}}, "LlamaTokenizer, and the type of model 'phi3'"),
        ({CONFIG: {"tokenizer_class": "T5Tokenizer", "split_special_tokens": True}}, "asks for split_special_tokens True"),
        ({CONFIG: {"tokenizer_class": "AlbertTokenizer", "add_bos_token": False}}, "asks for add_bos_token False"),
        ({CONFIG: {"tokenizer_class": "XLMRobertaTokenizer"}}, "is named spiece.model, and transformers expects sentencepiece.bpe.model"),
    ],
)
def test_other_folders_are_refused_by_name(files: Json, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a class that only `transformers` supports is refused if `transformers` is missing, and a setting that would change ids
    is always refused; the message contains the name and two remedies.
    """
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(fst.UnsupportedError, match=message) as caught:
        tokenizer(folder_of(tmp_path, "T5", files))
    assert f"or name {tmp_path / 'spiece.model'} for the ids of sentencepiece" in str(caught.value)


def test_model_alone_has_the_ids_of_sentencepiece(tmp_path: Path) -> None:
    """A model file, or a folder without files of `transformers`, gives the same ids as `sentencepiece`."""
    folder = folder_of(tmp_path, "T5", {MODEL: {"architectures": []}})
    for source in (folder, folder / "spiece.model"):
        assert fst.Tokenizer(tokenizer(source)).header["reference"] == "sentencepiece 0.2.3"


def test_types_of_models_are_the_reference_s() -> None:
    """Each model type is compiled with the class of AutoTokenizer, except for the listed types, for which the folder's class is used."""
    auto = transformers.models.auto.tokenization_auto
    names = auto.TOKENIZER_MAPPING_NAMES
    assert {kind: name for kind, name in names.items() if name in FAMILIES} == MODEL_TYPES
    for kind in OTHER_TYPES:
        assert names.get(kind) not in ("TokenizersBackend", "MistralCommonBackend")
        assert kind not in auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
