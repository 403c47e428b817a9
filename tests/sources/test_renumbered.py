"""A folder in which a vocabulary gives other ids to the pieces of a SentencePiece model has the ids of the class that its files name."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support.naive.sentencepiece import UNKNOWN, USER_DEFINED, Piece
from support.sources.folders import same_settings, write
from support.sources.sentencepiece import model_of, sentencepiece

import fst
from fst.compile import tokenizer
from fst.compile.sources.renumbered.languages import M2M100_CODES
from fst.compile.sources.sentencepiece.model_file import CONTROL
from fst.errors import UnsupportedError, VocabularyError

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported

Json = dict[str, Any]
CONFIG = "tokenizer_config.json"
PARTS = [*"abcé.,( \n▁漢字世界ﬁ><", "  ", "ab", "</s>", "<unk>", "<pad>", "<s>", "__fr__", "__xx__", ">>fra<<", ">>x<<", ">>", "<<", "世界"]
FIRST = [Piece("<unk>", 0, UNKNOWN), Piece("<s>", 0, CONTROL), Piece("</s>", 0, CONTROL)]


def model(kind: str = "unigram", seed: int = 0, *more: Piece) -> bytes:
    """A small model."""
    draw = random.Random(seed)
    words = {"".join(draw.choices("abc.▁", k=draw.randrange(2, 4))) for _ in range(30)}
    pieces = [Piece(piece, -draw.random()) for piece in [*"abc.▁é", *("<>s_" if kind == "bpe" else ""), *sorted(words)]]
    return model_of([*FIRST, *pieces, *more], kind, replacements={"ﬁ": "ab"})


def pieces_of(data: bytes) -> list[str]:
    """The pieces of a model, without those that are in no text."""
    of = sentencepiece.SentencePieceProcessor(model_proto=data)
    return [of.id_to_piece(number) for number in range(len(FIRST), of.get_piece_size())]


def vocabulary(*tokens: str) -> Json:
    """A ``vocab.json``."""
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def marian(folder: Path, *more: str, lacks: str = "", **config: Any) -> Path:
    """Write a folder of Marian, whose two models differ. No token begins with `lacks`."""
    source, target = model(), model(seed=1)
    tokens = [token for token in (*pieces_of(source), *pieces_of(target)) if not lacks or not token.startswith(lacks)]
    random.Random(2).shuffle(tokens)
    files = {CONFIG: {"tokenizer_class": "MarianTokenizer", **config}, "vocab.json": vocabulary("</s>", "<unk>", *more, *tokens, "<pad>")}
    write(folder, files)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    return folder


def with_vocabulary(folder: Path, name: str, kind: str = "unigram", *more: str, **config: Any) -> Path:
    """Write a folder of another class."""
    data = model(kind)
    tokens = vocabulary("<s>", "<pad>", "</s>", "<unk>", *pieces_of(data), *more)
    write(folder, {CONFIG: {"tokenizer_class": name, **config}, "vocab.json": tokens})
    (folder / "sentencepiece.bpe.model").write_bytes(data)
    return folder


def texts(count: int) -> list[str]:
    """Draw texts."""
    draw = random.Random(3)
    return ["".join(draw.choices(PARTS, k=draw.randrange(15))) for _ in range(count)]


def hold(folder: Path, made: Any, *, is_target: bool = False) -> None:
    """Check that ids, decoded texts and the vocabulary equal those of AutoTokenizer."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    reference, some, table = transformers.AutoTokenizer.from_pretrained(folder), texts(250), tokenizer(made)
    found = fst.Tokenizer(table)
    table.prove()
    expected = reference(text_target=some)["input_ids"] if is_target else reference(some)["input_ids"]
    assert [row.tolist() for row in found.encode_batch(some)] == expected
    assert [table.run(text) for text in some[:60]] == [found.encode(text, add_special_tokens=False).tolist() for text in some[:60]]
    assert found.decode_batch(expected) == [reference.decode(row, skip_special_tokens=True) for row in expected]
    assert {token: found.token_to_id(token) for token in reference.get_vocab()} == reference.get_vocab()
    same_settings(found, reference)


