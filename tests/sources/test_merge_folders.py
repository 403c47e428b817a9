"""Folders and real files of byte-level BPE give the same ids as their reference libraries, or are refused with a message that contains
the fault.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.shared_data import needs_shared
from support.sources.merges import (
    BARE,
    MERGES,
    TEXTS,
    TOKENS,
    VOCABULARIES,
    Json,
    document,
    ids_of,
    lines,
    mistral,
    model,
    source_of,
)
from support.tiers import examples, thinned
from tokenizers import ByteLevelBPETokenizer, Tokenizer

import fst
from fst.cli.main import main
from fst.compile import bpe, files, tokenizer, wordpiece
from fst.compile.machines.bpe.model import pairs
from fst.compile.sources.pretrained import byte_level_classes
from fst.compile.sources.read import read
from fst.pretokens.byte_letters import spelled
from fst.tables.header import BYTE_LEVEL


def test_folder_of_merges_is_the_reference_s(tmp_path: Path) -> None:
    """A folder with vocab.json and merges.txt gives the same ids as ByteLevelBPETokenizer, with every kind of line ending."""
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
    """A line of merges.txt that is not a merge is refused with its line number, and `tokenizers` refuses it, too."""
    (tmp_path / "vocab.json").write_text(json.dumps(model()["vocab"]), encoding="utf-8")
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    with pytest.raises(Exception, match=r"merge|Merges|Token|token"):
        ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    with pytest.raises(fst.VocabularyError) as error:
        read(tmp_path, {})
    assert message in str(error.value)


def test_lines_are_merges_without_comments() -> None:
    """In merges.txt, the lines that begin with #version are comments, and all other lines are merges."""
    assert pairs(["a b", "#versions b", "# c"]) == [("a", "b"), ("#", "c")]


def test_one_of_two_files_names_the_folder(tmp_path: Path) -> None:
    """If only a vocab.json or only a merges.txt is passed, the error explains that their folder must be compiled."""
    (tmp_path / "vocab.json").write_text(json.dumps(model()["vocab"]), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", encoding="utf-8")
    for name, other in (("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")):
        with pytest.raises(fst.VocabularyError, match=rf"compile its folder, with the {other} in it"):
            read(tmp_path / name, {})


def test_folder_with_a_class_of_wordpiece_is_refused(tmp_path: Path) -> None:
    """A tokenizer.json of BPE is refused if its folder names a class that would read it as WordPiece."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="model BPE, of which tokenizer_class BertTokenizer makes WordPiece; to compile"):
        read(tmp_path, {})


def test_folder_whose_document_counts_as_it_stands(tmp_path: Path) -> None:
    """With the class PreTrainedTokenizerFast, the tokenizer.json is compiled unchanged, with the settings and tokens from the other
    files.
    """
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
    """Check that a folder gives the same ids as the tokenizer.json that AutoTokenizer makes from it."""
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


@pytest.mark.parametrize(("name", "config"), thinned([(name, config) for name in CLASSES for config in CONFIGS], 4))
def test_folder_is_what_the_reference_makes_of_it(name: str, config: Json, tmp_path: Path) -> None:
    """Each class uses the same parts of a tokenizer.json as in `transformers`, and has the same defaults for the other parts."""
    same_folder(tmp_path, {"tokenizer.json": UNLIKE, "tokenizer_config.json": {"tokenizer_class": name, **config}})


@pytest.mark.parametrize("name", byte_level_classes.FAMILIES)
def test_folder_of_merges_and_a_class_is_what_the_reference_makes_of_it(name: str, tmp_path: Path) -> None:
    """For vocab.json and merges.txt, each class gives the same ids as in `transformers`, but special tokens around texts are refused."""
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


@pytest.mark.parametrize("kind", thinned(byte_level_classes.MODEL_TYPES, 12))
def test_type_of_a_model_stands_for_the_reference_s_class(kind: str, tmp_path: Path) -> None:
    """If config.json names a model type, the folder is compiled with the class that AutoTokenizer uses for this type."""
    same_folder(tmp_path, {"tokenizer.json": UNLIKE, "config.json": {"model_type": kind}})


def test_class_with_another_type_of_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If `transformers` is not installed, a folder is refused if `transformers` might use another class than the folder names."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    for name, content in {"tokenizer.json": UNLIKE, "config.json": {"model_type": "granite", "tokenizer_class": "GPT2Tokenizer"}}.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match=r"tokenizer_class GPT2Tokenizer with the type of model 'granite' in config\.json; to"):
        read(tmp_path, {})


READ = ("gpt2/tokenizer.json", "roberta/tokenizer.json", "gpt_neox/tokenizer.json", "mpt/tokenizer.json", "qwen3/tokenizer.json.gz")


@needs_shared
@pytest.mark.parametrize("name", thinned(READ, 10))
def test_real_document_is_the_reference_s(name: str) -> None:
    """With widely used files, tokens equal those of the reference library, and so do the ids that their merges and pre-tokenizers give."""
    content = (VOCABULARIES / name).read_bytes()
    reference = Tokenizer.from_str((gzip.decompress(content) if name.endswith(".gz") else content).decode())
    source = read(VOCABULARIES / name, {})
    assert {**source.model.names, **source.added.ids} == reference.get_vocab(with_added_tokens=True)
    assert all(source.model.names[spelled(token)] == number for token, number in source.model.vocabulary.items())
    for text in (re.sub(" +", " ", text) for text in TEXTS[:2]):  # in some of these vocabularies, two spaces are an added token
        assert ids_of(source, text) == reference.encode(text, add_special_tokens=False).ids, text


@needs_shared
@pytest.mark.parametrize("name", thinned(["gpt2", "roberta"], 4))
def test_real_merges_are_those_of_the_document(name: str, tmp_path: Path) -> None:
    """In widely used folders, vocab.json and merges.txt contain the same model as the tokenizer.json."""
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
    """A source with any value in any part is compiled, or refused with an error of this package."""
    make, (*outer, last) = place
    written = json.loads(json.dumps(make()))
    inner = written
    for name in outer:
        inner = inner[name]
    inner[last] = value
    with suppress(fst.VocabularyError, fst.UnsupportedError):
        assert source_of(tmp_path / "tokenizer.json", written).model.kind == "BPE"


def test_gzipped_file_is_what_is_in_it(tmp_path: Path) -> None:
    """A gzip file, with one or several members and with any name, is read like its content."""
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


@pytest.mark.slow
def test_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed file whose content exceeds the size limit of a source is refused, and is decompressed only up to the limit."""
    monkeypatch.setattr(files, "MAX_SOURCE_BYTES", 1 << 20)
    for data in (gzip.compress(bytes(1 << 26)), gzip.compress(bytes(1 << 15)) * 64):
        (tmp_path / "vocab.txt").write_bytes(data)
        with pytest.raises(fst.VocabularyError, match="is larger than 1 MiB once unpacked"):
            read(tmp_path / "vocab.txt", {})


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: data[:12], lambda data: data[:20] + b"\xff" * 9 + data[29:]])
def test_damaged_gzip_is_refused(damage: Callable[[bytes], bytes], path: Path) -> None:
    """A compressed file that is damaged or cut short is refused."""
    path.write_bytes(damage(gzip.compress(json.dumps(document()).encode())))
    with pytest.raises(fst.VocabularyError, match="is packed with gzip, and damaged or cut short: download it again"):
        read(path, {})


