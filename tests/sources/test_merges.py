"""Sources of byte-level BPE: each is read as its reference reads it, or refused by name."""

from __future__ import annotations

import gzip
import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.shared_data import SHARED, needs_shared
from support.text.every_character import SWEPT_CHARACTERS
from support.tiers import examples, sample, thinned
from tokenizers import ByteLevelBPETokenizer, Tokenizer, pre_tokenizers

import fst
from fst.automata.rows import CODE_POINTS
from fst.cli.main import main
from fst.compile import bpe, tokenizer, wordpiece
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens import splits
from fst.compile.sources import files, tekken, tiktoken
from fst.compile.sources.merges_txt import pairs
from fst.compile.sources.pretrained import byte_level_classes
from fst.compile.sources.read import read
from fst.compile.sources.source import Source, Trimming
from fst.compile.text.components import Component
from fst.pretokens.byte_letters import LETTERS, bytes_of, spelled
from fst.tables.header import BYTE_LEVEL, Metadata, Settings

Json = dict[str, Any]
VOCABULARIES = SHARED / "vocab_bpe"
TEXTS = (
    "Hello world, it's 2026! naïve café  \n\n  東京 😺\t'll they've 1234567",
    "def f(x):\n    return x ** 2  # привет\r\n",
    "<|endoftext|>",
    "  leading, trailing  ",
    "",
)
LETTER = [LETTERS[byte] for byte in range(256)]
MERGES = [["a", "b"], ["Ġ", "ab"], ["b", "c"]]
TOKENS = [*LETTER, "ab", "Ġab", "bc"]
BARE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def model(tokens: Sequence[str] = TOKENS, merges: Any = MERGES, **more: Any) -> Json:
    """Describe a model over all bytes."""
    return {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges, **more}


def document(**parts: Any) -> Json:
    """Make a tokenizer.json, some of its parts replaced."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BARE,
        "post_processor": None,
        "decoder": BARE,
        "model": model(),
        **parts,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to write a source into."""
    return tmp_path / "tokenizer.json"


def source_of(path: Path, written: Json) -> Source[BpeModel]:
    """Read a tokenizer.json."""
    path.write_text(json.dumps(written), encoding="utf-8")
    return read(path, {}, "BPE")


def refusal(path: Path, written: Json) -> str:
    """What is said where a tokenizer.json is refused."""
    with pytest.raises(fst.FstError) as error:
        source_of(path, written)
    return str(error.value)


# The definitions, in plain Python


def merged(model: BpeModel, piece: bytes) -> list[int]:
    """The ids of a piece: of all pairs of neighbours, join the one of lowest rank, the leftmost first, as long as there is one."""
    if model.ignore_merges and piece in model.vocabulary:
        return [model.vocabulary[piece]]
    by_id, ranks = model.merges is None, {pair: rank for rank, pair in enumerate(model.merges or ())}
    tokens = [piece[place : place + 1] for place in range(len(piece))]
    while True:
        found = [model.vocabulary.get(left + right) if by_id else ranks.get((left, right)) for left, right in pairwise(tokens)]
        known = [(rank, place) for place, rank in enumerate(found) if rank is not None]
        if not known:
            return [model.vocabulary[token] for token in tokens]
        place = min(known)[1]
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]


def pieces(parts: Sequence[Component], text: str) -> list[bytes]:
    """The pieces of a text, one component after the other; the reference itself does each Split, and `regex` those of tiktoken."""
    found = [text] if text else []
    for part in parts:
        if part.get("dialect") == "fancy-regex":
            assert (part["behavior"], part["invert"]) == ("Removed", True)
            finditer = pytest.importorskip("regex", reason="tiktoken has it").finditer
            found = [match[0] for whole in found for match in finditer(part["pattern"]["Regex"], whole)]
        elif part["type"] == "Split":
            found = [piece for whole in found for piece, _ in split_of(part).pre_tokenize_str(whole)]
        elif part["type"] == "PrefixSpace":
            found = [whole if whole.startswith(" ") else f" {whole}" for whole in found]
        else:
            assert part == splits.BYTES
    return [piece.encode() for piece in found]


SPLITS: dict[str, Any] = {}


def split_of(part: Component) -> Any:
    """The reference's Split, made once."""
    described = json.dumps(part)
    if described not in SPLITS:
        SPLITS[described] = reference_of(json.loads(described))
    return SPLITS[described]


def reference_of(pre_tokenizer: Json) -> Any:
    """The reference's pre-tokenizer."""
    return Tokenizer.from_str(json.dumps(document(pre_tokenizer=pre_tokenizer))).pre_tokenizer


def ids_of(source: Source[BpeModel], text: str) -> list[int]:
    """The ids of a text that no normalizer and no added token changes."""
    found = (merged(source.model, piece) for piece in pieces(source.text.pre_tokenizers, text))
    return [number for ids in found for number in ids]


# Letters of bytes


def test_letters_are_the_reference_s() -> None:
    """Each byte has the letter that the reference gives it, and the bytes of all code points are spelled as there."""
    assert sorted(LETTERS.values()) == sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    text = "".join(chr(code) for code in range(CODE_POINTS) if not 0xD800 <= code < 0xE000)
    ((expected, _),) = bare.pre_tokenize_str(text)
    assert spelled(text.encode()) == expected
    assert bytes_of(expected) == text.encode()


@pytest.mark.parametrize("token", ["a b", "▁a", "\x00", "\xad", "\xa0", "ń", "\U0001f63a", "\ud800"], ids=ascii)
def test_other_characters_spell_no_bytes(token: str) -> None:
    """A token with a character that is no byte's letter is no string of bytes."""
    assert bytes_of(token) is None


# The model of a tokenizer.json


def test_merges_are_ranked_as_the_reference_ranks_them(path: Path) -> None:
    """A merge that stands in the list twice has its last rank, and lines that begin with #version are left out."""
    written = document(model=model(merges=["#version: 0.2", "a b", "Ġ ab", "b c", "a b"]))
    source = source_of(path, written)
    assert source.model.merges == [(b" ", b"ab"), (b"b", b"c"), (b"a", b"b")]
    assert ids_of(source, "abc ab") == Tokenizer.from_str(json.dumps(written)).encode("abc ab").ids