LANGUAGES = [f"__{code}__" for code in M2M100_CODES["m2m100"]]
FOLDERS: dict[str, Any] = {
    "Marian": lambda folder: marian(folder, ">>fra<<", ">>deu<<", model_max_length=512),
    "Marian with tokens of unknown characters": lambda folder: marian(folder, "世", "世界", "漢字漢"),
    "Marian without ids for some pieces": lambda folder: marian(folder, lacks="b"),
    "Marian with added tokens": lambda folder: marian(
        folder,
        added_tokens_decoder={"900": {"content": "__xx__", "special": True}, "901": {"content": "  "}},
        additional_special_tokens=["", "ab"],
    ),
    "M2M-100": lambda folder: with_vocabulary(folder, "M2M100Tokenizer", additional_special_tokens=LANGUAGES, src_lang="fr"),
    "M2M-100 of merges": lambda folder: with_vocabulary(folder, "M2M100Tokenizer", "bpe", additional_special_tokens=LANGUAGES),
    "M2M-100 without listed languages": lambda folder: with_vocabulary(folder, "M2M100Tokenizer", language_codes="wmt21"),
    "Speech2Text": lambda folder: with_vocabulary(folder, "Speech2TextTokenizer", "unigram", "漢"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(tmp_path: Path, name: str) -> None:
    """Ids, decoded texts and the vocabulary equal those of `transformers`."""
    hold(FOLDERS[name](tmp_path), tmp_path)


def test_target(tmp_path: Path) -> None:
    """The model of Marian's target language, named as a file, gives the ids of target texts."""
    hold(marian(tmp_path, ">>fra<<", "世"), tmp_path / "target.spm", is_target=True)


def test_dictionary(tmp_path: Path) -> None:
    """In a folder with a ``dict.txt``, ids follow the lines after four special tokens, and the end token follows a text."""
    data = model()
    (tmp_path / "spm.model").write_bytes(data)
    lines = [token for token in pieces_of(data) if not token.startswith("b")] + ["世"]
    (tmp_path / "dict.txt").write_text("".join(f"{token} {place}\n" for place, token in enumerate(lines)), encoding="utf-8")
    ids, of = vocabulary("<s>", "<pad>", "</s>", "<unk>", *lines), sentencepiece.SentencePieceProcessor(model_proto=data)
    some = texts(200)
    found = fst.Tokenizer(tokenizer(tmp_path)).encode_batch(some)
    assert [row.tolist() for row in found] == [[*(ids.get(piece, 3) for piece in of.encode(text, out_type=str)), 2] for text in some]


def test_stream(tmp_path: Path) -> None:
    """A text that arrives in parts has the same ids, although a code at its start may end in a later part."""
    found = fst.Tokenizer(tokenizer(marian(tmp_path, ">>fra<<")))
    for text in [">>fra<<ab ab", ">>fr", ">>a b<< abc", "a >>fra<<", *texts(20)]:
        stream = found.stream()
        ids = list[int]()
        for char in text:
            stream.write(char)
            ids += stream.read().ids.tolist()
        assert [*ids, *stream.close().ids.tolist()] == found.encode(text).tolist()


MODEL, VOCABULARY = "source.spm", "vocab.json"
DAMAGED = {
    "no JSON": ({VOCABULARY: "{"}, "is not JSON"),
    "a list": ({VOCABULARY: "[1]"}, "expected a JSON object"),
    "an id twice": ({VOCABULARY: '{"a": 0, "<unk>": 0}'}, "tokens 'a' and '<unk>' have the id 0"),
    "an id out of range": ({VOCABULARY: '{"<unk>": 7}'}, "token '<unk>' has the id 7; expected 0 to 0"),
    "a huge id": ({VOCABULARY: '{"<unk>": 99999999999999999999}'}, "expected 0 to 0"),
    "a number that is no id": ({VOCABULARY: '{"<unk>": 0.5}'}, "has the id 0.5"),
    "a surrogate": ({VOCABULARY: '{"\\ud800": 0}'}, "is not text"),
    "no unknown token": ({VOCABULARY: '{"a": 0, "</s>": 1, "<pad>": 2}'}, ": the vocabulary lacks '<unk>'"),
    "no model": ({MODEL: ""}, "source.spm is empty|not a model"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files(tmp_path: Path, name: str) -> None:
    """A damaged file is refused, and the message names the fault."""
    files, message = DAMAGED[name]
    marian(tmp_path)
    for file, content in files.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(VocabularyError, match=message):
        tokenizer(tmp_path)


@pytest.mark.parametrize("line", ["a", "a x", " 3", "", "a 1\nb 2\na 3", "<s> 1", "a ３"])
def test_damaged_dictionaries(tmp_path: Path, line: str) -> None:
    """A line of a ``dict.txt`` that is no new token with a count is refused by its number."""
    (tmp_path / "spm.model").write_bytes(model())
    (tmp_path / "dict.txt").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(VocabularyError, match=r"line [13] of .*dict\.txt (is|repeats) "):
        tokenizer(tmp_path)


REFUSED: dict[str, tuple[Any, str]] = {
    "an empty end token": (lambda folder: marian(folder, eos_token=""), "has an empty eos_token, so decoding leaves out other tokens"),
    "a flag": (
        lambda folder: marian(folder, eos_token={"__type": "AddedToken", "content": "</s>", "lstrip": True}),
        "added token '</s>' has single_word, lstrip or rstrip",
    ),
    "arguments of the model": (lambda folder: marian(folder, sp_model_kwargs={"alpha": 1}), "asks for sp_model_kwargs"),
    "case": (lambda folder: with_vocabulary(folder, "Speech2TextTokenizer", do_upper_case=True), "asks for do_upper_case"),
    "languages": (lambda folder: with_vocabulary(folder, "M2M100Tokenizer", language_codes="x"), "asks for language_codes 'x'"),
    "a token of unknown characters": (
        lambda folder: with_vocabulary(folder, "M2M100Tokenizer", "bpe", "漢字"),
        "a table would differ for the text '漢字'",
    ),
    "a part of the languages": (
        lambda folder: with_vocabulary(folder, "M2M100Tokenizer", additional_special_tokens=["__fr__"]),
        "added token '__fr__' has the id .*, that of '__af__'",
    ),
    "a language in the vocabulary": (
        lambda folder: with_vocabulary(folder, "M2M100Tokenizer", "unigram", "__fr__"),
        "token '__fr__' has the ids .* and .*; expected one id",
    ),
    "an added token with two ids": (
        lambda folder: marian(folder, added_tokens_decoder={"7": {"content": "</s>"}}),
        "token '</s>' has the ids 0 and 7; expected one id",
    ),
    "numbers of pieces without an id": (
        lambda folder: marian(folder, lacks="b", added_tokens_decoder={"4194303": {"content": "("}}),
        "pieces have no id, and the highest id is 4,194,303; expected a sum of at most 4,194,303",
    ),
    "words": (lambda folder: with_vocabulary(folder, "M2M100Tokenizer", "word"), "a model of the kind word"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(tmp_path: Path, name: str) -> None:
    """A component that a table cannot have is refused by name."""
    made, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        tokenizer(made(tmp_path))


def test_pieces_of_users_need_ids(tmp_path: Path) -> None:
    """A user-defined piece without an id is refused."""
    marian(tmp_path)
    (tmp_path / MODEL).write_bytes(model("unigram", 0, Piece("(", 0, USER_DEFINED)))
    with pytest.raises(UnsupportedError, match=r"'\(', a user-defined piece, has no id"):
        tokenizer(tmp_path)


def test_class_is_needed(tmp_path: Path) -> None:
    """A ``vocab.json`` next to a model is refused if no file names the class; so are two models next to a ``dict.txt``."""
    (tmp_path / "a.model").write_bytes(model())
    (tmp_path / VOCABULARY).write_text(json.dumps({"a": 0}), encoding="utf-8")
    with pytest.raises(VocabularyError, match="no file names a class"):
        tokenizer(tmp_path)
    (tmp_path / "dict.txt").write_text("a 1\n", encoding="utf-8")
    (tmp_path / "b.spm").write_bytes(model())
    with pytest.raises(VocabularyError, match=r"expected one model next to 'dict\.txt', 'vocab\.json'"):
        tokenizer(tmp_path)
