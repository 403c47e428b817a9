"""Folders with ranks of `tiktoken` and a class of `transformers` in Python give the ids of the encoding that the class makes."""

from __future__ import annotations

import json
import random
import unicodedata
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import tiktoken as library
from support.sources.merges import TEXTS

import fst
from fst.compile import bpe, tokenizer
from fst.compile.pretokens.splits import tiktoken_split
from fst.compile.sources import tiktoken
from fst.compile.sources.pretrained.ranks import GLM, KIMI
from fst.compile.sources.read import read

MORE = ("ab", " ab", "日本", "本日", "é", "한", " Hello", "ello", "11", "111", "\n\n", "'s", "ABc", "ード", "々々")
BYTES = [bytes([byte]) for byte in range(256)]
RANKS = {token: rank for rank, token in enumerate([*BYTES, *(text.encode() for text in MORE)])}
SIZE = len(RANKS)
PIECES = (
    *("a", "B", "e\u0301", "\u0338", " ", "  ", "\n", "\r\n", "日本", "々", "〇", "ード", "한", "\u1112\u1161\u11ab"),
    *("'s", "'LL", "1234", "."),
    *(" Hello", "HELLOworld", "中english中ENG", "ǅ", "ʰ", "\U00020000", "\U0001f600", "/", "\u2126", "\u0344", "\ufa0e"),
)
KIMI_TOKENS = {SIZE: "[BOS]", SIZE + 1: "[EOS]", SIZE + 2: "<|im_end|>", SIZE + 255: "[PAD]"}
KIMI_SPECIAL = {KIMI_TOKENS.get(number, f"<|reserved_token_{number}|>"): number for number in range(SIZE, SIZE + 256)}
GLM_TOKENS = {SIZE + number: token for number, token in enumerate(("<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<|user|>"))}


def folder_of(folder: Path, file: str, name: str, added: dict[int, str], **config: Any) -> Path:
    """A folder with ranks and the settings of a class."""
    (folder / file).write_bytes(b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in RANKS.items()))
    code = {"AutoTokenizer": [f"tokenization.{name}", None]}
    numbered = {str(number): {"content": token, "special": True} for number, token in added.items()}
    settings = {"tokenizer_class": name, "auto_map": code, "added_tokens_decoder": numbered, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def check(tok: fst.Tokenizer, pattern: str, special: dict[str, int], *, is_composed: bool = False) -> None:
    """Compare ids with those of the reference, for texts with special tokens and for random texts."""
    reference = library.Encoding("reference", pat_str=pattern, mergeable_ranks=RANKS, special_tokens=special)
    draw, pieces = random.Random(0), [*PIECES, *[*special][:6], *[token[:-1] for token in [*special][:3]]]
    for text in (*TEXTS, *("".join(draw.choices(pieces, k=draw.randrange(12))) for _ in range(400))):
        composed = unicodedata.normalize("NFC", text) if is_composed else text
        ids = reference.encode(composed, allowed_special="all")
        assert tok.encode(text, add_special_tokens=False).tolist() == ids, text
        assert tok.decode(ids, skip_special_tokens=False) == composed


def test_kimi(tmp_path: Path) -> None:
    """Kimi's pattern has classes without Han, and 256 ids after the ranks are special tokens, named by the settings or by their id."""
    source = read(folder_of(tmp_path, "tiktoken.model", "TikTokenTokenizer", KIMI_TOKENS, bos_token="[BOS]", pad_token="[PAD]"), {})
    assert source.added.specials == KIMI_SPECIAL
    assert source.text.pre_tokenizers[0] == tiktoken_split(KIMI)
    assert source.settings.named_tokens == {"bos_token": "[BOS]", "eos_token": "[EOS]", "pad_token": "[PAD]"}


@pytest.mark.slow
def test_ids_of_kimi(tmp_path: Path) -> None:
    """Kimi's ids are those of the reference."""
    check(fst.Tokenizer(tokenizer(folder_of(tmp_path, "tiktoken.model", "TikTokenTokenizer", KIMI_TOKENS))), KIMI, KIMI_SPECIAL)


def test_glm(tmp_path: Path) -> None:
    """GLM-4's special tokens are those of the settings, and two of them come before each text."""
    folder = folder_of(tmp_path, "tokenizer.model", "ChatGLM4Tokenizer", GLM_TOKENS, pad_token="<|endoftext|>")
    tok = fst.Tokenizer(bpe(folder))
    check(tok, GLM, {token: number for number, token in GLM_TOKENS.items()})
    assert tok.encode("ab").tolist() == [SIZE + 2, SIZE + 4, RANKS[b"ab"]]
    assert tok("ab", padding="max_length", max_length=4, return_tensors=None)["input_ids"][-1] == RANKS[b"ab"]


@pytest.mark.parametrize(("name", "first"), [("qwen", 151643), ("hy", 127957)])
def test_composed_encodings(name: str, first: int, tmp_path: Path) -> None:
    """The first Qwen's and Hunyuan's texts are composed before special tokens are found, so a mark may destroy one."""
    path = tmp_path / f"{name}.tiktoken"
    path.write_bytes(b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in RANKS.items()))
    tok, encoding = fst.Tokenizer(bpe(path)), tiktoken.ENCODINGS[name]
    check(tok, encoding.pattern, dict(encoding.special), is_composed=True)
    assert min(encoding.special.values()) == first == tok.token_to_id("<|endoftext|>")
    assert tok.encode("<|endoftext|>").tolist() == [first] != tok.encode("<|endoftext|>\u0338").tolist()