def test_type_may_be_missing(path: Path) -> None:
    """Older files omit the type of the model; its merges tell."""
    written = document(model={name: value for name, value in model().items() if name != "type"})
    assert source_of(path, written).model == source_of(path, document()).model


def test_tokens_of_other_letters_are_names_alone(path: Path) -> None:
    """A token that no bytes spell has an id and a name, and no piece is it; merges of such tokens never apply."""
    written = document(model=model([*TOKENS, "▁", "▁a"], [*MERGES, ["▁", "a"]]))
    source = source_of(path, written)
    assert source.model.names["▁a"] == 260
    assert len(source.model.vocabulary) == 259
    assert ids_of(source, "▁a") == Tokenizer.from_str(json.dumps(written)).encode("▁a").ids
    assert source.model.merges == [(b"a", b"b"), (b" ", b"ab"), (b"b", b"c")]


@pytest.mark.parametrize("more", [{"ignore_merges": True}, {"ignore_merges": False}, {}], ids=str)
def test_ignore_merges_is_kept(more: Json, path: Path) -> None:
    """With ignore_merges a piece that is a token is that token, though no merges make it."""
    written = document(model=model([*TOKENS, "xyz"], **more))
    assert ids_of(source_of(path, written), "xyz") == Tokenizer.from_str(json.dumps(written)).encode("xyz").ids


HARMLESS: list[Json] = [
    {"unk_token": "<unk>"},
    {"unk_token": "a", "fuse_unk": True},
    {"byte_fallback": True},
    {"dropout": 0.0},
    {"dropout": None, "continuing_subword_prefix": "", "end_of_word_suffix": ""},
]


@pytest.mark.parametrize("more", HARMLESS, ids=str)
def test_settings_without_effect_are_read(more: Json, path: Path) -> None:
    """What changes no id of a vocabulary with all bytes is read, and the reference gives the ids that it gives without."""
    plain, written = (Tokenizer.from_str(json.dumps(document(model=one))) for one in (model(), model(**more)))
    assert [plain.encode(text).ids for text in TEXTS] == [written.encode(text).ids for text in TEXTS]
    found = source_of(path, document(model=model(**more)))
    expected = source_of(path, document())
    assert (found.model.vocabulary, found.model.merges) == (expected.model.vocabulary, expected.model.merges)
    assert found.settings.named_tokens == ({"unk_token": more["unk_token"]} if "unk_token" in more else {})


UNSUPPORTED: list[tuple[Json, str]] = [
    ({"end_of_word_suffix": "</w>"}, "has no tokens for 243 of the bytes that text may have"),
    ({"continuing_subword_prefix": "##"}, "has no tokens for 243 of the bytes that text may have"),
    ({"more": 1}, "model has 'more', which is unknown to this version"),
]


@pytest.mark.parametrize(("more", "message"), UNSUPPORTED)
def test_model_that_asks_for_more_is_refused_by_name(more: Json, message: str, path: Path) -> None:
    """What changes ids and is not supported is refused by the name of the field."""
    assert message in refusal(path, document(model={**model(), **more}))


MALFORMED: list[tuple[Json, str]] = [
    ({"merges": ["a b", "a d"]}, "merge 2, 'a' and 'd', needs the token 'ad', and the vocabulary does not have it"),
    ({"merges": [["a", "▁"]]}, "merge 1, 'a' and '▁', needs the token '▁'"),
    ({"merges": ["a b", "#version", "ab"]}, "merge 2, 'ab', is not two tokens with one space between them"),
    ({"merges": ["a b c"]}, "merge 1, 'a b c', is not two tokens"),
    ({"merges": ["a b", ["b", "c"]]}, "merge 1 is 'a b'; merges are all strings, or all lists of two tokens"),
    ({"merges": [["a", "b", "c"]]}, "merge 1 is ['a', 'b', 'c']; merges are"),
    ({"merges": [["a", 1]]}, "merge 1 is ['a', 1]; merges are"),
    ({"merges": None}, "merges of the model is None; it must be a list"),
    ({"vocab": {**model()["vocab"], "bc": 0}}, "'bc' have one id, 0"),
    ({"vocab": {**model()["vocab"], "bc": "7"}}, "token 'bc' has the id '7'; ids are whole numbers"),
    ({"vocab": {**model()["vocab"], "bc": -1}}, "token 'bc' has the id -1; ids are whole numbers from 0"),
    ({"vocab": {**model()["vocab"], "bc": 1 << 32}}, "token 'bc' has the id 4294967296; ids are whole numbers from 0 to"),
    ({"vocab": []}, "vocab of the model is []; it must be a mapping"),
    ({"vocab": {}, "merges": []}, "is empty"),
    ({"ignore_merges": "yes"}, "ignore_merges is 'yes'; it is true or false"),
    ({"fuse_unk": None}, "fuse_unk is None; it is true or false"),
    ({"unk_token": 1}, "unk_token is 1; it is a string or null"),
]


@pytest.mark.parametrize(("more", "message"), MALFORMED)
def test_model_that_is_malformed_is_refused(more: Json, message: str, path: Path) -> None:
    """A model that is not laid out as one, or contradicts itself, is refused; the message names the file and the fault."""
    said = refusal(path, document(model={**model(), **more}))
    assert message in said
    assert str(path) in said


def test_ids_may_have_gaps(path: Path) -> None:
    """Ids need not be without gaps, nor in the order of merges."""
    written = document(model={**model(), "vocab": {token: 7 * (300 - number) for number, token in enumerate(TOKENS)}})
    assert ids_of(source_of(path, written), "abc ab") == Tokenizer.from_str(json.dumps(written)).encode("abc ab").ids


# What happens before and after the model

