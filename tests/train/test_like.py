"""`train.like` makes a vocabulary like an old one, as ``train_new_from_iterator`` of `transformers` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tiktoken
import tokenizers
from support.core.trainers import symbols_in
from support.shared_data import SHARED, needs_shared
from tiktoken.load import load_tiktoken_bpe
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

import fst
from fst import train
from fst.compile.sources.tiktoken import ENCODINGS
from fst.errors import UnsupportedError, VocabularyError
from fst.train.base_tokenizers import exported_from, parts_of
from fst.train.counting import table_for
from fst.train.pipeline import SPLITTERS
from fst.train.result import FIELDS, Trained
from fst.train.retraining import recipe_of

CORPUS = [
    "The hugs of pugs are hugs, and puns are puns; buns aren't.",
    "Thé HUGGING pug hugged 12 bunnies\n in 2024!",
    "日本語のテキスト、日本のテキスト。",
    " leading   blanks, <mask> and </s> ",
    "",
    "а также по-русски: также и также",
]
SENTENCES = [line for place in range(1, 5) for line in CORPUS[place % 3 :]]


def template(bos: str, eos: str, ids: dict[str, int]) -> Any:
    """Make a post-processor, inside a sequence, that puts two tokens around a text."""
    special = [(bos, ids[bos]), (eos, ids[eos])]
    around: Any = processors.TemplateProcessing(single=f"{bos} $A {eos}", pair=f"{bos} $A {eos} $B:1 {eos}:1", special_tokens=special)
    return around


def library() -> Any:
    """The library `transformers`; the test is skipped if it is not installed."""
    return pytest.importorskip("transformers", reason="transformers is not installed")


def of(reference: Any, **named: Any) -> Any:
    """Make a fast tokenizer of `transformers`."""
    return library().PreTrainedTokenizerFast(tokenizer_object=reference, **named)


@cache
def byte_level() -> Any:
    """Make a tokenizer like RoBERTa's, with the same flags of <mask>, and with an added token that is not special."""
    ids = {"<s>": 0, "</s>": 1, "<unk>": 2, "<mask>": 3, "a": 4, "b": 5, "ab": 6}
    reference: Any = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=[("a", "b")]))
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    reference.decoder = decoders.ByteLevel()
    roberta: Any = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), add_prefix_space=False)
    reference.post_processor = roberta
    mask = tokenizers.AddedToken("<mask>", lstrip=True, normalized=False)
    reference.add_special_tokens(["<s>", "</s>", "<unk>", mask])
    return of(reference, bos_token="<s>", eos_token="</s>", mask_token=mask, model_max_length=77)