def test_qwen(tmp_path: Path) -> None:
    """A folder of Qwen's class is its file of ranks with its name."""
    folder = folder_of(tmp_path, "qwen.tiktoken", "QWenTokenizer", {})
    assert read(folder, {}).model == read(folder / "qwen.tiktoken", {}).model
    assert read(folder, {}).added == read(folder / "qwen.tiktoken", {}).added


def test_harmony_is_the_reference_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """The special tokens and the pattern of o200k_harmony equal those of `tiktoken`."""
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="the reference")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
    stated = public.o200k_harmony()
    assert tiktoken.ENCODINGS["o200k_harmony"][:2] == (stated["pat_str"], stated["special_tokens"])


REFUSED: list[tuple[str, dict[int, str], dict[str, Any], str]] = [
    ("ChatGLM4Tokenizer", GLM_TOKENS, {"pad_token": "<pad>"}, "special token '<pad>' has no id; expected a token of added_tokens_decoder"),
    ("ChatGLM4Tokenizer", {SIZE: "<eop>"}, {}, "its files are not laid out as those of a tokenizer"),
    ("TikTokenTokenizer", {SIZE + 256: "[BOS]"}, {}, "special token '[BOS]' has no id"),
    ("TikTokenTokenizer", {3: "[BOS]", SIZE: "[EOS]"}, {}, "special token '[BOS]' has no id"),
    ("QWenTokenizer", {}, {"split_special_tokens": True}, "split_special_tokens"),
    ("HYTokenizer", {}, {}, "tokenizer_class is HYTokenizer: its Python code has versions with different special tokens"),
]


@pytest.mark.parametrize(("name", "added", "config", "message"), REFUSED)
def test_settings_that_no_table_has(name: str, added: dict[int, str], config: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Special tokens without an id, and settings or classes with other ids, are refused by name."""
    with pytest.raises(fst.FstError) as caught:
        read(folder_of(tmp_path, "tokenizer.model", name, added, **config), {})
    assert message in str(caught.value)


def test_class_that_is_no_name(tmp_path: Path) -> None:
    """If the class is no text, the ranks are read without a class."""
    folder = folder_of(tmp_path, "tiktoken.model", "TikTokenTokenizer", {}, tokenizer_class=["TikTokenTokenizer"])
    with pytest.raises(fst.VocabularyError, match="contains ranks, but no pattern that splits text"):
        read(folder, {})


def test_flags_and_options_are_refused(tmp_path: Path) -> None:
    """Added tokens with flags are refused, and options, since the class determines everything."""
    folder = folder_of(tmp_path, "tiktoken.model", "TikTokenTokenizer", KIMI_TOKENS)
    with pytest.raises(fst.UnsupportedError, match="contains it; leave the option out"):
        read(folder, {"pattern": "."})
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["added_tokens_decoder"][str(SIZE)]["lstrip"] = True
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="has lstrip, rstrip or single_word; expected none of them"):
        read(folder, {})