ISOLATED = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\p{N}"}, "behavior": "Isolated", "invert": False}
PRE_TOKENIZERS: dict[str, Json] = {
    "ByteLevel": BARE,
    "with a blank before": {**BARE, "add_prefix_space": True},
    "without its pattern": {**BARE, "use_regex": False},
    "a blank before, without its pattern": {**BARE, "add_prefix_space": True, "use_regex": False},
    **{
        f"a Split before: {behavior}, {'inverted' if invert else 'not inverted'}": {
            "type": "Sequence",
            "pretokenizers": [
                {**ISOLATED, "behavior": behavior, "invert": invert},
                {**BARE, "add_prefix_space": invert, "use_regex": False},
            ],
        }
        for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")
        for invert in (False, True)
    },
    "a Split at a string, and the pattern": {
        "type": "Sequence",
        "pretokenizers": [
            {**ISOLATED, "pattern": {"String": "."}},
            {"type": "Sequence", "pretokenizers": [{**BARE, "add_prefix_space": True}]},
        ],
    },
    **{
        name: {"type": "Sequence", "pretokenizers": [part, {**BARE, "use_regex": False}]}
        for name, part in {
            "Digits, each": {"type": "Digits", "individual_digits": True},
            "Digits, together": {"type": "Digits", "individual_digits": False},
            "Punctuation": {"type": "Punctuation", "behavior": "Isolated"},
            "Punctuation, as older files have it": {"type": "Punctuation"},
            "Punctuation, contiguous": {"type": "Punctuation", "behavior": "Contiguous"},
            "Whitespace": {"type": "Whitespace"},
            "WhitespaceSplit": {"type": "WhitespaceSplit"},
            "BertPreTokenizer": {"type": "BertPreTokenizer"},
        }.items()
    },
}
BLOCKS = [SWEPT_CHARACTERS[first : first + 512] for first in range(0, len(SWEPT_CHARACTERS), 512)]
AMONG_OTHERS = [form.join(block) for block in BLOCKS for form in ("a", " ", "")]


@pytest.mark.sampled
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS.values(), ids=PRE_TOKENIZERS.keys())
def test_pieces_are_the_reference_s(pre_tokenizer: Json) -> None:
    """The one form of pre-tokenizers gives the pieces that they give, around every character."""
    reference, parts = reference_of(pre_tokenizer), splits.components(pre_tokenizer)
    for text in (*TEXTS, *AMONG_OTHERS[:24], *sample(AMONG_OTHERS, 12)):
        assert [spelled(piece) for piece in pieces(parts, text)] == [piece for piece, _ in reference.pre_tokenize_str(text)]


def test_digits_are_not_those_of_patterns() -> None:
    """Some characters are digits to Digits and no numbers to a pattern: the reference has two versions of Unicode."""
    digits = reference_of({"type": "Digits", "individual_digits": True})
    numbers = reference_of({**ISOLATED, "pattern": {"Regex": r"\p{N}"}})
    text = "a".join(chr(code) for code in range(0x10000, 0x20000))
    assert digits.pre_tokenize_str(text) != numbers.pre_tokenize_str(text)




def sequence(*listed: Json) -> Json:
    """Describe a Sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": list(listed)}


REFUSED: list[tuple[Json, str]] = [
    ({"pre_tokenizer": sequence(BARE, {"type": "Metaspace", "replacement": "▁"})}, "pre_tokenizer Metaspace: supported are"),
    ({"pre_tokenizer": sequence(BARE, {"type": "Punctuation", "behavior": "Isolated"})}, "Punctuation after ByteLevel"),
    ({"pre_tokenizer": sequence(BARE, BARE)}, "pre_tokenizer ByteLevel after ByteLevel, where it would"),
    ({"pre_tokenizer": {"type": "ByteLevel", "trim_offsets": True}}, "pre_tokenizer ByteLevel has no 'add_prefix_space'"),
    ({"pre_tokenizer": sequence({**ISOLATED, "behavior": "isolated"}, BARE)}, "has 'isolated' for its behav"),
    ({"pre_tokenizer": sequence({**ISOLATED, "pattern": {"Glob": "*"}}, BARE)}, "it is a Regex or a String"),
    ({"normalizer": {"type": "ByteLevel"}}, "normalizer ByteLevel: supported are"),
    ({"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}, "decoder WordPiece: supported are ByteLevel alone, and Replace"),
    ({"decoder": {"type": "Sequence", "decoders": [BARE, BARE]}}, "decoder ByteLevel in a Sequence with others: supported are"),
    ({"decoder": {**BARE, "more": 1}}, "decoder has 'more'"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_component_that_is_not_supported_is_refused_by_name(parts: Json, message: str, path: Path) -> None:
    """A component that does something else than split text and spell its bytes is refused by its name."""
    assert message in refusal(path, document(**parts))


def test_normalizers_pass_through(path: Path) -> None:
    """Normalizers are kept in their order, with the fields that they have in the file."""
    listed = [
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Lowercase"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
    ]
    source = source_of(path, document(normalizer={"type": "Sequence", "normalizers": listed}))
    assert list(source.text.normalizers) == listed


@pytest.mark.parametrize(
    ("post_processor", "expected"),
    [
        (None, None),
        ({**BARE, "trim_offsets": False}, None),
        (BARE, Trimming(add_prefix_space=False)),
        ({"type": "Sequence", "processors": [{**BARE, "add_prefix_space": True}]}, Trimming(add_prefix_space=True)),
    ],
)
def test_trimming_is_kept(post_processor: Any, expected: Trimming | None, path: Path) -> None:
    """A source says whether offsets leave out white space, and whether the first blank of a text stays."""
    assert source_of(path, document(post_processor=post_processor)).trimming == expected


@pytest.mark.parametrize("decoder", [BARE, {"type": "ByteLevel", **BARE}, {"type": "Sequence", "decoders": [BARE]}, None], ids=str)
def test_decoder_of_bytes_is_stored_and_read(decoder: Any, path: Path) -> None:
    """The settings with a decoder of bytes are the same after a file; a decoder of WordPiece is stored as ever."""
    settings = source_of(path, document(decoder=decoder)).settings
    assert settings.decoder == (None if decoder is None else BYTE_LEVEL)
    rule = next(one.metadata["rule"] for one in Settings.__dataclass_fields__.values() if one.name == "decoder")
    stored = json.loads(json.dumps(rule.write(settings.decoder)))
    assert rule.holds(stored)
    assert rule.read(stored) == settings.decoder
    words = wordpiece(["[UNK]"]).about
    assert words["decoder"] == {"prefix": "##", "cleanup": True}
    assert Metadata.from_json(words).settings.decoder != BYTE_LEVEL


# Folders


def test_folder_of_merges_is_the_reference_s(tmp_path: Path) -> None:
    """vocab.json and merges.txt in a folder are what ByteLevelBPETokenizer makes of them, whatever ends the lines."""
    (tmp_path / "vocab.json").write_text(json.dumps(model()["vocab"]), encoding="utf-8")
    for ending in ("\n", "\r\n"):
        lines = ["#version: 0.2", *map(" ".join, MERGES)]
        (tmp_path / "merges.txt").write_text("".join(line + ending for line in lines), encoding="utf-8", newline="")
        source = read(tmp_path, {})
        reference = ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
        assert source.model.merges == [(b"a", b"b"), (b" ", b"ab"), (b"b", b"c")]
        assert ids_of(source, "abc ab") == reference.encode("abc ab").ids
        assert (source.trimming, source.settings.decoder) == (None, BYTE_LEVEL)


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ("a b\n\nb c\n", "merge 2, '', is not two tokens with one space between them"),
        ("a  b\n", "merge 1, 'a  b', is not two tokens"),
        ("a q\n", "merge 1, 'a' and 'q', needs the token 'aq'"),
    ],
)
def test_merges_that_are_none_are_refused(merges: str, message: str, tmp_path: Path) -> None:
    """A line that is no merge is refused with its number, as the reference refuses it."""
    (tmp_path / "vocab.json").write_text(json.dumps(model()["vocab"]), encoding="utf-8")
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    with pytest.raises(Exception, match=r"merge|Merges|Token|token"):
        ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    with pytest.raises(fst.VocabularyError) as error:
        read(tmp_path, {})
    assert message in str(error.value)


def test_lines_are_merges_without_comments() -> None:
    """Every line that begins with #version is a comment, wherever it stands; no other is."""
    assert pairs(["a b", "#versions b", "# c"]) == [("a", "b"), ("#", "c")]


