"""Stand-ins for tokenizers of particular classes of `transformers` do what these classes do beyond their tokenizer.json, or refuse it."""

from __future__ import annotations

import copy
import json
import pickle
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.compat.classes import CLASSES, folder_of
from support.compat.transformers import TEXTS, Two, assert_same, library
from support.tiers import thinned

import fst
from fst.compile import tokenizer as compiled
from fst.tables.header import TokenizerClass
from fst.tables.live import BASE

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported
ROUNDS = 2  # rounds of random settings and calls for each class
# Attributes that `transformers` saves only if they were arguments, and that the stand-in always saves.
PLAIN = ("padding_side", "truncation_side", "model_max_length", "model_input_names", "clean_up_tokenization_spaces")
WORDS = ["un", "able", "naïve", "a<s>", "2 0", "Berlin"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that contains a folder for each class."""
    library("transformers")
    return tmp_path_factory.mktemp("classes")


@cache
def table_of(name: str, folders: Path) -> Any:
    """The tokenizer of a class, compiled by the package."""
    return fst.Tokenizer(compiled(folder_of(name, folders)))


def two_of(name: str, folders: Path, **settings: Any) -> Two:
    """A tokenizer of a class, and the stand-in for its table."""
    own = library("transformers").AutoTokenizer.from_pretrained(folder_of(name, folders), **settings)
    return Two(own, fst.hf(table_of(name, folders), **settings))


def outcome(ask: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call, or "refused" if it raises an error."""
    try:
        return ask(*arguments)
    except fst.UnsupportedError:
        return "refused by name"
    except Exception as error:  # `transformers` raises errors of any kind
        return "refused", f"{type(error).__name__}: {error}"[:0]


def agree(two: Two, ask: Callable[..., Any], *arguments: Any) -> Any:
    """Check that a call has the same outcome with both tokenizers, unless the stand-in refuses it by name."""
    own, other = outcome(ask, two.own, *arguments), outcome(ask, two.other, *arguments)
    if not isinstance(other, str) or other != "refused by name":
        assert_same(own, other)
    return other


def assignments(chance: random.Random, two: Two) -> dict[str, Any]:
    """Random values for attributes that may be set."""
    tokens = [*two.own.added_tokens_encoder]
    drawn: dict[str, Any] = {
        "padding_side": chance.choice(["left", "right"]),
        "truncation_side": chance.choice(["left", "right"]),
        "model_max_length": chance.choice([9, 30]),
        "pad_token": chance.choice([None, *tokens]),
        "eos_token": chance.choice(tokens),
        "bos_token": chance.choice(tokens),
        "add_bos_token": chance.random() < 0.5,
        "add_eos_token": chance.random() < 0.5,
        "model_input_names": chance.choice([["input_ids"], ["input_ids", "attention_mask", "token_type_ids"]]),
        "clean_up_tokenization_spaces": chance.random() < 0.5,
    }
    if hasattr(two.own, "src_lang"):
        languages = [token for token in tokens if "_" in token]
        drawn |= {"src_lang": chance.choice(languages), "tgt_lang": chance.choice(languages)}
    return {name: drawn[name] for name in chance.sample([*drawn], chance.randrange(len(drawn)))}


def arguments(chance: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Random arguments of a call."""
    texts = chance.sample(TEXTS, chance.randint(1, len(TEXTS)))
    text: Any = chance.choice([texts[0], texts, [[word] for word in WORDS], WORDS])
    drawn: dict[str, Any] = {
        "padding": chance.choice([False, True, "max_length"]),
        "truncation": chance.choice([False, True, "only_first", "longest_first"]),
        "max_length": chance.choice([None, 12, 25]),
        "pad_to_multiple_of": chance.choice([None, 8]),
        "add_special_tokens": chance.random() < 0.7,
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_token_type_ids": chance.choice([None, True, False]),
        "return_overflowing_tokens": chance.random() < 0.3,
        "return_length": True,
        "padding_side": chance.choice([None, "left"]),
        "text_target": texts[0] if isinstance(text, str) else texts,
    }
    named = {name: drawn[name] for name in chance.sample([*drawn], chance.randrange(6))}
    if isinstance(text, list) and isinstance(text[0], list):
        return (text,), {**named, "is_split_into_words": True}
    second = texts[-1] if isinstance(text, str) else text[::-1]
    return chance.choice([(text,), (text, second)]), named


def saved(tokenizer: Any, path: Path) -> Any:
    """Save a tokenizer, and load it with `transformers`."""
    tokenizer.save_pretrained(path)
    return library("transformers").AutoTokenizer.from_pretrained(path)


def called(two: Two, chance: random.Random) -> None:
    """Check that a few random calls agree."""
    for _ in range(6):
        texts, named = arguments(chance)
        agree(two, lambda tokenizer, texts, named: tokenizer(*texts, **named), texts, named)
    rows = two.own(TEXTS)["input_ids"]
    for skips in (False, True):
        agree(two, lambda tokenizer, skips: [tokenizer.decode(row, skip_special_tokens=skips) for row in rows], skips)
    agree(two, lambda tokenizer: [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)])
    agree(two, lambda tokenizer: (tokenizer.special_tokens_map, tokenizer.all_special_ids, len(tokenizer)))


@pytest.mark.parametrize("name", thinned(CLASSES, 24))
def test_random_settings_and_calls(name: str, folders: Path, tmp_path: Path) -> None:
    """After any assignments, calls give the results of the class, and so do copies and the folders that both tokenizers save."""
    for number in range(ROUNDS):
        chance, two = random.Random(f"{name} {number}"), two_of(name, folders)
        called(two, chance)
        for attribute, value in assignments(chance, two).items():
            agree(two, lambda tokenizer, attribute, value: setattr(tokenizer, attribute, value), attribute, value)
            assert_same(*(str(getattr(tokenizer, attribute)) for tokenizer in two))
        called(two, chance)
        called(Two(two.own, pickle.loads(pickle.dumps(two.other))), chance)
        again = Two(two.own, saved(two.other, tmp_path / f"{number} other"))
        if type(again.other).__name__ != BASE:  # the class itself reads and sets some of these settings
            two.own.init_kwargs.update({attribute: getattr(two.own, attribute) for attribute in PLAIN})
            again = Two(saved(two.own, tmp_path / f"{number} own"), again.other)
        called(again, chance)


# Members of particular classes


LANGUAGES = {"MBart": ("de_DE", "fr_XX"), "MBart50": ("de_DE", "fr_XX"), "Nllb": ("deu_Latn", "fra_Latn")}


@pytest.mark.parametrize("name", thinned(LANGUAGES, 4))
def test_languages(name: str, folders: Path) -> None:
    """A source language that is assigned or passed to `fst.hf` changes the ids of texts, and a target language the ids of labels."""
    source, target = LANGUAGES[name]
    two, first = two_of(name, folders), two_of(name, folders, src_lang=source, tgt_lang=target)
    plain = two.other(TEXTS)["input_ids"]
    two.set(src_lang=source, tgt_lang=target)
    for each in (two, first):
        found = each.same(lambda tokenizer: tokenizer(TEXTS, TEXTS, text_target=TEXTS, padding=True, return_offsets_mapping=True))
        assert found["labels"] != found["input_ids"]
        each.same(lambda tokenizer: tokenizer._build_translation_inputs(TEXTS, None, source, target))
        each.same(lambda tokenizer: (tokenizer.src_lang, tokenizer.tgt_lang, tokenizer.prefix_tokens, tokenizer.suffix_tokens))
        assert each.other(TEXTS)["input_ids"] != plain
    copied = Two(two.own, copy.deepcopy(two.other))
    copied.other.src_lang = target
    assert copied.other(TEXTS)["input_ids"] != two.other(TEXTS)["input_ids"]
    two.same(lambda tokenizer: tokenizer(TEXTS))


def test_languages_share_their_parts(folders: Path) -> None:
    """Another language changes only the special ids, so the tokenizers of all languages share one runner."""
    found = fst.hf(table_of("MBart", folders))
    runner = found.fst._ids_runner
    found.src_lang = "de_DE"
    assert found.fst._ids_runner is runner


@pytest.mark.parametrize("name", ["GPT2", "Llama"])
def test_ends_of_texts(name: str, folders: Path) -> None:
    """`add_bos_token` and `add_eos_token` add tokens around texts, whether they are assigned or passed to `fst.hf`."""
    two, first = two_of(name, folders), two_of(name, folders, add_bos_token=True, add_eos_token=True)
    ask = lambda tokenizer: tokenizer(TEXTS, TEXTS[::-1], return_offsets_mapping=True)  # noqa: E731
    for setting in ({"add_bos_token": True}, {"add_eos_token": True}, {"add_bos_token": False}):
        two.set(**setting)
        two.same(ask)
        two.same(lambda tokenizer: (tokenizer.add_bos_token, tokenizer.add_eos_token))
    first.same(ask)
    first.same(lambda tokenizer: tokenizer.num_special_tokens_to_add(True))


@pytest.mark.parametrize(
    "settings",
    [{"pad_token": "[NEWPAD]"}, {"eos_token": "a", "pad_token": "</s>"}, {"extra_special_tokens": ["<x>", "b"], "sep_token": "<x>"}],
)
def test_new_special_tokens(settings: dict[str, Any], folders: Path) -> None:
    """Special tokens that are passed to `fst.hf` are added to the vocabulary, unless they are already added tokens."""
    two, texts = two_of("Qwen2", folders, **settings), ["a [NEWPAD] b<x>a</s>", "ab a"]
    two.same(lambda tokenizer: tokenizer(texts, padding=True))
    two.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(texts, padding=True)["input_ids"], skip_special_tokens=True))
    two.same(lambda tokenizer: (len(tokenizer), tokenizer.all_special_ids, repr(tokenizer.added_tokens_decoder)))


@pytest.mark.parametrize("name", ["GPT2", "Llama"])
def test_files_without_a_class(name: str, folders: Path, tmp_path: Path) -> None:
    """A tokenizer.json alone, without other files, gives the same inputs as AutoTokenizer, without type ids."""
    shutil.copy(folder_of(name, folders) / "tokenizer.json", tmp_path)
    own = library("transformers").AutoTokenizer.from_pretrained(tmp_path)
    two = Two(own, fst.hf(fst.Tokenizer(compiled(tmp_path))))
    two.same(lambda tokenizer: tokenizer(TEXTS, TEXTS[::-1]))


WHISPER: list[dict[str, Any]] = [
    {"skip_special_tokens": True},
    {"output_offsets": True},
    {"decode_with_timestamps": True},
    {"decode_with_timestamps": True, "skip_special_tokens": True, "time_precision": 0.5},
    {"basic_normalize": True, "remove_diacritics": True},
    {"output_offsets": True, "skip_special_tokens": True},
]


def test_timestamps(folders: Path) -> None:
    """Whisper's ids decode to texts with and without timestamps, offsets and prompts."""
    two = two_of("Whisper", folders, language="german", task="transcribe")
    two.same(lambda tokenizer: tokenizer(TEXTS, TEXTS[::-1], return_special_tokens_mask=True))
    stamp = two.own.all_special_ids[-1] + 1
    words = two.own(TEXTS[0], add_special_tokens=False)["input_ids"]
    rows = [[stamp, *words, stamp + 40, stamp + 40, *words[::-1], stamp + 99], two.own(TEXTS[2])["input_ids"], [stamp, *words, stamp + 7]]
    for options, row in product(WHISPER, rows):
        two.same(lambda tokenizer, options, row: tokenizer.decode(row, **options), options, row)
    two.same(lambda tokenizer: tokenizer.batch_decode(rows, skip_special_tokens=True))
    two.same(lambda tokenizer: tokenizer.get_decoder_prompt_ids(language="es", task="translate"))
    two.same(lambda tokenizer: outcome(tokenizer.get_prompt_ids, "naïve"))
    two.same(lambda tokenizer: tokenizer(TEXTS))


def test_ends_of_words(folders: Path) -> None:
    """CLIP's ids decode with spaces at the ends of words."""
    two = two_of("CLIP", folders)
    for skips in (False, True):
        texts = two.same(lambda tokenizer, skips: [tokenizer.decode(row, skips) for row in tokenizer(TEXTS)["input_ids"]], skips)
        assert not any("</w>" in text for text in texts)
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_string(tokenizer.tokenize("a photo")))


def test_code_is_cut_off(folders: Path) -> None:
    """CodeGen's decoded texts are cut off before the given patterns."""
    two = two_of("CodeGen", folders)
    ids = two.own("print(1)\n# naïve\nprint(2)")["input_ids"]
    assert two.same(lambda tokenizer: tokenizer.decode(ids, truncate_before_pattern=["^#"])) == "print(1)\n"


@pytest.mark.parametrize("name", ["LayoutLMv2", "Udop"])
def test_calls_with_more_than_texts_are_refused(name: str) -> None:
    """A class whose calls take more than texts is refused by name, but its inner tokenizer is accepted."""
    own = getattr(library("transformers"), f"{name}Tokenizer")()
    with pytest.raises(fst.UnsupportedError, match=rf"^tokenizer_class is {name}Tokenizer, with .*__call__.*fst.hf\(tokenizer.backend"):
        fst.hf(own)
    assert fst.hf(own.backend_tokenizer).vocab_size


def test_classes_of_programs_are_refused(folders: Path) -> None:
    """A class that is not in `transformers` and has its own members is refused by name."""

    class Shouting(library("transformers").GPT2Tokenizer):  # type: ignore[misc]
        def _decode(self, *given: Any, **options: Any) -> str:
            return str(super()._decode(*given, **options)).upper()

    with pytest.raises(fst.UnsupportedError, match=r"^tokenizer_class is 'Shouting'; expected a fast tokenizer of transformers"):
        fst.hf(Shouting.from_pretrained(folder_of("GPT2", folders)))


def test_infilling_is_refused(folders: Path) -> None:
    """CodeLlama's infilling, which changes the normalizer, is refused by name, and later calls are as before."""
    two = two_of("CodeLlama", folders)
    calls: list[tuple[str, dict[str, Any]]] = [("a <FILL_ME> b", {}), ("a", {"suffix": "b"})]
    for text, options in calls:
        with pytest.raises(fst.UnsupportedError, match=r"^normalizer = Replace: a table cannot change"):
            two.other(text, **options)
    two.same(lambda tokenizer: tokenizer(TEXTS, TEXTS))


@pytest.mark.parametrize("name", ["AutoModel", "PreTrainedModel", "no such class", "os"])
def test_classes_in_tables_are_tokenizers(name: str, folders: Path) -> None:
    """A table whose class is not a fast tokenizer is refused."""
    made = fst.Tokenizer(of_class(name, {}, folders))
    with pytest.raises(fst.UnsupportedError, match=rf"^tokenizer_class is '{name}'; expected a fast tokenizer of transformers"):
        fst.hf(made)


def test_attributes_in_tables_replace_no_members(folders: Path) -> None:
    """An attribute in a table replaces neither a method nor another attribute of the stand-in."""
    names = ("decode", "_tokenizer", "model_max_length", "threads", "padding_side", "name_or_path", "init_kwargs")
    found = fst.hf(fst.Tokenizer(of_class("MBartTokenizer", {**dict.fromkeys(names, "x"), "_src_lang": "en_XX"}, folders)))
    assert found.decode(found(TEXTS)["input_ids"])[0].startswith("Wolf")
    assert not any(getattr(found, name) == "x" for name in names)


def of_class(name: str, attributes: dict[str, Any], folders: Path) -> Any:
    """The table of mBART with another class."""
    table = table_of("MBart", folders)._table
    settings = replace(table.metadata.settings, tokenizer_class=TokenizerClass(name, attributes, {}))
    return replace(table, header=replace(table.metadata, settings=settings).to_json())


# Stop strings


STOPPED = ("GPT2", "Gemma", "T5", "Bert")
STOPS = ["ives", "the s", "in B", "naïve", "!"]


@pytest.mark.parametrize("name", thinned(STOPPED, 2))
def test_members_for_stop_strings(name: str, folders: Path) -> None:
    """The members that StopStringCriteria reads equal those of `transformers`."""
    two = two_of(name, folders)
    two.same(lambda tokenizer: type(tokenizer.backend_tokenizer.decoder).__name__)
    two.same(lambda tokenizer: json.loads(tokenizer.backend_tokenizer.decoder.__getstate__()).get("type"))
    two.same(lambda tokenizer: [tokenizer._convert_id_to_token(number) for number in tokenizer("abcdef")["input_ids"]])
    start = two.own.tokenize("abcdef")
    two.same(lambda tokenizer: {token: tokenizer.convert_tokens_to_string([*start, token]) for token in sorted(tokenizer.get_vocab())[::9]})


@pytest.mark.parametrize("name", ["GPT2", "Gemma", "T5"])
def test_stop_strings(name: str, folders: Path) -> None:
    """StopStringCriteria ends texts at the same ids as with the tokenizer of `transformers`."""
    library("torch")
    criteria = library("transformers").StopStringCriteria
    two = two_of(name, folders)
    rows = two.own(TEXTS, padding=True, return_tensors="pt")["input_ids"]
    ends = two.same(lambda tokenizer: [criteria(tokenizer, STOPS)(rows[:, :width], None).tolist() for width in range(1, rows.shape[1])])
    assert any(map(any, ends))
