"""Folders of codes of fastBPE and subword-nmt: ids and decoded texts equal those of the references, stored in `codes_answers.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.commands import call
from support.sources.codes import ANSWERS, COUNTED, FOLDERS, PLAIN, SPLIT, TEXTS, WITH_COUNTS, WITHOUT, configured, ids_of, subwords
from support.sources.folders import write
from support.tiers import examples

import fst
from fst.compile import bpe, wordpiece
from fst.compile.sources.codes.source import model_of, with_separator
from fst.machines.bpe.affixes import Affixes

CASES: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))


def table(folder: Path, name: str) -> Any:
    """The table of a folder; Moses splits the texts of some."""
    return bpe(write(folder, FOLDERS[name]), pre_tokenizer="whitespace" if name in SPLIT else None)


@pytest.mark.parametrize("name", CASES)
def test_answers(name: str, tmp_path: Path) -> None:
    """The ids of each kind of folder, and the decoded texts of all classes whose decoder is no Moses, equal those of the reference."""
    made = table(tmp_path, name)
    tok = fst.Tokenizer(made)
    for text, ids, *decoded in CASES[name]:
        assert tok.encode(text, add_special_tokens=name not in PLAIN).tolist() == ids, text
        assert [tok.decode(ids, skip_special_tokens=False)] * len(decoded) == decoded, text
        assert made.run(text) == tok.encode(text, add_special_tokens=False).tolist(), text


@pytest.mark.parametrize("name", [*(name for name in CASES if name not in (*PLAIN, *SPLIT))])
def test_live_reference(name: str, tmp_path: Path) -> None:
    """Ids, also of pairs, and names and roles of tokens equal those of `transformers`, before and after tokens are added."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    own = fst.hf(write(tmp_path, FOLDERS[name]))
    reference = getattr(transformers, FOLDERS[name]["tokenizer_config.json"]["tokenizer_class"]).from_pretrained(tmp_path)
    for more in ([], ["new", "<x>", "lower☃"]):
        own.add_tokens(more)
        reference.add_tokens(more)
        for text in TEXTS:
            assert own(text)["input_ids"] == reference(text)["input_ids"], text
        pair = own("low", "new er", return_token_type_ids=True)
        assert dict(pair) == dict(reference("low", "new er", return_token_type_ids=True))
        assert own.get_vocab() == reference.get_vocab()
    assert own.special_tokens_map == reference.special_tokens_map


@pytest.mark.parametrize("name", ["phobert", "ctrl"])
def test_numbered_tokens(name: str, tmp_path: Path) -> None:
    """An added token with a number has this id, also after a gap, and is decoded even if its flag is special, as in `transformers`."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    numbered = {"500": {"content": "<new>", "special": True}, "501": {"content": "<x>"}}
    files = {**FOLDERS[name], **configured({"phobert": "Phobert", "ctrl": "CTRL"}[name], added_tokens_decoder=numbered)}
    tok = fst.Tokenizer(bpe(write(tmp_path, files)))
    reference = getattr(transformers, files["tokenizer_config.json"]["tokenizer_class"]).from_pretrained(tmp_path)
    for text in ("low <new> the", "<new><x>", "<x> low"):
        ids = reference(text)["input_ids"]
        assert tok.encode(text).tolist() == ids
        assert tok.decode(ids) == reference.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("name", CASES)
def test_spans(name: str, tmp_path: Path) -> None:
    """The span of a token contains its name without separator or suffix, and the spans of unknown tokens lie between these."""
    tok = fst.Tokenizer(table(tmp_path, name))
    for text in TEXTS:
        batch = tok.encode_batch([text], offsets=True, add_special_tokens=False)
        spans = [] if batch.offsets is None else batch.offsets.tolist()
        for token, (begin, end) in zip(tok.tokenize(text), spans, strict=True):
            body = token.removesuffix("</w>") if name in SPLIT else token
            assert text[begin:end] in (body, body.removesuffix("@@")) or (token == "<unk>" and begin < end)
        assert [begin for begin, _ in spans] == sorted(begin for begin, _ in spans)


def learned(choices: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """A list of merges in which each part is made before it is used."""
    inner, last, found = ["a", "b", "é"], ["a</w>", "b</w>", "é</w>"], dict[tuple[str, str], str]()
    for left, right in choices:
        pool = [*inner, *last]
        pair = inner[left % len(inner)], pool[right % len(pool)]
        made = "".join(pair)
        if made not in (*inner, *last, *found.values()):
            (last if made.endswith("</w>") else inner).append(made)
            found[pair] = made
    return [*found]


@given(
    choices=some.lists(some.tuples(some.integers(0, 30), some.integers(0, 30)), min_size=1, max_size=12),
    listed=some.sets(some.integers(0, 40)),
    words=some.lists(some.text("abé@☃", min_size=1, max_size=9), max_size=6),
)
@examples(60)
def test_merges_and_names(
    choices: list[tuple[int, int]], listed: set[int], words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With any merges and any vocabulary, ids are those of the definition: all pairs of the lowest rank, then the name of each part."""
    merges = learned(choices)
    names = [name for word in ["ab", *map("".join, merges)] for name in (word.removesuffix("</w>"), f"{word}@@")]
    tokens = [name for place, name in enumerate(dict.fromkeys([*"abé@☃", *names])) if place not in listed]
    folder = write(
        tmp_path_factory.mktemp("codes"),
        {
            "bpe.codes": "".join(f"{left} {right} 1\n" for left, right in merges) or "a b 1\n",
            "dict.txt": "".join(f"{token} 1\n" for token in tokens),
        },
    )
    ids = {token: 4 + number for number, token in enumerate(tokens)}
    expected = [number for word in words for number in ids_of(word, merges, ids, 3)]
    made = bpe(folder)
    assert made.run(" ".join(words)) == expected
    assert fst.Tokenizer(made).encode(" ".join(words), add_special_tokens=False).tolist() == expected