@cache
def bert() -> Any:
    """Make a tokenizer like BERT's."""
    ids = {token: number for number, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able"])}
    reference: Any = tokenizers.Tokenizer(models.WordPiece(vocab=ids, unk_token="[UNK]"))
    reference.normalizer, reference.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    reference.decoder, reference.post_processor = decoders.WordPiece(), template("[CLS]", "[SEP]", ids)
    reference.add_special_tokens([*ids][:4])
    return of(reference, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]")


@cache
def llama() -> Any:
    """Make a tokenizer like Llama's: BPE over characters, with ▁ before the text, and byte_fallback."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a"]
    ids = {token: number for number, token in enumerate(tokens)}
    model: Any = models.BPE(vocab=ids, merges=[("▁", "a")], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    reference: Any = tokenizers.Tokenizer(model)
    reference.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    fused = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    reference.decoder, reference.post_processor = decoders.Sequence(fused), template("<s>", "</s>", ids)
    reference.add_special_tokens(["<unk>", "<s>", "</s>"])
    return of(reference, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@cache
def t5() -> Any:
    """Make a tokenizer like T5's: Unigram with Metaspace."""
    ids = {"<pad>": 0, "</s>": 1, "<unk>": 2, "▁": 3, "a": 4}
    reference: Any = tokenizers.Tokenizer(models.Unigram([(token, -float(number)) for token, number in ids.items()], unk_id=2))
    reference.pre_tokenizer, reference.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    reference.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    reference.add_special_tokens(["<pad>", "</s>", "<unk>"])
    return of(reference, unk_token="<unk>", pad_token="<pad>", eos_token="</s>")


@cache
def word_level() -> Any:
    """Make a WordLevel tokenizer."""
    reference: Any = tokenizers.Tokenizer(models.WordLevel(vocab={"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    reference.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    reference.add_special_tokens(["[UNK]"])
    return of(reference, unk_token="[UNK]")


OLD = {found.__name__: found for found in (byte_level, bert, llama, t5, word_level)}
EXACT = [byte_level, llama, word_level]  # the models that `transformers` trains without random choices


def document_of(reference: Any) -> dict[str, Any]:
    """Return the tokenizer.json of a `transformers` tokenizer, in which empty settings of the model are replaced by null."""
    document: dict[str, Any] = json.loads(reference.backend_tokenizer.to_str())
    return document


def unordered(document: dict[str, Any]) -> dict[str, Any]:
    """Return a tokenizer.json with sorted tokens, because `transformers` orders them at random."""
    model = document["model"]
    return {**document, "model": {**model, "vocab": sorted(token for token, *_ in model["vocab"])}}


@pytest.mark.parametrize("old", EXACT, ids=lambda old: old.__name__)
def test_document_is_that_of_transformers(old: Callable[[], Any]) -> None:
    """The tokenizer.json equals that of `transformers`: vocabulary, merges, special tokens, post-processor and settings."""
    reference = old().train_new_from_iterator(SENTENCES, 330)
    assert train.like(old(), SENTENCES, 330).to_json() == document_of(reference)


def test_pieces_are_those_of_transformers() -> None:
    """A Unigram vocabulary has the same pieces as in `transformers`, which assigns the order and the scores of some characters at
    random.
    """
    expected = document_of(t5().train_new_from_iterator(SENTENCES, 110))
    assert unordered(train.like(t5(), SENTENCES, 110).to_json()) == unordered(expected)


def test_base_vocabulary_is_read_once(tmp_path: Path) -> None:
    """Once the parts of a base vocabulary are read, its file is not needed."""
    path, old = tmp_path / "tokenizer.json", tokenizers.Tokenizer(models.WordPiece(vocab={"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    old.save(str(path))
    expected, stated = train.like(path, CORPUS, 200), parts_of(path)
    path.unlink()
    assert train.like(stated, CORPUS, 200).to_json() == expected.to_json()


def test_splitters_share_a_table() -> None:
    """The table of a splitter does not depend on added tokens that the splitter's pattern does not contain."""
    assert table_for(replace(SPLITTERS["gpt2"], added=["<end>"])) is table_for(SPLITTERS["gpt2"])


def in_order(old: Any, texts: list[str], expected: dict[str, Any]) -> Trained:
    """Train a WordPiece vocabulary like an old one, with the characters with ## in the order that `transformers` chose at random."""
    tokens = expected["model"]["vocab"]
    recipe = recipe_of(*exported_from(old))
    with symbols_in([token for token in tokens if token.startswith("##") and len(token) == 3]):
        return recipe.completed(train.wordpiece(texts, splitter=recipe.pipeline, vocab_size=len(tokens), **recipe.options))


def test_wordpiece_is_that_of_transformers() -> None:
    """A WordPiece vocabulary equals that of `transformers`, given the same random order of the characters with ##."""
    expected = document_of(bert().train_new_from_iterator(SENTENCES, 120))
    assert in_order(bert(), SENTENCES, expected).to_json() == expected
    assert len(train.like(bert(), SENTENCES, 120).vocabulary) == 120


@pytest.mark.parametrize("kind", OLD)
def test_all_forms_of_a_base_tokenizer_agree(kind: str, tmp_path: Path) -> None:
    """A `transformers` tokenizer, its folder, its tokenizer.json, its table and its stand-in give the same settings for a new
    vocabulary.
    """
    live = OLD[kind]()
    live.save_pretrained(tmp_path)
    table = fst.compile.tokenizer(live)
    table.save(tmp_path / "a.npz")
    first = recipe_of(*exported_from(live))
    tok = fst.Tokenizer(table)
    for old in [live.backend_tokenizer, tmp_path, str(tmp_path / "tokenizer.json"), table, tok, fst.hf(tok), tmp_path / "a.npz"]:
        other = recipe_of(*exported_from(old))
        assert (other.kind, other.size, other.options, other.others, other.flags) == (
            *(first.kind, first.size, first.options, first.others, first.flags),
        )
        assert other.pipeline.digest == first.pipeline.digest
        assert {**FIELDS[other.kind], **other.model} == {**FIELDS[first.kind], **first.model}


def test_tables_and_trained_vocabularies_are_old_ones() -> None:
    """A table of a tokenizer, or a vocabulary that was trained like it, gives the same new vocabulary as the tokenizer."""
    first = train.like(byte_level(), SENTENCES, 330)
    for old in [fst.compile.tokenizer(byte_level()), first]:
        other = train.like(old, SENTENCES, 330)
        assert (list(other.vocabulary.items()), [*other.merges]) == (list(first.vocabulary.items()), [*first.merges])
        ids = [row.tolist() for row in other.tokenizer().encode_batch(CORPUS)]
        assert ids == [row.tolist() for row in first.tokenizer().encode_batch(CORPUS)]


@pytest.mark.slow
def test_encodings_of_tiktoken_are_old_ones(tmp_path: Path) -> None:
    """For an encoding of `tiktoken`, the splitter with the same pattern is used, and the encoding is refused if there is no such
    splitter.
    """
    options: dict[str, Any] = {"vocab_size": 300, "special_tokens": ["<|end|>"]}
    expected = train.bpe(SENTENCES, splitter="cl100k", **options)
    expected.save(tmp_path / "a.tiktoken")
    ranks = load_tiktoken_bpe(str(tmp_path / "a.tiktoken"))
    for pattern in (str(ENCODINGS["cl100k_base"].pattern), r"\w+|\W+"):
        old = tiktoken.Encoding("a", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 0})
        if pattern != r"\w+|\W+":
            assert train.like(old, SENTENCES, 300).to_json() == expected.to_json()
        else:
            with pytest.raises(UnsupportedError, match="of tiktoken has no known counterpart"):
                train.like(old, SENTENCES, 300)


@pytest.mark.slow
def test_models_of_sentencepiece_are_old_ones(tmp_path: Path) -> None:
    """The new vocabulary has the normalizer and special tokens of the old .model, and `sentencepiece` gives the same ids with the new
    .model as the new table.
    """
    texts = [text for text in SENTENCES if "</s>" not in text]
    options: dict[str, Any] = {"special_tokens": ["<unk>", "<s>", "</s>"], "unk_token": "<unk>", "fuse_unk": True}
    train.bpe(texts, vocab_size=100, splitter="sentencepiece", **options).save(tmp_path / "a.model")
    trained = train.like(tmp_path / "a.model", texts, 120)
    assert [*trained.vocabulary][:3] == ["<unk>", "<s>", "</s>"]
    trained.save(tmp_path / "b.model")
    reference: Any = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "b.model"))
    tok = trained.tokenizer()
    for text in [*texts, "ﬁ  ", "  x"]:
        assert reference.encode(text) == tok.encode(text).tolist(), text


def test_settings_are_kept() -> None:
    """The new table has the same names of special tokens, maximum length and sides of padding and truncation as the old table."""
    settings = train.like(fst.compile.tokenizer(byte_level()), SENTENCES, 330).tokenizer()._metadata.settings
    assert settings.model_max_length == 77
    assert settings.named_tokens == {"bos_token": "<s>", "eos_token": "</s>", "mask_token": "<mask>"}


def test_special_tokens_are_renamed_and_added() -> None:
    """Special tokens can be renamed, and new special tokens follow the old ones with their flags, as in `transformers`."""
    new = ["[NEW]", tokenizers.AddedToken("[STRIPS]", rstrip=True, normalized=False)]
    names = {"[SEP]": "[END]", "[UNK]": "[WHAT]"}
    reference = bert().train_new_from_iterator(SENTENCES, 120, new_special_tokens=new, special_tokens_map=names)
    trained = train.like(bert(), SENTENCES, 120, new_special_tokens=new, special_tokens_map=names)
    expected, document = document_of(reference), trained.to_json()
    for part in ("added_tokens", "post_processor"):
        assert document[part] == expected[part]
    assert document["model"]["unk_token"] == "[WHAT]"
    assert [*trained.vocabulary][:6] == ["[PAD]", "[WHAT]", "[CLS]", "[END]", "[NEW]", "[STRIPS]"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splitter": "gpt2"}, "splitter is given; expected none, because the base tokenizer splits the texts"),
        ({"normalizer": "nfc"}, "normalizer is given; expected none"),
        ({"special_tokens_map": {"[EOS]": "x"}}, r"special_tokens_map has the name '\[EOS\]'; expected names of added tokens: '\[PAD\]', "),
        ({"special_tokens_map": 3}, "special_tokens_map is 3; expected a mapping of old names to new ones"),
        ({"new_special_tokens": 3}, "new_special_tokens is 3; expected a list"),
    ],
)
def test_arguments_without_meaning_are_errors(options: Any, message: str) -> None:
    """An argument that contradicts the base tokenizer, or has no meaning for it, is refused, and the message contains its name."""
    with pytest.raises(fst.FstError, match=message):
        train.like(bert(), SENTENCES, 120, **options)


def test_nested_post_processors_get_new_ids() -> None:
    """In a post-processor inside a sequence, the ids are replaced by those of the new vocabulary."""
    live = json.loads(byte_level().backend_tokenizer.to_str())
    live["post_processor"] = {"type": "Sequence", "processors": [json.loads(llama().backend_tokenizer.to_str())["post_processor"]]}
    old = tokenizers.Tokenizer.from_str(json.dumps(live))
    trained = train.like(old, SENTENCES, 330, new_special_tokens=["<new>"], special_tokens_map={"</s>": "<end>"})
    (inner,) = trained.to_json()["post_processor"]["processors"]
    assert inner["special_tokens"]["</s>"] == {"id": "</s>", "ids": [trained.vocabulary["<end>"]], "tokens": ["<end>"]}


def test_post_processors_need_special_tokens() -> None:
    """A post-processor is refused if it contains a token that is not special in the base tokenizer, and the message contains the token."""
    live = json.loads(bert().backend_tokenizer.to_str())
    live["added_tokens"] = [token for token in live["added_tokens"] if token["content"] != "[SEP]"]
    with pytest.raises(VocabularyError, match=r"'\[SEP\]', which is not a token; make it a special token"):
        train.like(tokenizers.Tokenizer.from_str(json.dumps(live)), SENTENCES, 120)


def test_single_new_special_token_is_refused() -> None:
    """A `new_special_tokens` that is a str instead of a list is refused."""
    with pytest.raises(VocabularyError, match="new_special_tokens is '<new>'; expected a list"):
        train.like(bert(), SENTENCES, 120, new_special_tokens="<new>")


def test_other_added_tokens_follow_the_vocabulary(tmp_path: Path) -> None:
    """Added tokens that are not special remain added tokens, and follow the vocabulary, as in `transformers`."""
    live = of(byte_level().backend_tokenizer.__class__.from_str(byte_level().backend_tokenizer.to_str()), bos_token="<s>")
    live.add_tokens(["<tool>", "zz"])
    live.save_pretrained(tmp_path)
    reference = library().AutoTokenizer.from_pretrained(tmp_path).train_new_from_iterator(SENTENCES, 330)
    trained = train.like(tmp_path, SENTENCES, 330)
    assert trained.vocabulary == dict(sorted(reference.get_vocab().items(), key=lambda token: token[1]))
    assert trained.tokenizer().encode("a<tool>").tolist() == reference.encode("a<tool>")


def test_size_is_that_of_the_base_vocabulary() -> None:
    """If `vocab_size` is not passed, the new vocabulary has the same size as the old one."""
    old = train.like(byte_level(), SENTENCES, 300)
    assert len(train.like(old, SENTENCES).vocabulary) == 300


def test_options_reach_the_trainer() -> None:
    """Options that are passed to the trainer replace the settings of the base tokenizer."""
    trained = train.like(llama(), SENTENCES, 400, byte_fallback=True, min_frequency=100)
    assert trained.stopped == "min_frequency"
    assert trained.vocabulary["<0xFF>"] == 258
    assert trained.tokenizer().decode(trained.tokenizer().encode("ξ")) == "ξ"


def test_texts_may_be_counted_words() -> None:
    """Words that were counted with the base tokenizer give the same vocabulary as their texts."""
    words = train.words(SENTENCES, splitter=byte_level())
    assert train.like(byte_level(), words, 330).vocabulary == train.like(byte_level(), SENTENCES, 330).vocabulary


@pytest.mark.parametrize("kind", ["byte_level", "bert"])
def test_drop_in_trains(kind: str) -> None:
    """`train_new_from_iterator` of `fst.hf` gives the same tokens, named tokens and model inputs as in `transformers`."""
    live = OLD[kind]()
    batches = (SENTENCES[place : place + 3] for place in range(0, len(SENTENCES), 3))
    names, new = {"<s>": "<begin>", "[CLS]": "[BEGIN]"}, ["[NEW]"]
    reference = live.train_new_from_iterator(SENTENCES, 330, new_special_tokens=new, special_tokens_map=names)
    other = fst.hf(live).train_new_from_iterator(
        batches, 330, length=9, new_special_tokens=new, special_tokens_map=names, show_progress=False
    )
    assert len(other) == len(reference)
    assert other.special_tokens_map == reference.special_tokens_map
    assert other.extra_special_tokens == reference.extra_special_tokens
    assert other.model_max_length == reference.model_max_length
    if kind == "byte_level":  # `transformers` orders the characters of WordPiece at random
        assert other.get_vocab() == reference.get_vocab()
        assert other(CORPUS)["input_ids"] == reference(CORPUS)["input_ids"]


@cache
def sample() -> list[str]:
    """Return lines of texts in several scripts."""
    names = "wikitext2_test.txt", "docs_zh.md", "docs_hi.md", "docs_ar.md", "code_python.txt"
    lines = [line for name in names for line in (SHARED / "corpora" / name).read_text("utf-8").splitlines()[:300]]
    return [line.replace("<unk>", "") for line in lines]  # without this change, merges would make the unknown token <unk>


REAL = ["vocab_bpe/gpt2", "vocab_bpe/roberta", "vocab_bpe/qwen3", "vocab_bpe/mistral01", "vocab/bert-base-cased"]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_vocabularies_are_those_of_transformers(name: str) -> None:
    """For well-known models, tokens and ids equal those of `transformers`, given the same random order of the characters with ##."""
    old = library().AutoTokenizer.from_pretrained(SHARED / name)
    reference = old.train_new_from_iterator(sample(), 4000)
    trained = in_order(old, sample(), document_of(reference)) if name.startswith("vocab/") else train.like(old, sample(), 4000)
    assert trained.vocabulary == reference.get_vocab()
    assert [row.tolist() for row in trained.tokenizer().encode_batch(sample())] == reference(sample())["input_ids"]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5", "albert"])
def test_real_pieces_are_those_of_transformers(name: str) -> None:
    """For well-known Unigram models, the tokenizer.json equals that of `transformers`, except for the order and the scores of pieces."""
    old = library().AutoTokenizer.from_pretrained(SHARED / "vocab_unigram" / name)
    expected = document_of(old.train_new_from_iterator(sample(), 4000))
    assert unordered(train.like(old, sample(), 4000).to_json()) == unordered(expected)