def test_one_of_two_files_names_the_folder(tmp_path: Path) -> None:
    """Who names vocab.json or merges.txt alone is told to compile their folder."""
    (tmp_path / "vocab.json").write_text(json.dumps(model()["vocab"]), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", encoding="utf-8")
    for name, other in (("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")):
        with pytest.raises(fst.VocabularyError, match=rf"compile its folder, with the {other} in it"):
            read(tmp_path / name, {})


def test_folder_with_a_class_of_wordpiece_is_refused(tmp_path: Path) -> None:
    """A class that makes WordPiece of any tokenizer.json is refused with BPE's."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="model BPE, of which tokenizer_class BertTokenizer makes WordPiece; to compile"):
        read(tmp_path, {})


def test_folder_whose_document_counts_as_it_stands(tmp_path: Path) -> None:
    """A folder of the class PreTrainedTokenizerFast is its tokenizer.json, with the settings and tokens that the other files name."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, "eos_token": "<|end|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    source = read(tmp_path, {})
    assert source.added.ids == {"<|end|>": 259}
    assert (source.settings.model_max_length, source.settings.named_tokens) == (512, {"eos_token": "<|end|>"})


_END = "<|endoftext|>"
SPECIAL_TOKENS = [_END, "<s>", "</s>", "<unk>", "<pad>", "<mask>"]
UNLIKE = document(
    model=model([*TOKENS, *SPECIAL_TOKENS], ignore_merges=True),
    normalizer={"type": "NFKC"},
    post_processor={**BARE, "add_prefix_space": True},
    added_tokens=[{"id": 259, **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False), "content": _END, "special": True}],
)
GREEDY = {"content": "<mask>", "lstrip": True, "rstrip": False, "normalized": True, "single_word": False, "special": True}
CONFIGS: list[Json] = [
    {},
    {"add_prefix_space": True, "trim_offsets": False, "errors": "replace"},
    {"pad_token": None, "model_max_length": 1024},
    {"add_bos_token": True, "add_eos_token": True, "bos_token": "<s>", "eos_token": "<new>"},
    {"mask_token": {"__type": "AddedToken", **GREEDY}, "extra_special_tokens": ["<pad>"]},
    {"added_tokens_decoder": {"265": {**GREEDY, "content": "<q>"}, "259": UNLIKE["added_tokens"][0] | {"rstrip": True}}},
]
CLASSES = [*byte_level_classes.FAMILIES, "PreTrainedTokenizerFast"]