def test_subwords_of_a_model() -> None:
    """Several subwords may become one id: those without a name, and those with the same name at different places."""
    names = {"<unk>": 0, "a@@": 1, "a@@b": 2}
    model = model_of([("a", "@"), ("a@", "@</w>")], names, "<unk>", with_separator)
    ids = dict(zip(model.vocabulary, model.subword_ids, strict=True))
    assert ids == {b"a": 1, b"@": 0, b"a@": 0, b"@</w>": 0, b"a@@</w>": 1} | {key: ids[key] for key in ids if ids[key] == 0}
    assert model.affixes == Affixes(suffix=b"</w>")


def test_definition() -> None:
    """The slow definition merges pairs of equal rank from left to right, and leaves the suffix at the last part."""
    assert subwords("aaa", [("a", "a")]) == ["aa", "a</w>"]
    assert subwords("aab", [("a", "b</w>"), ("a", "ab</w>")]) == ["aab</w>"]


def test_dropout_and_stored_table(tmp_path: Path) -> None:
    """A stored table has the same ids, also with dropout, by kernels and by the slow walk."""
    made = table(tmp_path, "phobert")
    made.save(tmp_path / "table.npz")
    loaded = fst.load(tmp_path / "table.npz")
    by = fst.Dropout(0.4, seed=3)
    for tok in (fst.Tokenizer(made), loaded):
        batch = tok.encode_batch(list(TEXTS), randomness=by, add_special_tokens=False)
        assert [ids.tolist() for ids in batch] == [made.run_dropping(text, by, row) for row, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("phobert", {"bpe.codes": WITH_COUNTS[:-1]}, r"the last line of .*bpe\.codes has no end"),
        ("phobert", {"bpe.codes": "\n"}, r"line 1 of .*bpe\.codes is ''; expected the two parts of a merge"),
        ("phobert", {"bpe.codes": "\u00a0\n"}, r"bpe\.codes contains no merges"),
        ("phobert", {"vocab.txt": COUNTED + "the 3\n"}, r"repeats the token 'the'; expected each token once"),
        ("phobert", {"vocab.txt": "the\n"}, r"line 1 of .*vocab\.txt is 'the'; expected a token, a space and a count"),
        ("phobert", {"vocab.txt": "the x\n"}, r"is 'the x'; expected a token, a space and a count"),
        ("ctrl", {"vocab.json": [1]}, r"vocab\.json is not a JSON object that maps tokens to ids"),
        ("ctrl", {"vocab.json": {"a": 0}}, r"unk_token is '<unk>'; expected a token of vocab\.json"),
        ("ctrl", {"vocab.json": {"a": 0, "<unk>": 0}}, r"'a' and '<unk>' have one id"),
        ("ctrl", {"merges.txt": "#version: 0.2\na b c\n"}, r"line 2 of .*merges\.txt is 'a b c'"),
        ("fastbpe", {"bpe.codes": "a b 1 2\n"}, r"line 1 of .* is 'a b 1 2'"),
        ("subword-nmt", {"bpe.codes": "#version: 0.2\na  b\n"}, r"line 2 of .* is 'a  b'"),
    ],
)
def test_damaged_files(name: str, files: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A damaged file is refused with its line and what is wrong."""
    with pytest.raises(fst.VocabularyError, match=message):
        bpe(write(tmp_path, {**FOLDERS[name], **files}))


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("bertweet", configured("Bertweet", normalization=True), "'@me http://a.b' becomes '@USER HTTPURL'"),
        ("xlm", {}, "Python code of its class normalizes texts and splits words as Moses does: 'Don’t, José!'"),
        ("flaubert", {}, 'splits words as Moses does: "L\'été!"'),
        ("biogpt", {}, "splits words as Moses does: 'a p-value'"),
        ("xlm", configured("FSMT"), "tokenizer_class FSMTTokenizer encodes and decodes with two vocabularies"),
        ("subword-nmt", {"bpe.codes": "a b\n"}, "as version 0.1 of subword-nmt, in which </w> is a symbol of its own"),
        ("subword-nmt", {"bpe.codes": "#version: 0.1\na b\n"}, "has the version '0.1'"),
        ("phobert", {"bpe.codes": "a </w> 2\n"}, "has a merge of </w> alone"),
        ("phobert", {"bpe.codes": "ab c 9\na b 3\n"}, "merge 2 of bpe.codes, 'a' and 'b', comes after merge 1, which needs 'ab'"),
        ("ctrl", configured("CTRL", added_tokens_decoder={"42": {"content": "<x>", "lstrip": True}}), "added token '<x>' has 'lstrip'"),
    ],
)
def test_refused(name: str, files: dict[str, Any], message: str, tmp_path: Path) -> None:
    """What no table does is refused by name, with a text that differs."""
    with pytest.raises(fst.UnsupportedError, match=message):
        bpe(write(tmp_path, {**FOLDERS[name], **files}))


def test_options_and_missing_files(tmp_path: Path) -> None:
    """Options that do not fit, kinds that do not fit and missing files are refused."""
    folder = write(tmp_path, FOLDERS["phobert"])
    with pytest.raises(fst.UnsupportedError, match="pre_tokenizer is 'whitespace'; expected none, because the folder defines it"):
        bpe(folder, pre_tokenizer="whitespace")
    with pytest.raises(fst.UnsupportedError, match="pre_tokenizer is 'bert'; expected 'whitespace'"):
        bpe(folder, pre_tokenizer="bert")
    with pytest.raises(fst.UnsupportedError, match="model BPE"):
        wordpiece(folder)
    (folder / "vocab.txt").unlink()
    with pytest.raises(fst.VocabularyError, match=r"has no vocab\.txt; expected the codes and the vocabulary"):
        bpe(folder)
    (write(tmp_path, FOLDERS["fastbpe"]) / "dict.txt").unlink()
    with pytest.raises(fst.VocabularyError, match=r"has no vocab\.txt"):
        bpe(tmp_path)


def test_explanation(tmp_path: Path) -> None:
    """`fst explain` shows each merge by its subwords, and then the names of the tokens."""
    table(tmp_path / "folder", "phobert").save(tmp_path / "table.npz")
    shown = call("explain", tmp_path / "table.npz", "newer").stdout.splitlines()
    assert shown[0] == "pre-token newer"
    assert [line.split()[2:] for line in shown[1:-1]] == [["e", "r</w>"], ["n", "e"], ["ne", "w"]]
    assert shown[-1] == "  tokens new@@ 13 er 9"


def test_command_and_types_of_models(tmp_path: Path) -> None:
    """`fst compile` has the option for texts that are split, and the type of a model in config.json names a class."""
    files = {name: content for name, content in FOLDERS["xlm"].items() if name != "tokenizer_config.json"}
    folder = write(tmp_path / "folder", {**files, "config.json": {"model_type": "xlm"}})
    call("compile", folder, "-o", tmp_path / "table.npz", "--pre-tokenizer", "whitespace")
    expected = table(tmp_path / "other", "xlm").run("the lower")
    assert fst.load(tmp_path / "table.npz").encode("the lower", add_special_tokens=False).tolist() == expected


def test_stand_ins_without_a_document(tmp_path: Path) -> None:
    """Other libraries would give other ids for a tokenizer.json, so there is none, and decoding as a stream is refused."""
    folder = write(tmp_path, FOLDERS["phobert"])
    with pytest.raises(fst.UnsupportedError, match=r"a table of codes has no tokenizer\.json"):
        fst.tokenizers(folder).to_str()
    with pytest.raises(fst.UnsupportedError, match="decode_stream"):
        fst.Tokenizer(bpe(folder)).decode_stream()


def test_training_like_a_folder(tmp_path: Path) -> None:
    """A folder of codes is not read as WordPiece for training, although its vocabulary is a `vocab.txt`."""
    with pytest.raises(fst.UnsupportedError, match=r"a table of codes has no tokenizer\.json"):
        fst.train.like(write(tmp_path, FOLDERS["subword-nmt"]), ["the lower"], 30)


def test_white_space_in_subwords(tmp_path: Path) -> None:
    """Lines that other white space divides into more parts are ignored, as by the reference; the versions of both formats are read."""
    odd = f"a\u00a0b c 3\n{WITH_COUNTS}".replace("\n", "\r\n")
    made = bpe(write(tmp_path, {**FOLDERS["phobert"], "bpe.codes": odd}))
    assert [made.run(text) for text in TEXTS] == [bpe(write(tmp_path, FOLDERS["phobert"])).run(text) for text in TEXTS]
    newer = WITHOUT.replace("0.2", "0.2.0", 1)
    assert bpe(write(tmp_path, {**FOLDERS["subword-nmt"], "bpe.codes": newer})).run("the lower") == [4, 8]