def test_functions_take_their_own_kind(path: Path, tmp_path: Path) -> None:
    """`bpe` accepts only BPE, `wordpiece` accepts only WordPiece, `tokenizer` accepts both, and each function accepts the options of the
    model.
    """
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
        tokenizer(tmp_path / "vocab.txt", uppercase=True)  # type: ignore[call-arg]
    with pytest.raises(fst.UnsupportedError, match="encoding: only a file of tiktoken's ranks needs it"):
        tokenizer(tmp_path / "vocab.txt", encoding="gpt2")
    with pytest.raises(fst.UnsupportedError, match="encoding: only a file of tiktoken's ranks needs it"):
        bpe(path, encoding="gpt2")
    with pytest.raises(fst.UnsupportedError, match="lowercase: only WordPiece has it"):
        tokenizer(path, lowercase=True)


def test_command_has_the_options_of_ranks(ranks: Path) -> None:
    """`fst compile` accepts a pattern and special tokens for a file of ranks, and reports malformed options."""

    def refusal(*arguments: str) -> str:
        return CliRunner().invoke(main, ["compile", str(ranks), "-o", str(ranks.with_name("table.npz")), *arguments]).output

    assert "contains ranks, but no pattern" in refusal()
    assert "special token '<e>' has the id 256, which is the rank of b'ab'" in refusal("--pattern", ".", "--special", "<e>=256")
    assert "special token '<=>' has the id 256" in refusal("--encoding", "gpt2", "--special", "<f>=500", "--special", "<=>=256")
    assert "'<e>' is not TOKEN=ID, such as" in refusal("--pattern", ".", "--special", "<e>")


def test_command_takes_a_folder_with_ranks(ranks: Path) -> None:
    """`fst compile` accepts a folder with a file of ranks, and never overwrites this file."""

    def refusal(output: Path) -> str:
        given = ["compile", str(ranks.parent), "-o", str(output), "--pattern", r"\w+|\W+", "--special", "<e>=400"]
        return CliRunner().invoke(main, given).output

    refusal(ranks.with_name("table.npz"))
    assert fst.Tokenizer.load(ranks.with_name("table.npz")).encode("ab<e>").tolist() == [256, 400]
    assert "own.tiktoken" in refusal(ranks)
    assert ranks.read_text("ascii") == lines()


@pytest.mark.parametrize("given", ["file", "folder"])
def test_errors_of_the_compiler_name_the_source(given: str, path: Path) -> None:
    """An error of the compiler contains the name of the source file or folder."""
    often = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFD"}] * 6}
    path.write_text(json.dumps(document(normalizer=often)), encoding="utf-8")
    source = path if given == "file" else path.parent
    for function in (bpe, tokenizer):
        with pytest.raises(fst.UnsupportedError, match=f"^{re.escape(str(source))}: .*more than 8 steps"):
            function(source)


def test_fault_of_another_file_is_named(tmp_path: Path) -> None:
    """If a folder of merges is refused for another file, the message does not blame the merges."""
    (tmp_path / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(TOKENS)}), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer", "bos_token": {"content": "a"}}')
    with pytest.raises(fst.FstError, match="stands for a special token"):
        tokenizer(tmp_path)