def same_folder(folder: Path, written: Mapping[str, Any]) -> None:
    """Compare a folder with what transformers makes of it, which it states as a tokenizer.json."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    for name, content in written.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    reference = transformers.AutoTokenizer.from_pretrained(folder)
    source, expected = read(folder, {}), source_of(folder / "expected.json", json.loads(reference.backend_tokenizer.to_str()))
    for name in ("model", "text", "added", "templates", "trimming"):
        assert getattr(source, name) == getattr(expected, name), name
    assert source.settings.decoder == expected.settings.decoder
    assert source.settings.named_tokens == {name: str(token) for name, token in reference.special_tokens_map.items()}
    assert source.settings.model_input_names == reference.model_input_names


@pytest.mark.parametrize(("name", "config"), thinned([(name, config) for name in CLASSES for config in CONFIGS], 2))
def test_folder_is_what_the_reference_makes_of_it(name: str, config: Json, tmp_path: Path) -> None:
    """Each class takes the same parts of a tokenizer.json as in the reference, and makes the same of those that it does not take."""
    same_folder(tmp_path, {"tokenizer.json": UNLIKE, "tokenizer_config.json": {"tokenizer_class": name, **config}})


@pytest.mark.parametrize("name", byte_level_classes.FAMILIES)
def test_folder_of_merges_and_a_class_is_what_the_reference_makes_of_it(name: str, tmp_path: Path) -> None:
    """Each class makes the same of vocab.json and merges.txt as in the reference; tokens around texts are refused."""
    merges = "".join(f"{left} {right}\n" for left, right in MERGES)
    written = {"vocab.json": UNLIKE["model"]["vocab"], "merges.txt": "#version: 0.2\n" + merges}
    same_folder(tmp_path, {**written, "tokenizer_config.json": {"tokenizer_class": name}})
    for config, message in (
        ({"tokenizer_class": name, "add_bos_token": True}, r"tokenizer_config\.json asks for add_bos_token without a tokenizer\.json"),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, r"PreTrainedTokenizerFast without a tokenizer\.json"),
    ):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        with pytest.raises(fst.UnsupportedError, match=message):
            read(tmp_path, {})


@pytest.mark.parametrize("kind", thinned(byte_level_classes.MODEL_TYPES, 6))
def test_type_of_a_model_stands_for_the_reference_s_class(kind: str, tmp_path: Path) -> None:
    """A config.json that names a type of model gives what AutoTokenizer gives."""
    same_folder(tmp_path, {"tokenizer.json": UNLIKE, "config.json": {"model_type": kind}})


def test_class_with_another_type_of_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the reference may take another class than the files name, and is not there to be asked, the folder is refused."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    for name, content in {"tokenizer.json": UNLIKE, "config.json": {"model_type": "granite", "tokenizer_class": "GPT2Tokenizer"}}.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match=r"tokenizer_class GPT2Tokenizer with the type of model 'granite' in config\.json; to"):
        read(tmp_path, {})


# Files of tiktoken

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b" ab": 300, b"\xf0\x9f": 258}


def lines(ranks: Mapping[bytes, int] = RANKS) -> str:
    """Write ranks as tiktoken does."""
    return "".join(f"{b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """A file of ranks."""
    path = tmp_path / "own.tiktoken"
    path.write_text(lines(), encoding="ascii")
    return path


def test_file_of_ranks_with_options(ranks: Path) -> None:
    """A file of ranks, a pattern and special tokens are an encoding: the ids are the ranks, and special tokens have their own."""
    source = read(ranks, {"pattern": r"\w+|\W+", "special": {"<|end|>": 400}})
    assert source.model == BpeModel.of_ranks(RANKS, {})
    assert (source.model.merges, source.model.ignore_merges, source.model.names["Ġab"]) == (None, True, 300)
    assert list(source.text.pre_tokenizers) == [splits.tiktoken_split(r"\w+|\W+"), splits.BYTES]
    assert (source.added.specials, source.added.skipped) == ({"<|end|>": 400}, (400,))


def test_encoding_is_named_by_the_file_or_an_option(ranks: Path) -> None:
    """A file that has the name of an encoding is that encoding; an option says so of any file, and others override its parts."""
    named = ranks.rename(ranks.with_name("r50k_base.tiktoken"))
    expected = tiktoken.ENCODINGS["gpt2"]
    for source in (read(named, {}), read(named, {"encoding": "gpt2"})):
        assert (source.text.pre_tokenizers[0], source.added.specials) == (splits.tiktoken_split(expected.pattern), expected.special)
    other = read(named, {"encoding": "gpt2", "pattern": "."})
    assert (other.text.pre_tokenizers[0], other.added.specials) == (splits.tiktoken_split("."), expected.special)
    assert not read(named, {"pattern": "."}).added.ids


def test_special_tokens_are_added_to_those_of_an_encoding(ranks: Path) -> None:
    """Special tokens that are given stand beside the encoding's own, unless these are left out."""
    end, given = tiktoken.ENCODINGS["gpt2"].special, {"<|start|>": 60000}
    for options, expected in ({}, {**end, **given}), ({"no_special": False}, {**end, **given}), ({"no_special": True}, given):
        assert read(ranks, {"encoding": "gpt2", "special": given, **options}).added.specials == expected
    assert read(ranks, {"encoding": "gpt2", "special": {"<|endoftext|>": 7000}}).added.specials == {"<|endoftext|>": 7000}
    assert not read(ranks, {"encoding": "gpt2", "no_special": True}).added.specials


def test_ranks_need_no_name(ranks: Path) -> None:
    """Ranks are told by their first lines, as in Llama 3's tokenizer.model, also if they are packed."""
    moved = ranks.with_name("tokenizer.model")
    moved.write_bytes(gzip.compress(ranks.read_bytes()))
    assert read(moved, {"pattern": "."}) == read(ranks, {"pattern": "."})


FAULTY: list[tuple[str, str]] = [
    ("IQ== 0\nIg== 1\nIQ== 2\n", "line 3: the token b'!' of line 1 again; leave one out"),
    ("IQ== 0\nIg== 1\nIw== 1\n", "line 3: the rank 1 of line 2 again; each token has its own"),
    ("IQ= 0\n", "line 1: the token 'IQ=' is not base64"),
    ("IQ== 0\n!!!! 1\n", "line 2: the token '!!!!' is not base64"),
    ("IQ== 0\n= 1\n== 2\n", "line 3: the token b'' of line 2 again; leave one out"),
    ("IQ== zero\n", "line 1: 'IQ== zero' is not a token in base64, a space and its rank"),
    ("IQ== -1\n", "line 1: 'IQ== -1' is not a token"),
    ("IQ== 1 2\n", "line 1: 'IQ== 1 2' is not a token"),
    ("IQ==\n", "line 1: 'IQ==' is not a token"),
    ("IQ== " + "9" * 5000 + "\n", "is not a token"),
    (f"IQ== {1 << 40}\n", "has no tokens for 242 of the bytes"),
    ("", "own.tiktoken is empty"),
    ("IQ== 0\n", "has no tokens for 242 of the bytes that text may have, such as 0x00"),
]


@pytest.mark.parametrize(("content", "message"), FAULTY, ids=range(len(FAULTY)))
def test_faulty_ranks_are_refused(content: str, message: str, ranks: Path) -> None:
    """A line that is no rank, and one that contradicts another, is refused with its number."""
    ranks.write_text(content, encoding="ascii")
    with pytest.raises(fst.FstError) as error:
        read(ranks, {"pattern": "."})
    assert message in str(error.value)
    assert str(ranks) in str(error.value)
    assert len(str(error.value)) < 300 + len(str(ranks))


