"""Files of ranks, in the formats of `tiktoken` and tekken, give the same ids as the libraries that define the formats, or are refused
with the fault.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import needs_shared
from support.sources.merges import (
    RANKS,
    TEXTS,
    VOCABULARIES,
    Json,
    document,
    ids_of,
    lines,
    mistral,
    refusal,
    source_of,
)
from support.tiers import thinned

import fst
from fst.compile import bpe, wordpiece
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens import splits
from fst.compile.sources import tekken, tiktoken
from fst.compile.sources.read import read


def test_file_of_ranks_with_options(ranks: Path) -> None:
    """A file of ranks, a pattern and special tokens together make an encoding, whose ids are the ranks and the ids of the special
    tokens.
    """
    source = read(ranks, {"pattern": r"\w+|\W+", "special": {"<|end|>": 400}})
    assert source.model == BpeModel.of_ranks(RANKS, {})
    assert (source.model.merges, source.model.ignore_merges, source.model.names["Ġab"]) == (None, True, 300)
    assert list(source.text.pre_tokenizers) == [splits.tiktoken_split(r"\w+|\W+"), splits.BYTES]
    assert (source.added.specials, source.added.skipped) == ({"<|end|>": 400}, (400,))


def test_encoding_is_named_by_the_file_or_an_option(ranks: Path) -> None:
    """The file's name, or the option `encoding`, selects a named encoding, and other options replace parts of this encoding."""
    named = ranks.rename(ranks.with_name("r50k_base.tiktoken"))
    expected = tiktoken.ENCODINGS["gpt2"]
    for source in (read(named, {}), read(named, {"encoding": "gpt2"})):
        assert (source.text.pre_tokenizers[0], source.added.specials) == (splits.tiktoken_split(expected.pattern), expected.special)
    other = read(named, {"encoding": "gpt2", "pattern": "."})
    assert (other.text.pre_tokenizers[0], other.added.specials) == (splits.tiktoken_split("."), expected.special)
    assert not read(named, {"pattern": "."}).added.ids


def test_special_tokens_are_added_to_those_of_an_encoding(ranks: Path) -> None:
    """Special tokens that are passed are added to those of the encoding, or replace them if `no_special` is set."""
    end, given = tiktoken.ENCODINGS["gpt2"].special, {"<|start|>": 60000}
    for options, expected in ({}, {**end, **given}), ({"no_special": False}, {**end, **given}), ({"no_special": True}, given):
        assert read(ranks, {"encoding": "gpt2", "special": given, **options}).added.specials == expected
    assert read(ranks, {"encoding": "gpt2", "special": {"<|endoftext|>": 7000}}).added.specials == {"<|endoftext|>": 7000}
    assert not read(ranks, {"encoding": "gpt2", "no_special": True}).added.specials


def test_ranks_need_no_name(ranks: Path) -> None:
    """A file of ranks is recognized by its first lines, whatever its name, even if it is compressed."""
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
    """A line that is not a rank, or that contradicts another line, is refused with its line number."""
    ranks.write_text(content, encoding="ascii")
    with pytest.raises(fst.FstError) as error:
        read(ranks, {"pattern": "."})
    assert message in str(error.value)
    assert str(ranks) in str(error.value)
    assert len(str(error.value)) < 300 + len(str(ranks))


OPTIONS: list[tuple[Json, str]] = [
    ({}, "contains ranks, but no pattern that splits text: name its encoding, gpt2, r50k_base, p50k_base, cl100k_base, o200k_base"),
    ({"special": {}}, "contains ranks, but no pattern"),
    ({"encoding": "p99k"}, "encoding is 'p99k'; expected 'gpt2', 'r50k_base'"),
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
    """Options for a file of ranks are refused if they are incomplete or contradict each other."""
    with pytest.raises(fst.FstError) as error:
        read(ranks, given)
    assert message in str(error.value)


@needs_shared
@pytest.mark.parametrize("name", thinned(["cl100k_base", "o200k_base", "p50k_base", "r50k_base"], 8))
def test_named_encodings_are_the_reference_s(name: str) -> None:
    """The patterns, special tokens and tokens of named encodings equal those of `tiktoken`, and an Encoding compiles like its file."""
    library = pytest.importorskip("tiktoken", reason="the reference")
    folder = VOCABULARIES / name
    stated = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))
    assert tiktoken.ENCODINGS[name][:2] == (stated["pat_str"], stated["special_tokens"])
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
    """The pattern of GPT-2 equals the pattern in the installed version of `tiktoken`."""
    public = pytest.importorskip("tiktoken_ext.openai_public", reason="the reference")
    assert tiktoken.ENCODINGS["gpt2"].pattern == tiktoken.ENCODINGS["p50k_base"].pattern == public.r50k_pat_str


def test_live_encoding_takes_no_options() -> None:
    """For an Encoding of `tiktoken`, all options are refused, because it already contains the pattern and the special tokens."""
    library = pytest.importorskip("tiktoken", reason="the reference")
    encoding = library.Encoding("own", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={"<|end|>": 400})
    assert read(encoding, {}, "BPE").added.ids == {"<|end|>": 400}
    with pytest.raises(fst.UnsupportedError, match=r"pattern: a tiktoken\.Encoding contains it"):
        read(encoding, {"pattern": "."})
    with pytest.raises(fst.UnsupportedError, match=r"model BPE: fst\.compile\.wordpiece takes only WordPiece"):
        wordpiece(encoding)


@pytest.mark.parametrize("packed", [False, True])
def test_folder_with_one_file_of_ranks(packed: bool, ranks: Path) -> None:
    """A folder with one file of ranks is read like this file, even with options, if the file is compressed, and if there are unrelated
    files.
    """
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
    """A folder with a tekken.json, compressed or not, is read like this file, and options are refused."""
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(mistral()), encoding="utf-8")
    expected = read(path, {})
    assert read(tmp_path, {}) == expected
    path.with_name("tekken.json.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert read(tmp_path, {}, "BPE") == expected
    with pytest.raises(fst.UnsupportedError, match=r"pattern: .*tekken\.json\.gz contains it"):
        read(tmp_path, {"pattern": "."})


def test_folder_with_several_files(ranks: Path) -> None:
    """A folder with several files of ranks is refused with their names, unless it also has a tokenizer.json, which is then compiled."""
    ranks.with_name("other.tiktoken").write_text(lines(), encoding="ascii")
    ranks.with_name("tekken.json").write_text(json.dumps(mistral()), encoding="utf-8")
    with pytest.raises(fst.VocabularyError, match=r"holds 'other\.tiktoken', 'own\.tiktoken', 'tekken\.json': name the one to compile"):
        read(ranks.parent, {"pattern": "."})
    ranks.with_name("tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    assert read(ranks.parent, {}).model == read(ranks.with_name("tokenizer.json"), {}).model


def test_tekken_numbers_tokens_after_the_special_ones(path: Path) -> None:
    """Only the first tokens of a tekken.json are used; their ids follow those of the special tokens, which never occur in a text."""
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
    """A tekken.json is refused if its ranks are not consecutive or if its parts contradict each other."""
    written = mistral(**more)
    if len(more.get("vocab", ())) == 1:
        written["config"]["default_vocab_size"] = 26
    assert message in refusal(path, written)


@needs_shared
def test_tekken_is_the_reference_s() -> None:
    """A real tekken.json gives the same ids and special tokens as Tekkenizer of `mistral-common`."""
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
