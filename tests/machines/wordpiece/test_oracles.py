"""Cases from the WordPiece tests of other projects, and from the paper about linear-time MaxMatch.

Each row of `oracles/*.jsonl` becomes a plan (a vocabulary, options, inputs and expected results), or is left out for one of the reasons in
`LEFT_OUT`. The naive implementation runs the plans, and so does every layout, with compiled tables and with tables loaded from a file.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support import kept
from support.naive import models as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

import fst
from fst.compile import wordpiece
from fst.machines.wordpiece.table import WordPieceTable

pytestmark = needs_shared

PAIR = "a pair of texts: there is no pair API"
SEGMENTER = "needs a Japanese word segmenter: MeCab, Sudachi or Juman++"
SENTENCEPIECE = "SentencePiece, not WordPiece"
CHARACTERS = "splits words into characters, not WordPiece"
NO_VOCABULARY = "its vocabulary is not in the shared data"
SPLIT_UNKNOWN = "TF Text's split_unknown_characters: the reference makes the whole word unknown"
NFD = "TF Text decomposes and keeps the accents: BERT's normaliser does not"

LEFT_OUT = {
    PAIR: 3,
    SEGMENTER: 22,
    SENTENCEPIECE: 12,
    CHARACTERS: 5,
    NO_VOCABULARY: 10,
    SPLIT_UNKNOWN: 2,
    NFD: 1,
}

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")

# The first options of BERT's normalizer change nothing; the second options make each Chinese character a word; the third options make a
# text one word.
AS_IT_IS: dict[str, Any] = dict.fromkeys(("lowercase", "strip_accents", "clean_text", "handle_chinese_chars"), False)
SPLIT_ONLY = AS_IT_IS | {"handle_chinese_chars": True}
ONE_WORD = AS_IT_IS | {"pre_tokenizer": "none"}


Row = dict[str, Any]
Source = Path | tuple[str, ...]  # the path of a tokenizer.json, or a list of tokens


@dataclass(frozen=True)
class Check:
    """An expected result: the ids or tokens of several texts, or the text to which ids decode."""

    kind: str  # "ids" or "tokens" (plus "around" if [CLS] and [SEP] are expected), or "text"
    given: Any
    expected: Any


@dataclass(frozen=True)
class Plan:
    """A recorded row, converted to the form that the tests run."""

    source: Source
    checks: tuple[Check, ...]
    options: dict[str, Any] = field(default_factory=dict)
    # Settings that only a tokenizer.json has: added tokens, and whether the decoder joins punctuation to words.
    added: tuple[str, ...] = ()
    cleanup: bool = True


def in_one_list(nested: Any) -> list[Any]:
    """Flatten nested lists."""
    return [leaf for part in nested for leaf in in_one_list(part)] if isinstance(nested, list) else [nested]


def side_by_side(given: Any, expected: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield each text of a nested input with the results that are expected for it, at any depth of nesting."""
    if isinstance(given, str):
        yield given, in_one_list(expected)
        return
    for inner, wanted in zip(given, expected, strict=True):
        yield from side_by_side(inner, wanted)


def with_unknown(tokens: list[str], unk_token: str | None = None) -> tuple[tuple[str, ...], dict[str, Any]]:
    """If a vocabulary has no unknown token, append one; return the tokens and the option that names the unknown token."""
    unk_token = unk_token or next((token for token in ("[UNK]", "<unk>") if token in tokens), "[UNK]")
    return tuple(tokens) + (() if unk_token in tokens else (unk_token,)), {"unk_token": unk_token}


def plan_words(texts: list[tuple[str, list[str]]], options: dict[str, Any]) -> Plan:
    """Plan a row that expects words but has no vocabulary: the expected words become the vocabulary, so any other word is unknown."""
    tokens, named = with_unknown(sorted({word for _, words in texts for word in words} - {"[UNK]"}))
    return Plan(tokens, tuple(Check("tokens", [text], words) for text, words in texts), options | named)