OPTIONS: list[tuple[Json, str]] = [
    ({}, "contains ranks, but no pattern that splits text: name its encoding, gpt2, r50k_base, p50k_base, cl100k_base, o200k_base"),
    ({"special": {}}, "contains ranks, but no pattern"),
    ({"encoding": "p99k"}, "encoding 'p99k': there are gpt2, r50k_base"),
    ({"pattern": ".", "special": {"<e>": 256}}, "special token '<e>' has the id 256, which is the rank of b'ab'"),
    ({"pattern": ".", "special": {"Ġab": 400}}, "special token 'Ġab' is also a token with a rank"),
    ({"pattern": ".", "special": {"<e>": 400, "<f>": 400}}, "special token '<f>' has the id 400, as '<e>' has"),
    ({"pattern": ".", "special": {"<e>": 400, "<e><f>": 401}}, "special tokens '<e>' and '<e><f>', one of which begins with the other"),
    ({"pattern": ".", "special": {"": 400}}, "special token '' with the id 400; a token is text"),
    ({"pattern": ".", "special": {"<e>": "400"}}, "special token '<e>' with the id '400'"),
    ({"pattern": ".", "special": {"<e>": -1}}, "token '<e>' has the id -1; ids are whole numbers from 0"),
    ({"lowercase": True}, "lowercase: only WordPiece has it; leave the option out"),
]


@pytest.mark.parametrize(("given", "message"), OPTIONS)
def test_options_that_say_too_little_or_too_much_are_refused(given: Json, message: str, ranks: Path) -> None:
    """Options that leave open how ranks are used, or contradict them, are refused."""
    with pytest.raises(fst.FstError) as error:
        read(ranks, given)
    assert message in str(error.value)


@needs_shared
@pytest.mark.parametrize("name", thinned(["cl100k_base", "o200k_base", "p50k_base", "r50k_base"], 4))
def test_named_encodings_are_the_reference_s(name: str) -> None:
    """The patterns and special tokens are tiktoken's, and so are the tokens; a live Encoding is the same source as its file."""
    library = pytest.importorskip("tiktoken", reason="the reference")
    folder = VOCABULARIES / name
    stated = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))
    assert tiktoken.ENCODINGS[name] == (stated["pat_str"], stated["special_tokens"])
    read_lines = ((folder / f"{name}.tiktoken").read_bytes()).splitlines()
    expected = {b64decode(token): int(rank) for token, rank in map(bytes.split, read_lines)}
    source = read(folder / f"{name}.tiktoken", {})
    assert source.model.vocabulary == expected
    encoding = library.Encoding(name, pat_str=stated["pat_str"], mergeable_ranks=expected, special_tokens=stated["special_tokens"])
    assert read(encoding, {}) == source
    for text in TEXTS:
        assert ids_of(source, text) == encoding.encode_ordinary(text), text
    for token, number in source.added.ids.items():
        assert encoding.encode_single_token(token) == number


def test_patterns_are_those_of_the_installed_reference() -> None:
    """GPT-2's pattern is the one that the reference's code has."""
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="the reference")
    assert tiktoken.ENCODINGS["gpt2"].pattern == tiktoken.ENCODINGS["p50k_base"].pattern == public.r50k_pat_str


def test_live_encoding_takes_no_options() -> None:
    """A live Encoding says everything itself."""
    library = pytest.importorskip("tiktoken", reason="the reference")
    encoding = library.Encoding("own", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={"<|end|>": 400})
    assert read(encoding, {}, "BPE").added.ids == {"<|end|>": 400}
    with pytest.raises(fst.UnsupportedError, match=r"pattern: a tiktoken\.Encoding says it itself"):
        read(encoding, {"pattern": "."})
    with pytest.raises(fst.UnsupportedError, match=r"model BPE: fst\.compile\.wordpiece takes only WordPiece"):
        wordpiece(encoding)


@pytest.mark.parametrize("packed", [False, True])
def test_folder_with_one_file_of_ranks(packed: bool, ranks: Path) -> None:
    """A folder with one file of ranks is that file, with its options, also packed with gzip, and beside files that are no vocabulary."""
    (ranks.parent / "config.json").write_text("{}", encoding="utf-8")
    expected = read(ranks, {"pattern": "."})
    if packed:
        ranks.with_name("own.tiktoken.gz").write_bytes(gzip.compress(ranks.read_bytes()))
        ranks.unlink()
    assert read(ranks.parent, {"pattern": "."}) == expected
    with pytest.raises(fst.VocabularyError, match=r"own\.tiktoken(\.gz)? contains ranks, but no pattern"):
        read(ranks.parent, {})
    with pytest.raises(fst.UnsupportedError, match=r"model BPE: fst\.compile\.wordpiece takes only WordPiece"):
        wordpiece(ranks.parent)
    made: Any = bpe(ranks.parent, pattern=r"\w+|\W+", special={"<|end|>": 400})
    assert made.run("a ab<|end|>") == [97, 32, 256, 400]


