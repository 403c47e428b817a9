"""Sources of byte-level BPE give the same ids as in `tokenizers`, or are refused with a message that contains the fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.sources.merges import (
    BARE,
    MERGES,
    TEXTS,
    TOKENS,
    Json,
    document,
    ids_of,
    model,
    pieces,
    reference_of,
    refusal,
    source_of,
)
from support.text.every_character import swept_characters
from support.tiers import sample
from tokenizers import Tokenizer, pre_tokenizers

from fst.automata.rows import CODE_POINTS
from fst.compile import wordpiece
from fst.compile.pretokens import splits
from fst.compile.text.source import Trimming
from fst.machines.wordpiece.header import Metadata
from fst.pretokens.byte_letters import LETTERS, bytes_of, spelled
from fst.tables.header import BYTE_LEVEL, Settings


@pytest.mark.slow
def test_letters_are_the_reference_s() -> None:
    """Each byte has the same letter as in `tokenizers`, and the UTF-8 of every character is spelled with the same letters."""
    assert sorted(LETTERS.values()) == sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    text = "".join(chr(code) for code in range(CODE_POINTS) if not 0xD800 <= code < 0xE000)
    ((expected, _),) = bare.pre_tokenize_str(text)
    assert spelled(text.encode()) == expected
    assert bytes_of(expected) == text.encode()


@pytest.mark.parametrize("token", ["a b", "▁a", "\x00", "\xad", "\xa0", "ń", "\U0001f63a", "\ud800"], ids=ascii)
def test_other_characters_spell_no_bytes(token: str) -> None:
    """A token that contains a character that is not a letter for a byte has no bytes."""
    assert bytes_of(token) is None


# The model of a tokenizer.json


def test_merges_are_ranked_as_the_reference_ranks_them(path: Path) -> None:
    """The rank of a repeated merge is that of its last occurrence, and merges that begin with #version are ignored."""
    written = document(model=model(merges=["#version: 0.2", "a b", "Ġ ab", "b c", "a b"]))
    source = source_of(path, written)
    assert source.model.merges == [(b" ", b"ab"), (b"b", b"c"), (b"a", b"b")]
    assert ids_of(source, "abc ab") == Tokenizer.from_str(json.dumps(written)).encode("abc ab").ids


def test_type_may_be_missing(path: Path) -> None:
    """The type of the model may be missing, as in older files, because it follows from the presence of merges."""
    written = document(model={name: value for name, value in model().items() if name != "type"})
    assert source_of(path, written).model == source_of(path, document()).model


def test_tokens_of_other_letters_are_names_alone(path: Path) -> None:
    """A token that is not spelled in ByteLevel's letters for bytes has an id, but is never found in a text."""
    written = document(model=model([*TOKENS, "▁", "▁a"], [*MERGES, ["▁", "a"]]))
    source = source_of(path, written)
    assert source.model.names["▁a"] == 260
    assert len(source.model.vocabulary) == 259
    assert ids_of(source, "▁a") == Tokenizer.from_str(json.dumps(written)).encode("▁a").ids
    assert source.model.merges == [(b"a", b"b"), (b" ", b"ab"), (b"b", b"c")]


@pytest.mark.parametrize("more", [{"ignore_merges": True}, {"ignore_merges": False}, {}], ids=str)
def test_ignore_merges_is_kept(more: Json, path: Path) -> None:
    """With ignore_merges, a pre-token that equals a token becomes this token, even if merges do not make it."""
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
    """If a vocabulary has all bytes, settings without effect on its ids are accepted, and `tokenizers` gives the same ids with and
    without them.
    """
    plain, written = (Tokenizer.from_str(json.dumps(document(model=one))) for one in (model(), model(**more)))
    assert [plain.encode(text).ids for text in TEXTS] == [written.encode(text).ids for text in TEXTS]
    found = source_of(path, document(model=model(**more)))
    expected = source_of(path, document())
    assert (found.model.vocabulary, found.model.merges) == (expected.model.vocabulary, expected.model.merges)
    assert found.settings.named_tokens == ({"unk_token": more["unk_token"]} if "unk_token" in more else {})


UNSUPPORTED: list[tuple[Json, str]] = [
    ({"more": 1}, "model has 'more', which is unknown to this version"),
]


@pytest.mark.parametrize(("more", "message"), UNSUPPORTED)
def test_model_that_asks_for_more_is_refused_by_name(more: Json, message: str, path: Path) -> None:
    """An unsupported setting that changes ids is refused, and the message contains the name of its field."""
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
    """A model that is malformed or contradicts itself is refused, and the message contains the file and the fault."""
    reason = refusal(path, document(model={**model(), **more}))
    assert message in reason
    assert str(path) in reason