def plan_basic(row: Row) -> Plan:
    """Plan a row for BERT's BasicTokenizer, which normalizes and splits texts."""
    config = row["config"]
    options = {"lowercase": config.get("do_lower_case", True), "strip_accents": config.get("strip_accents")}
    return plan_words([(row["input"], row["expected"])], options)


def plan_bertlike(row: Row) -> Plan | str:
    """Plan a row for Google's BERT or for a similar model in `transformers`, depending on the tested class."""
    config = row["config"]
    kind = config["class"].removeprefix("tokenization.")
    if kind in ("?", "RemBertTokenizer"):
        return SENTENCEPIECE
    if kind == "CharacterTokenizer" or config.get("subword_tokenizer_type") == "character":
        return CHARACTERS
    if kind in ("MecabTokenizer", "SudachiTokenizer", "JumanppTokenizer"):
        return SEGMENTER
    if kind == "BasicTokenizer":
        return plan_basic(row)
    options: dict[str, Any] = {}
    if kind == "WordpieceTokenizer":
        options = AS_IT_IS  # the input consists of words that are separated by spaces
    elif row["source"].endswith("bert_japanese"):
        # BERT's splitter finds the same words as the segmenter if only punctuation and spaces separate them.
        if not row["input"].startswith("こんにちは、世界。"):
            return SEGMENTER
        options = AS_IT_IS
    tokens, named = with_unknown(row["vocab"])
    return Plan(tokens, (Check(row["expected_kind"], [row["input"]], row["expected"]),), options | named)


def plan_huggingface(row: Row) -> Plan | str:
    """Plan a row for Hugging Face's `tokenizers` library, which tests an entire tokenizer or a single component."""
    config = row["config"]
    given, expected = row["input"], row["expected"]
    if "text_pair" in config:
        return PAIR
    if config.get("mode") == "normalize":  # the text is one word, so its only token is the normalized text
        tokens, named = with_unknown([expected])
        options = config["BertNormalizer"] | {"pre_tokenizer": "none"}
        return Plan(tokens, (Check("tokens", [given], [expected]),), options | named)
    if config.get("mode") == "pre_tokenize":
        return plan_words([(given, expected)], AS_IT_IS)
    if config.get("mode") == "normalize+pre_tokenize":
        return plan_words([(given, expected)], SPLIT_ONLY)
    if config.get("mode") == "decode_tokens":
        tokens, named = with_unknown(sorted(set(given)))
        named["continuing_subword_prefix"] = config["prefix"]
        check = Check("text", [tokens.index(token) for token in given], expected)
        return Plan(tokens, (check,), named, cleanup=config["cleanup"])
    if config.get("class") == "BertTokenizerFast":
        tokens, named = with_unknown(row["vocab"])
        return Plan(tokens, (Check("tokens", [given], expected),), named | {"lowercase": config["do_lower_case"]})
    options = {"handle_chinese_chars": config["tokenize_chinese_chars"]} if "tokenize_chinese_chars" in config else {}
    kind = row["expected_kind"] + (" around" if config["add_special_tokens"] else "")
    return Plan(SHARED / row["vocab"] / "tokenizer.json", (Check(kind, [given], expected),), options)


def plan_nanotoken(row: Row) -> Plan | str:
    """Plan an input from nanotoken or FastBertTokenizer, with the ids that the reference library gives it."""
    if not (SHARED / row["vocab"]).is_file():
        return NO_VOCABULARY
    return Plan(SHARED / row["vocab"], (Check("ids around", [row["input"]], row["expected"]),))


def plan_nvtext(row: Row) -> Plan:
    """Plan a row for RAPIDS cuDF, in which spaces separate words and a row may be limited to its first words."""
    words = row["input"].split()[: row["config"].get("max_words_per_row")]
    if isinstance(row["vocab"], list):
        tokens, named = with_unknown(row["vocab"])
    else:  # the vocab.txt of cuDF consists of the first lines of bert-base-cased's vocab.txt
        lines = (SHARED / "vocab/bert-base-cased/vocab.txt").read_text(encoding="utf-8").split("\n")
        tokens, named = with_unknown(lines[:3500])
    unknown = tokens.index("[UNK]")
    expected = [unknown if token_id == -1 else token_id for token_id in row["expected"]]
    return Plan(tokens, (Check("ids", words, expected),), ONE_WORD | named)