def test_folder_with_a_tekken(tmp_path: Path) -> None:
    """A folder with a tekken.json is that file, also packed with gzip; it takes no options."""
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(mistral()), encoding="utf-8")
    expected = read(path, {})
    assert read(tmp_path, {}) == expected
    path.with_name("tekken.json.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert read(tmp_path, {}, "BPE") == expected
    with pytest.raises(fst.UnsupportedError, match=r"pattern: .*tekken\.json\.gz says it itself"):
        read(tmp_path, {"pattern": "."})


def test_folder_with_several_files(ranks: Path) -> None:
    """Files of ranks, and a tekken.json, of which a folder holds several, are listed in an error; a tokenizer.json beside them counts."""
    ranks.with_name("other.tiktoken").write_text(lines(), encoding="ascii")
    ranks.with_name("tekken.json").write_text(json.dumps(mistral()), encoding="utf-8")
    with pytest.raises(fst.VocabularyError, match=r"holds 'other\.tiktoken', 'own\.tiktoken', 'tekken\.json': name the one to compile"):
        read(ranks.parent, {"pattern": "."})
    ranks.with_name("tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    assert read(ranks.parent, {}).model == read(ranks.with_name("tokenizer.json"), {}).model


# Mistral's


def mistral(**more: Any) -> Json:
    """Make a tekken.json."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b" ab", b"unused"]
    config = {"pattern": r"\w+|\W+", "default_vocab_size": 283, "default_num_special_tokens": 25, "version": "v3"}
    vocab = [{"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None} for rank, token in enumerate(tokens)]
    return {"config": {**config, **more.pop("config", {})}, "vocab": vocab, **more}


def test_tekken_numbers_tokens_after_the_special_ones(path: Path) -> None:
    """Of tekken.json the first tokens are used, with ids after the special tokens, which no text has."""
    source = source_of(path, mistral())
    assert source.model.vocabulary == {**{bytes([byte]): 25 + byte for byte in range(256)}, b"ab": 281, b" ab": 282}
    assert {name: source.model.names[name] for name in ("<s>", "[TOOL_CONTENT]", "<SPECIAL_24>")} == {
        "<s>": 1, "[TOOL_CONTENT]": 19, "<SPECIAL_24>": 24,
    }  # fmt: skip
    assert not source.added.ids
    assert list(source.added.skipped) == list(range(25))


TOKEN = {"rank": 0, "token_bytes": "AA==", "token_str": None}
SPECIAL = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
SPOILT: list[tuple[Json, str]] = [
    ({"vocab": [{**TOKEN, "rank": 1}]}, "token 0 of vocab has the rank 1; ranks are 0, 1, 2 and so on"),
    ({"vocab": [{**TOKEN, "token_bytes": "AQ=="}]}, "token 0 of vocab is not the byte 0x00"),
    ({"vocab": [{**TOKEN, "token_bytes": "A"}]}, "token 0 of vocab: the token 'A' is not base64"),
    ({"vocab": [{"rank": 0}]}, "a token has no 'token_bytes'"),
    ({"vocab": [], "config": {"default_vocab_size": 26}}, "default_vocab_size asks for 1 tokens of 0"),
    ({"config": {"default_vocab_size": 25}}, "asks for 0 tokens"),
    ({"config": {"default_vocab_size": 300}}, "asks for 275 tokens of 259"),
    ({"config": {"pattern": None}}, "pattern is None; it is a string"),
    ({"config": {"default_num_special_tokens": 19, "default_vocab_size": 275}}, "it has 20 special tokens, more than default_num"),
    ({"config": {"version": "v13"}}, "version 'v13' lists no special_tokens"),
    ({"special_tokens": [*SPECIAL, *SPECIAL]}, "the special_tokens are not in the order of their ranks, each once"),
    ({"special_tokens": [{**SPECIAL[0], "token_str": "<SPECIAL_7>"}]}, "a special token has the name of a numbered one"),
    ({"special_tokens": [{**SPECIAL[0], "token_str": "ab"}]}, "a token has the name of a special token"),
    ({"more": 1}, "tekken.json has 'more', which is unknown to this version"),
]


@pytest.mark.parametrize(("more", "message"), SPOILT)
def test_tekken_that_is_malformed_is_refused(more: Json, message: str, path: Path) -> None:
    """A tekken.json whose ranks are no numbering, or that contradicts itself, is refused."""
    written = mistral(**more)
    if len(more.get("vocab", ())) == 1:
        written["config"]["default_vocab_size"] = 26
    assert message in refusal(path, written)


@needs_shared
def test_tekken_is_the_reference_s() -> None:
    """The real tekken.json has the ids and the special tokens of mistral-common's Tekkenizer."""
    source = read(VOCABULARIES / "tekken_240718" / "tekken.json.gz", {})
    assert len(source.model.vocabulary) == 130_072
    library = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason="the reference")
    assert tuple(part["token_str"] for part in library.Tekkenizer.DEPRECATED_SPECIAL_TOKENS) == tekken.SPECIAL
    written = json.loads(gzip.decompress((VOCABULARIES / "tekken_240718" / "tekken.json.gz").read_bytes()))
    settings, listed = written["config"], [*library.Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
    sizes = settings["default_vocab_size"], settings["default_num_special_tokens"]
    reference = library.Tekkenizer(written["vocab"], listed, settings["pattern"], *sizes, library.TokenizerVersion(settings["version"]))
    for text in (*TEXTS, "<s>[INST] a [/INST]</s>"):
        assert ids_of(source, text) == reference.encode(text, bos=False, eos=False), text
    assert [source.model.names[reference.id_to_piece(number)] for number in range(1000)] == list(range(1000))


# Real ones

READ = ("gpt2/tokenizer.json", "roberta/tokenizer.json", "gpt_neox/tokenizer.json", "mpt/tokenizer.json", "qwen3/tokenizer.json.gz")


@needs_shared
@pytest.mark.parametrize("name", thinned(READ, 5))
def test_real_document_is_the_reference_s(name: str) -> None:
    """A tokenizer.json in use has the tokens of the reference, and its merges and pieces give the reference's ids."""
    content = (VOCABULARIES / name).read_bytes()
    reference = Tokenizer.from_str((gzip.decompress(content) if name.endswith(".gz") else content).decode())
    source = read(VOCABULARIES / name, {})
    assert {**source.model.names, **source.added.ids} == reference.get_vocab(with_added_tokens=True)
    assert all(source.model.names[spelled(token)] == number for token, number in source.model.vocabulary.items())
    for text in (re.sub(" +", " ", text) for text in TEXTS[:2]):  # two blanks are an added token of some
        assert ids_of(source, text) == reference.encode(text, add_special_tokens=False).ids, text


@needs_shared
@pytest.mark.parametrize("name", thinned(["gpt2", "roberta"], 2))
def test_real_merges_are_those_of_the_document(name: str, tmp_path: Path) -> None:
    """vocab.json and merges.txt in use hold the model of the tokenizer.json beside them."""
    for file in ("vocab.json", "merges.txt"):
        (tmp_path / file).symlink_to(VOCABULARIES / name / file)
    assert read(tmp_path, {}).model == read(VOCABULARIES / name / "tokenizer.json", {}).model
    assert read(VOCABULARIES / name, {}).model == read(VOCABULARIES / name / "tokenizer.json", {}).model


JSON = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "a", "ab", "ByteLevel", "Split", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "rank", "a", "Regex"]), inner, max_size=2),
    max_leaves=4,
)
PLACES = [
    *([name] for name in document()),
    *(["model", name] for name in ("vocab", "merges", "unk_token", "fuse_unk", "ignore_merges", "dropout", "end_of_word_suffix")),
    *([name, inner] for name in ("pre_tokenizer", "decoder") for inner in ("add_prefix_space", "use_regex", "type")),
]
MISTRAL_PLACES = [["config"], ["vocab"], ["special_tokens"], ["config", "pattern"], ["config", "default_vocab_size"], ["config", "version"]]