def test_ids_may_have_gaps(path: Path) -> None:
    """Token ids may be in any order and may have gaps."""
    written = document(model={**model(), "vocab": {token: 7 * (300 - number) for number, token in enumerate(TOKENS)}})
    assert ids_of(source_of(path, written), "abc ab") == Tokenizer.from_str(json.dumps(written)).encode("abc ab").ids


# Pre-tokenizers, normalizers and post-processors

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


def among_others() -> list[str]:
    """Every character, in texts of 512 of them with a letter, a space or nothing between two."""
    chars = swept_characters()
    return [form.join(chars[first : first + 512]) for first in range(0, len(chars), 512) for form in ("a", " ", "")]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS.values(), ids=PRE_TOKENIZERS.keys())
def test_pieces_are_the_reference_s(pre_tokenizer: Json) -> None:
    """Every supported sequence of pre-tokenizers gives the same pre-tokens as in `tokenizers` around every character."""
    reference, parts = reference_of(pre_tokenizer), splits.components(pre_tokenizer)
    texts = among_others()
    for text in (*TEXTS, *texts[:24], *sample(texts, 24)):
        assert [spelled(piece) for piece in pieces(parts, text)] == [piece for piece, _ in reference.pre_tokenize_str(text)]


def test_digits_are_not_those_of_patterns() -> None:
    """In `tokenizers`, some characters are digits for Digits but not for a pattern, because the two use different versions of Unicode."""
    digits = reference_of({"type": "Digits", "individual_digits": True})
    numbers = reference_of({**ISOLATED, "pattern": {"Regex": r"\p{N}"}})
    text = "a".join(chr(code) for code in range(0x10000, 0x20000))
    assert digits.pre_tokenize_str(text) != numbers.pre_tokenize_str(text)


def sequence(*listed: Json) -> Json:
    """Make a Sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": list(listed)}


REFUSED: list[tuple[Json, str]] = [
    ({"pre_tokenizer": sequence(BARE, {"type": "Metaspace", "replacement": "▁"})}, "pre_tokenizer Metaspace: supported are"),
    ({"pre_tokenizer": sequence(BARE, {"type": "Punctuation", "behavior": "Isolated"})}, "Punctuation after ByteLevel"),
    ({"pre_tokenizer": sequence(BARE, BARE)}, "pre_tokenizer ByteLevel after ByteLevel, where it would"),
    ({"pre_tokenizer": {"type": "ByteLevel", "trim_offsets": True}}, "pre_tokenizer ByteLevel has no 'add_prefix_space'"),
    ({"pre_tokenizer": sequence({**ISOLATED, "behavior": "isolated"}, BARE)}, "has 'isolated' for its behav"),
    ({"pre_tokenizer": sequence({**ISOLATED, "pattern": {"Glob": "*"}}, BARE)}, "it is a Regex or a String"),
    ({"normalizer": {"type": "ByteLevel"}}, "normalizer ByteLevel: supported are"),
    ({"decoder": {"type": "CTC", "pad_token": "x"}}, "decoder CTC: supported are WordPiece and ByteLevel alone, and Replace"),
    ({"decoder": {"type": "Sequence", "decoders": [BARE, BARE]}}, "decoder ByteLevel in a Sequence with others: supported are"),
    ({"decoder": {**BARE, "more": 1}}, "decoder has 'more'"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_component_that_is_not_supported_is_refused_by_name(parts: Json, message: str, path: Path) -> None:
    """A component that does more than split a text or spell its bytes is refused, and the message contains its name."""
    assert message in refusal(path, document(**parts))


def test_normalizers_pass_through(path: Path) -> None:
    """Normalizers are read in the order of the file, with all their fields."""
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
    """The settings of ByteLevel for whitespace in offsets and for a space before a text are read."""
    assert source_of(path, document(post_processor=post_processor)).trimming == expected


@pytest.mark.parametrize("decoder", [BARE, {"type": "ByteLevel", **BARE}, {"type": "Sequence", "decoders": [BARE]}, None], ids=str)
def test_decoder_of_bytes_is_stored_and_read(decoder: Any, path: Path) -> None:
    """Whether a decoder decodes bytes is stored in the table and read back, and a decoder of WordPiece is stored as its prefix and its
    cleanup.
    """
    settings = source_of(path, document(decoder=decoder)).settings
    assert settings.decoder == (None if decoder is None else BYTE_LEVEL)
    rule = next(one.metadata["rule"] for one in Settings.__dataclass_fields__.values() if one.name == "decoder")
    stored = json.loads(json.dumps(rule.write(settings.decoder)))
    assert rule.holds(stored)
    assert rule.read(stored) == settings.decoder
    words = wordpiece(["[UNK]"]).header
    assert words["decoder"] == {"prefix": "##", "cleanup": True}
    assert Metadata.from_json(words).settings.decoder != BYTE_LEVEL