def plan_tf_bert(row: Row) -> Plan | str:
    """Plan a row for BertTokenizer of TF Text."""
    config = row["config"]
    options = {**SPLIT_ONLY, "lowercase": config.get("lower_case", False)}
    options["strip_accents"] = options["lowercase"]
    texts = list(side_by_side(row["input"], row["expected"]))
    if config.get("normalization_form"):
        return NFD
    if "test_basic_tokenize" in row["case_id"]:  # the test needs no vocabulary
        return plan_words(texts, options)
    tokens, named = with_unknown(row["vocab"])
    kept = ("[unused1]", "[unused23]") if config.get("preserve_unused_token") else ()
    return Plan(tokens, tuple(Check("tokens", [text], wanted) for text, wanted in texts), options | named, added=kept)


def plan_tf_fast_bert(row: Row) -> Plan:
    """Plan a row for FastBertTokenizer of TF Text."""
    tokens, named = with_unknown(row["vocab"])
    texts = side_by_side(row["input"], row["expected"])
    options = SPLIT_ONLY | dict.fromkeys(("lowercase", "strip_accents"), row["config"]["lower_case_nfd_strip_accents"])
    return Plan(tokens, tuple(Check("ids", [text], wanted) for text, wanted in texts), options | named)


def plan_tf_kernel(row: Row) -> Plan:
    """Plan a row for the fast WordPiece kernel of TF Text, which is written in C++."""
    config, given = row["config"], row["input"]
    tokens, named = with_unknown(row["vocab"], config["unk_token"])
    options = SPLIT_ONLY if config["mode"] == "text" else ONE_WORD
    options = options | named | {"continuing_subword_prefix": config["suffix_indicator"]}
    options |= limit_in_characters(config["max_bytes_per_token"], given.split())
    if config["mode"] == "detokenize":  # words, and decoding
        back = Check("text", row["expected"], row["expected_text"])
        return Plan(tokens, (Check("ids", given.split(), row["expected"]), back), options, cleanup=False)
    return Plan(tokens, (Check("ids", [given], row["expected"]),), options)


def limit_in_characters(limit: int, words: list[str]) -> dict[str, int]:
    """Convert a limit in bytes to a limit in characters; check that each word exceeds both limits or neither."""
    assert all((len(word) > limit) == (len(word.encode()) > limit) for word in words)
    return {"max_input_chars_per_word": limit}


def plan_tf_wordpiece(row: Row) -> Plan | str:
    """Plan a row for WordpieceTokenizer or FastWordpieceTokenizer of TF Text, whose input is words, texts, or ids to decode."""
    config = row["config"]
    if config.get("split_unknown_characters"):
        return SPLIT_UNKNOWN
    tokens, named = with_unknown(
        [
            token
            for token in row["vocab"]
            # TF Text ignores tokens that are longer than a limit.
            if len(token.removeprefix("##")) <= config.get("max_chars_per_token", 100)
        ]
    )
    if config["input_kind"] == "id_inputs":
        return Plan(tokens, tuple(plan_back(row["input"], row["expected"])), ONE_WORD | named, cleanup=False)
    options = (SPLIT_ONLY if config["input_kind"] == "text_inputs" else ONE_WORD) | named
    texts = list(side_by_side(row["input"], row["expected"]))
    if "max_bytes_per_word" in config:
        options |= limit_in_characters(config["max_bytes_per_word"], [word for word, _ in texts])
    if "unknown_token" in config and config["unknown_token"] is None:  # TF Text then returns an unknown word unchanged
        unknown = named["unk_token"]
        texts = [(word, [token if token in tokens else unknown for token in wanted]) for word, wanted in texts]
    return Plan(tokens, tuple(Check(row["expected_kind"], [text], wanted) for text, wanted in texts), options)