@given(value=JSON, place=st.sampled_from([(document, place) for place in PLACES] + [(mistral, place) for place in MISTRAL_PLACES]))
@examples(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_are_read_or_refused(value: Any, place: tuple[Callable[[], Json], list[str]], tmp_path: Path) -> None:
    """Whatever stands in a part of a source, it is read, or refused in this package's own words."""
    make, (*outer, last) = place
    written = json.loads(json.dumps(make()))
    inner = written
    for name in outer:
        inner = inner[name]
    inner[last] = value
    with suppress(fst.VocabularyError, fst.UnsupportedError):
        assert source_of(tmp_path / "tokenizer.json", written).model.kind == "BPE"


# Packed files


def test_gzipped_file_is_what_is_in_it(tmp_path: Path) -> None:
    """A file packed with gzip, in one member or several, is read as what is in it, whatever its name."""
    text = json.dumps(document()).encode()
    expected = source_of(tmp_path / "tokenizer.json", document())
    for name, data in {
        "tokenizer.json.gz": gzip.compress(text),
        "tokenizer.json": gzip.compress(text),
        "download": gzip.compress(text[:100]) + gzip.compress(text[100:]),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert read(tmp_path / name, {}) == expected
    (tmp_path / "vocab.txt.gz").write_bytes(gzip.compress(b"[UNK]\na\n"))
    assert wordpiece(tmp_path / "vocab.txt.gz").run("a") == [1]


def test_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a packed file that holds more than a source may, only as much is unpacked, in one member or in several."""
    monkeypatch.setattr(files, "MAX_SOURCE_BYTES", 1 << 20)
    for data in (gzip.compress(bytes(1 << 26)), gzip.compress(bytes(1 << 15)) * 64):
        (tmp_path / "vocab.txt").write_bytes(data)
        with pytest.raises(fst.VocabularyError, match="is larger than 1 MiB once unpacked"):
            read(tmp_path / "vocab.txt", {})


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: data[:12], lambda data: data[:20] + b"\xff" * 9 + data[29:]])
def test_damaged_gzip_is_refused(damage: Callable[[bytes], bytes], path: Path) -> None:
    """A packed file that is damaged or cut short is refused."""
    path.write_bytes(damage(gzip.compress(json.dumps(document()).encode())))
    with pytest.raises(fst.VocabularyError, match="is packed with gzip, and damaged or cut short: download it again"):
        read(path, {})


# The public functions and the command


def test_functions_take_their_own_kind(path: Path, tmp_path: Path) -> None:
    """`bpe` takes BPE, `wordpiece` WordPiece, and `tokenizer` both, with the options of each."""
    path.write_text(json.dumps(document()), encoding="utf-8")
    (tmp_path / "vocab.txt").write_text("[UNK]\na\nA\n", encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match=r"model BPE: fst\.compile\.wordpiece takes only WordPiece; take fst\.compile\.bpe"):
        wordpiece(path)
    with pytest.raises(fst.UnsupportedError, match=r"model WordPiece: fst\.compile\.bpe takes only BPE; take fst\.compile\.wordpiece"):
        bpe(["[UNK]", "a"])
    with pytest.raises(fst.VocabularyError, match=r"vocab\.txt contains no BPE vocabulary: name a tokenizer\.json"):
        bpe(tmp_path / "vocab.txt")
    assert tokenizer(tmp_path / "vocab.txt", lowercase=False).run("A") == [2]
    with pytest.raises(TypeError, match="unexpected keyword argument 'uppercase'"):
        tokenizer(tmp_path / "vocab.txt", uppercase=True)
    with pytest.raises(fst.UnsupportedError, match="encoding: only a file of tiktoken's ranks needs it"):
        tokenizer(tmp_path / "vocab.txt", encoding="gpt2")
    with pytest.raises(fst.UnsupportedError, match="encoding: only a file of tiktoken's ranks needs it"):
        bpe(path, encoding="gpt2")
    with pytest.raises(fst.UnsupportedError, match="lowercase: only WordPiece has it"):
        tokenizer(path, lowercase=True)


def test_command_has_the_options_of_ranks(ranks: Path) -> None:
    """`fst compile` hands a pattern and special tokens on, and says which are malformed."""

    def said(*arguments: str) -> str:
        return CliRunner().invoke(main, ["compile", str(ranks), "-o", str(ranks.with_name("table.npz")), *arguments]).output

    assert "contains ranks, but no pattern" in said()
    assert "special token '<e>' has the id 256, which is the rank of b'ab'" in said("--pattern", ".", "--special", "<e>=256")
    assert "special token '<=>' has the id 256" in said("--encoding", "gpt2", "--special", "<f>=500", "--special", "<=>=256")
    assert "'<e>' is not TOKEN=ID, such as" in said("--pattern", ".", "--special", "<e>")


def test_command_takes_a_folder_with_ranks(ranks: Path) -> None:
    """`fst compile` takes a folder with a file of ranks, and does not overwrite that."""

    def said(output: Path) -> str:
        given = ["compile", str(ranks.parent), "-o", str(output), "--pattern", r"\w+|\W+", "--special", "<e>=400"]
        return CliRunner().invoke(main, given).output

    said(ranks.with_name("table.npz"))
    assert fst.Tokenizer.load(ranks.with_name("table.npz")).encode("ab<e>").tolist() == [256, 400]
    assert "own.tiktoken" in said(ranks)
    assert ranks.read_text("ascii") == lines()


@pytest.mark.parametrize("given", ["file", "folder"])
def test_errors_of_the_compiler_name_the_source(given: str, path: Path) -> None:
    """What the compiler refuses after the source was read is said with the name of the file or folder."""
    twice = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFD"}]}
    path.write_text(json.dumps(document(normalizer=twice)), encoding="utf-8")
    source = path if given == "file" else path.parent
    for function in (bpe, tokenizer):
        with pytest.raises(fst.UnsupportedError, match=f"^{re.escape(str(source))}: normalizers 'NFC', 'NFD', each of"):
            function(source)