def plan_back(given: Any, expected: Any) -> Iterator[Check]:
    """Yield each text of a nested expectation with the ids from which it is decoded."""
    if isinstance(expected, str):
        yield Check("text", given, expected)
        return
    for inner, wanted in zip(given, expected, strict=True):
        yield from plan_back(inner, wanted)


PLANNERS: dict[str, Callable[[Row], Plan | str]] = {
    "google_bert": plan_bertlike,
    "hf_tokenizers": plan_huggingface,
    "hf_transformers_bertlike": plan_bertlike,
    "nanotoken_fastbert_inputs_hf_expected": plan_nanotoken,
    "nvtext": plan_nvtext,
    "tftext_bert_tokenizer_py": plan_tf_bert,
    "tftext_fast_bert_tokenizer_py": plan_tf_fast_bert,
    "tftext_fast_wordpiece_cc": plan_tf_kernel,
    "tftext_fast_wordpiece_tokenizer_py": plan_tf_wordpiece,
    "tftext_wordpiece_tokenizer_py": plan_tf_wordpiece,
}


def oracle_rows() -> Iterator[tuple[str, Row]]:
    """Yield the rows of all files except the file for keyword search, each with the name of its file."""
    for path in sorted((SHARED / "oracles").glob("*.jsonl")):
        if path.stem != "keyword_search":
            for line in path.read_text(encoding="utf-8").split("\n"):
                if line:
                    yield path.stem, json.loads(line)


def paper_plan() -> Plan:
    """Plan the example in Figure 1 of the paper: its vocabulary, and the tokens that it expects for several words."""
    paper = json.loads((SHARED / "oracles/paper_figure1.json").read_text(encoding="utf-8"))
    tokens, named = with_unknown(paper["figure1a_vocabulary"], "<unk>")
    words = [*paper["derived_word_cases"], *paper["corner_cases_from_paper"]]
    words.append({"input": paper["table2_input"], "tokens": paper["table2_output"]})
    checks = tuple(Check("tokens", [word["input"]], word["tokens"]) for word in words)
    return Plan(tokens, checks, ONE_WORD | named | {"continuing_subword_prefix": paper["suffix_indicator"]})


ROWS = list(oracle_rows()) if SHARED.is_dir() else []
PLANNED = [(f"{name}/{row['case_id']}", PLANNERS[name](row)) for name, row in ROWS]
if SHARED.is_dir():
    PLANNED.append(("paper_figure1", paper_plan()))

PARAMS = [pytest.param(plan, id=name, marks=[pytest.mark.skip(reason=plan)] if isinstance(plan, str) else []) for name, plan in PLANNED]
each_row = pytest.mark.parametrize("plan", PARAMS)


def special_tokens(plan: Plan, vocabulary: dict[str, int]) -> list[str]:
    """List the tokens that are recognized in raw text: BERT's special tokens if the vocabulary contains them, and added tokens."""
    names = (*SPECIAL, plan.options.get("unk_token", "[UNK]"), *plan.added)
    return [token for token in names if token in vocabulary]


def tokenizer_json(plan: Plan) -> dict[str, Any]:
    """Write a plan's vocabulary and options as a tokenizer.json, which can contain settings that a list of tokens cannot."""
    assert isinstance(plan.source, tuple)
    options = dict(plan.options)
    vocabulary = {token: token_id for token_id, token in enumerate(plan.source)}
    unk_token, prefix = options.pop("unk_token"), options.pop("continuing_subword_prefix", "##")
    limit = options.pop("max_input_chars_per_word", 100)
    splits = options.pop("pre_tokenizer", "bert") == "bert"
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocabulary[token], "content": token, "special": token not in plan.added, **flags}
            for token in sorted(special_tokens(plan, vocabulary), key=vocabulary.__getitem__)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
            **options,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"} if splits else None,
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": prefix, "cleanup": plan.cleanup},
        "model": {
            "type": "WordPiece",
            "unk_token": unk_token,
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": limit,
            "vocab": vocabulary,
        },
    }


def tokenizer_of(plan: Plan, layout: str, compile_: Callable[..., WordPieceTable], folder: Path) -> fst.Tokenizer:
    """Compile a plan from tokens or a file with options, or from a tokenizer.json if the plan needs other settings."""
    if plan.added or not plan.cleanup:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps(tokenizer_json(plan)), encoding="utf-8")
        return fst.Tokenizer(compile_(path, layout=layout))
    return compiled(plan.source, tuple(sorted(plan.options.items())), layout, compile_)


@functools.cache
def compiled(source: Source, options: tuple[tuple[str, Any], ...], layout: str, compile_: Callable[..., WordPieceTable]) -> fst.Tokenizer:
    """Compile a source; plans with the same source and options get the same tokenizer."""
    return fst.Tokenizer(compile_(list(source) if isinstance(source, tuple) else source, layout=layout, **dict(options)))


def answer(tokenizer: fst.Tokenizer, check: Check) -> Any:
    """Compute the result of a check with this package."""
    if check.kind == "text":
        return tokenizer.decode(check.given, skip_special_tokens=False)
    if check.kind == "tokens":
        return [token for text in check.given for token in tokenizer.tokenize(text)]
    around = check.kind.endswith("around")
    ids = [token_id for text in check.given for token_id in tokenizer.encode(text, add_special_tokens=around).tolist()]
    return ids if check.kind.startswith("ids") else [tokenizer.id_to_token(token_id) for token_id in ids]


@functools.cache
def document(path: Path) -> dict[str, Any]:
    """Read a tokenizer.json."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def answer_by_definition(plan: Plan, check: Check) -> Any:
    """Compute the result of a check by the naive implementation."""
    options = plan.options
    if isinstance(plan.source, tuple):
        vocabulary = {token: token_id for token_id, token in enumerate(plan.source)}
    else:
        vocabulary = document(plan.source)["model"]["vocab"]
        normalizer = {key: value for key, value in document(plan.source)["normalizer"].items() if key != "type"}
        options = normalizer | options
    tokens = {token_id: token for token, token_id in vocabulary.items()}
    if check.kind == "text":
        prefix = options.get("continuing_subword_prefix", "##")
        return naive.decode([tokens[token_id] for token_id in check.given], prefix=prefix, cleanup=plan.cleanup)
    special = special_tokens(plan, vocabulary)
    ids = []
    for text in check.given:
        encoded = naive.encode(text, vocabulary, special=special, **options)
        ids += [vocabulary["[CLS]"], *encoded, vocabulary["[SEP]"]] if check.kind.endswith("around") else encoded
    return ids if check.kind.startswith("ids") else [tokens[token_id] for token_id in ids]


@each_row
def test_definition_agrees_with_other_projects(plan: Plan) -> None:
    """The naive implementation of MaxMatch gives the results that other projects expect."""
    for check in plan.checks:
        assert answer_by_definition(plan, check) == check.expected, check.given


@pytest.mark.parametrize("compile_", [kept.wordpiece, pytest.param(wordpiece, marks=pytest.mark.slow)], ids=["loaded", "compiled"])
@pytest.mark.parametrize("plan", thinned(PARAMS, 6))
def test_package_agrees_with_other_projects(plan: Plan, compile_: Callable[..., WordPieceTable], tmp_path: Path) -> None:
    """A table gives the results that other projects expect, both when it is compiled and when it is loaded from a file."""
    tokenizer = tokenizer_of(plan, "compact", compile_, tmp_path)
    for check in plan.checks:
        assert answer(tokenizer, check) == check.expected, check.given


def test_every_row_is_run_or_left_out_for_a_reason() -> None:
    """The numbers of rows that are run, and that are left out for each reason, add up to the number of rows in the files."""
    reasons = Counter(plan for _, plan in PLANNED if isinstance(plan, str))
    run = sum(isinstance(plan, Plan) for name, plan in PLANNED if name != "paper_figure1")
    assert reasons == LEFT_OUT
    assert run + sum(LEFT_OUT.values()) == len(ROWS)


def test_no_row_that_is_run_expects_nothing() -> None:
    """Every plan has at least one expected result."""
    assert all(plan.checks for _, plan in PLANNED if isinstance(plan, Plan))
