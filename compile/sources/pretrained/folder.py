"""Read a folder that ``save_pretrained`` wrote, in which several files together define a tokenizer.

The reference is ``transformers.AutoTokenizer.from_pretrained``, version 5.24. The class that the files name determines which parts of the
files are used. Some classes use a ``tokenizer.json`` without changes. BERT's class and related classes use only its tokens, and rebuild the
rest from the settings in ``tokenizer_config.json``. This module makes one ``tokenizer.json`` that gives the same ids. For any other class,
`transformers` builds the tokenizer, if it is installed. A folder of ``vocab.json`` and ``merges.txt`` without a class is read in the same
way as by ``ByteLevelBPETokenizer`` of `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fst.compile.files import parse_json, read_text
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources import live, merges_txt
from fst.compile.sources.inputs import ADDED, CONFIG, DOCUMENT, IDS, MERGES, MODEL, SPECIALS, VOCABULARY
from fst.compile.sources.kinds import ONLY, UNIGRAM, kind_and_model, model_of
from fst.compile.sources.pretrained import byte_level_classes
from fst.compile.sources.pretrained.byte_level_classes import ByteLevelFamily
from fst.compile.sources.pretrained.conventions import BERT_INPUTS, BERT_NAMES, ROBERTA_NAMES, named_tokens
from fst.compile.sources.pretrained.special_tokens import SpecialTokens, special_tokens
from fst.compile.sources.vocab_txt import parse_lines
from fst.compile.text.components import field_of, mapping, sequence
from fst.errors import UnsupportedError, VocabularyError, cut, listed, quoted, reason
from fst.tables.header import MAX_MODEL_LENGTH

ELSE = f"to compile the {DOCUMENT} or the {VOCABULARY} in it alone, name that"

Json = dict[str, Any]
OTHER_INPUTS = ("input_ids", "attention_mask")


@dataclass(frozen=True)
class Family:
    """Classes of tokenizers that are rebuilt from tokens and settings."""

    names: Mapping[str, str]  # the special tokens, unless a setting overrides them
    inputs: tuple[str, ...]  # the names of the model's inputs
    post_processor: Mapping[str, Any]  # the post-processor, in which the tokens cls and sep are filled in later
    greedy: tuple[str, ...] = ()  # the names of special tokens that include the space before them if a setting contains them as strings
    kind: str = "WordPiece"  # the type of the model


BERT = Family(BERT_NAMES, BERT_INPUTS, {"type": "BertProcessing"})
DISTILBERT = Family(BERT_NAMES, OTHER_INPUTS, {"type": "BertProcessing"})
MPNET = Family(
    {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "[UNK]", **ROBERTA_NAMES},
    OTHER_INPUTS,
    {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False},
    greedy=("mask_token",),
)
# Names of classes, without the suffix "Fast".
FAMILIES = {
    **dict.fromkeys(
        ["BertTokenizer", "ElectraTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer", "LxmertTokenizer", "LayoutLMTokenizer"],
        BERT,
    ),
    "DistilBertTokenizer": DISTILBERT,
    "MPNetTokenizer": MPNET,
}  # fmt: skip
AS_IT_STANDS = ("PreTrainedTokenizer", "TokenizersBackend")
# The type of model in config.json → the class, if no file names a class.
MODEL_TYPES = {
    **dict.fromkeys(
        ["align", "bark", "bert", "blip", "bros", "chinese_clip", "convbert", "distilbert", "electra", "ernie", "flava", "git",
         "grounding-dino", "layoutlm", "lxmert", "megatron-bert", "mm-grounding-dino", "mobilebert", "nomic_bert", "squeezebert", "tvp",
         "vilt", "visual_bert"], "BertTokenizer",
    ),
    "mpnet": "MPNetTokenizer",
}  # fmt: skip
AnyFamily = Family | ByteLevelFamily
_FAMILIES: Mapping[str, AnyFamily] = {**FAMILIES, **byte_level_classes.FAMILIES}
# Types of model that use the tokenizer.json without changes, even if the files name a class.
ALWAYS_AS_IT_STANDS = ("modernbert", "modernbert-decoder", "nystromformer")
# Settings that tables contain without changes.
AS_THEY_ARE = ("padding_side", "truncation_side", "clean_up_tokenization_spaces")
# Settings that may change ids, and the values that do not change them.
HARMLESS: Mapping[str, tuple[Any, ...]] = {
    "word_tokenizer_type": (None,),
    "subword_tokenizer_type": (None, "wordpiece"),
    "do_basic_tokenize": (None, True),
    "never_split": (None, []),
    "split_special_tokens": (None, False),
    "fast_tokenizer_files": (None, [DOCUMENT]),
    "init_inputs": (None, []),
}

# Name of a setting in tokenizer_config.json → option of the compiler.
OPTIONS = {"do_lower_case": "lowercase", "tokenize_chinese_chars": "handle_chinese_chars", "strip_accents": "strip_accents"}


@dataclass(frozen=True)
class Files:
    """The contents of a folder's files; a missing file counts as empty."""

    document: Json | None  # tokenizer.json, or an equivalent made from vocab.json and merges.txt, or None
    lines: Mapping[str, int] | None  # the tokens of vocab.txt; None if tokenizer.json contains the tokens
    config: Json  # tokenizer_config.json
    specials: Json  # special_tokens_map.json, which older versions wrote instead of added_tokens_decoder in tokenizer_config.json
    added: Json  # added_tokens.json, which older versions also wrote instead of added_tokens_decoder
    model: Json  # config.json
    is_made: bool = False  # whether the document is made from vocab.json and merges.txt

    @cached_property
    def unigram(self) -> UnigramModel | None:
        """The Unigram model of the document; None for other models. In this model's JSON, the position of a token is the token's id."""
        if self.document is None:
            return None
        kind, model = kind_and_model(self.document)
        return UnigramModel.of_json(model) if kind is UNIGRAM else None


class OtherClassError(UnsupportedError):
    """The files name a class of tokenizers that this module does not support."""


def read(folder: Path) -> tuple[Json, dict[str, Any]]:
    """The tokenizer.json that all files of a folder define, and further settings, named as in `fst.tables.header.Settings`."""
    files = _files(folder)
    try:
        return _outcome(files)
    except OtherClassError as error:
        return live.of_folder(folder, f"{folder}: {error}")
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a tokenizer: {reason(error)}") from None


def contradiction(vocabulary: Path, given: Mapping[str, Any]) -> str | None:
    """Return a warning, with a remedy, if a vocab.txt is compiled alone but the tokenizer_config.json next to it has different settings.
    `vocabulary`: the vocab.txt. `given`: options of the compiler, which override the files.
    """
    if vocabulary.name != VOCABULARY:
        return None
    try:
        config = json_object(vocabulary.parent / CONFIG) or {}
    except (VocabularyError, OSError):
        return None
    try:
        refuse_settings(config)
        name = _class(Files({}, None, config, {}, {}, {}))
    except UnsupportedError as error:
        asked = str(error).removesuffix(f"; {ELSE}")
        return f"{vocabulary} is compiled as BERT's, though its tokenizer is another, so that ids differ: {asked}"
    stated = _contradicting(config, given)
    if name and _FAMILIES.get(name, BERT).names != BERT_NAMES:
        stated["tokenizer_class"] = name
    if not stated:
        return None
    settings = ", ".join(f"{name} {quoted(value)}" for name, value in stated.items())
    return f"{vocabulary} is compiled alone, without the {CONFIG} next to it, which has {settings}: compile {vocabulary.parent} instead"


def _contradicting(config: Json, given: Mapping[str, Any]) -> Json:
    """The settings in a folder that differ from the settings for its vocab.txt alone; settings that options override are left out."""
    lower = given.get("lowercase", True)
    usual: Json = {"do_lower_case": lower, "tokenize_chinese_chars": True, "strip_accents": lower, **BERT_NAMES}
    stated = {name: config[name] for name in usual if config.get(name) is not None and OPTIONS.get(name, name) not in given}
    contents = {name: value.get("content") if isinstance(value, dict) else value for name, value in stated.items()}
    return {name: value for name, value in contents.items() if value != usual[name]}


def holds_vocabulary(folder: Path) -> bool:
    """Whether a folder contains a vocabulary in one of the files of `transformers`."""
    held = {path.name for path in folder.iterdir() if path.is_file()}
    return not held.isdisjoint((DOCUMENT, VOCABULARY)) or held >= {IDS, MERGES}


def _files(folder: Path) -> Files:
    document, lines, is_made = json_object(folder / DOCUMENT), None, False
    if document is None:
        if (folder / VOCABULARY).is_file():
            lines = parse_lines(read_text(folder / VOCABULARY))
        elif (folder / IDS).is_file() and (folder / MERGES).is_file():
            document, is_made = merges_txt.document(folder), True
        else:
            names = sorted(path.name for path in folder.iterdir())
            found = f", but {listed(names)}" if names else ""
            both = f"{IDS} and {MERGES}"
            needed = f"a {DOCUMENT} nor a {VOCABULARY}, nor {both}, nor a tekken.json, a file of tiktoken or a .model"
            raise VocabularyError(f"{folder} holds neither {needed}{found}; {ONLY}")
    return replace(without_vocabulary(folder), document=document, lines=lines, is_made=is_made)


def without_vocabulary(folder: Path) -> Files:
    """Read the files that contain settings; the vocabulary is left out."""
    config, specials, added, model = (json_object(folder / name) or {} for name in (CONFIG, SPECIALS, ADDED, MODEL))
    return Files(None, None, config, specials, added, model)


def config_of(folder: Path) -> Json:
    """The tokenizer_config.json of a folder. If it does not name the class and another file does, the class is added."""
    files = without_vocabulary(folder)
    name = files.config.get("tokenizer_class") or files.model.get("tokenizer_class") or _class_of(files.model.get("model_type"))
    return {**files.config, **({"tokenizer_class": name} if name else {})}


def _class_of(kind: Any) -> str | None:
    return {**MODEL_TYPES, **byte_level_classes.MODEL_TYPES}.get(kind)


def json_object(path: Path) -> Json | None:
    """The JSON object in a file; None if the file does not exist."""
    if not path.is_file():
        return None
    found = parse_json(read_text(path), path)
    if not isinstance(found, dict):
        raise VocabularyError(f"{path} is not a JSON object, but {quoted(found)}")
    return found


def _outcome(files: Files) -> tuple[Json, dict[str, Any]]:
    if files.document is not None:
        model_of(files.document)
    refuse_settings(files.config)
    name = _class(files)
    family = BERT if name is None and files.document is None else _FAMILIES.get(name or "")
    if family is not None and files.document is not None:
        _need_kind(kind_and_model(files.document)[0].name, family.kind, name)
    tokens = special_tokens(files.config, files.specials, files.added, files.document or {}, *_usual(files, family))
    inputs = family.inputs if family else OTHER_INPUTS
    return _document(files, family, tokens), settings(files, inputs, tokens, is_class_known=name is not None)


def _need_kind(found: str, made: str, name: str | None) -> None:
    if found != made:
        raise UnsupportedError(f"model {found}, of which tokenizer_class {name} makes {made}; {ELSE}")


def _document(files: Files, family: AnyFamily | None, tokens: SpecialTokens) -> Json:
    if family is None:
        return _as_it_stands(files, tokens)
    if isinstance(family, ByteLevelFamily):
        return _byte_level(files, family, tokens)
    return _rebuilt(files, family, tokens)


def _post_processor(family: Family, tokens: SpecialTokens, ids: Mapping[str, int]) -> Json:
    cls, sep = (tokens.content(name) for name in ("cls_token", "sep_token"))
    return {**family.post_processor, "cls": [cls, ids[cls]], "sep": [sep, ids[sep]]}


def refuse_settings(config: Json) -> None:
    """Raise an UnsupportedError if a setting changes ids in a way that tables cannot represent."""
    for name, harmless in HARMLESS.items():
        if config.get(name) not in harmless:
            raise UnsupportedError(f"{CONFIG} asks for {name} {quoted(config[name])}; {ELSE}")
    code = config.get("auto_map")
    if isinstance(code, list) or (isinstance(code, dict) and "AutoTokenizer" in code):
        raise UnsupportedError(f"{CONFIG} needs its own code, as auto_map; {ELSE}")


def _class(files: Files) -> str | None:
    """The supported class that the files name; None if they do not name a class."""
    kind = files.model.get("model_type")
    stated = files.config.get("tokenizer_class") or files.model.get("tokenizer_class")
    if kind in ALWAYS_AS_IT_STANDS:
        stated = AS_IT_STANDS[0]
    if not stated and kind:
        stated = _class_of(kind)
        if stated is None:
            raise OtherClassError(f"{MODEL} names the type of model {quoted(kind)}, and no file a tokenizer_class; {ELSE}")
    if not stated:
        return None
    name = str(stated).removesuffix("Fast")
    if name in byte_level_classes.FAMILIES and kind and byte_level_classes.MODEL_TYPES.get(kind) != name:
        raise OtherClassError(f"tokenizer_class {name} with the type of model {quoted(kind)} in {MODEL}; {ELSE}")
    if name not in _FAMILIES and name not in AS_IT_STANDS:
        known = ", ".join([*_FAMILIES, "PreTrainedTokenizerFast"])
        raise OtherClassError(f"tokenizer_class {cut(str(stated))}: supported are {known}; {ELSE}")
    if name in AS_IT_STANDS and (files.document is None or files.is_made):
        raise UnsupportedError(f"tokenizer_class {stated} without a {DOCUMENT}")
    return name


def _usual(files: Files, family: AnyFamily | None) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The default special tokens by name, and the names of special tokens that include a space before them."""
    if family is not None:
        return family.names, family.greedy
    padding = (files.document or {}).get("padding")
    return ({} if padding is None else {"pad_token": field_of(padding, "pad_token", "padding")}), ()


def _as_it_stands(files: Files, tokens: SpecialTokens) -> Json:
    """The tokenizer.json, plus the added tokens that only other files contain."""
    document = files.document or {}
    return {**document, "added_tokens": tokens.added_to(document.get("added_tokens") or (), _vocabulary(files))}


def _byte_level(files: Files, family: ByteLevelFamily, tokens: SpecialTokens) -> Json:
    for name in ("add_bos_token", "add_eos_token"):  # these settings have no effect if there is a tokenizer.json
        if files.is_made and files.config.get(name):
            raise UnsupportedError(f"{CONFIG} asks for {name} without a {DOCUMENT}")
    return byte_level_classes.rebuilt(family, files.document or {}, files.config, tokens, _vocabulary(files))


def _rebuilt(files: Files, family: Family, tokens: SpecialTokens) -> Json:
    """BERT's tokenizer or a similar one, rebuilt from tokens and settings."""
    vocabulary, document, config = _vocabulary(files), files.document or {}, files.config
    added = tokens.added_to((), vocabulary)
    ids = {**vocabulary, **{token["content"]: token["id"] for token in added}}
    return {
        "version": "1.0",
        "truncation": document.get("truncation"),
        "padding": document.get("padding"),
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
            "strip_accents": config.get("strip_accents"),
            "lowercase": config.get("do_lower_case", True),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _post_processor(family, tokens, ids),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": tokens.content("unk_token"),
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }


def _vocabulary(files: Files) -> Mapping[str, int]:
    if files.document is None:
        return files.lines or {}
    if files.unigram is not None:
        return files.unigram.tokens
    return mapping(field_of(model_of(files.document), "vocab", "model"), "vocab of the model")


def settings(files: Files, inputs: tuple[str, ...], tokens: SpecialTokens, *, is_class_known: bool) -> dict[str, Any]:
    """The settings that do not change ids. If no file names a class, settings that the files do not contain are left out.

    Args:
        files: the contents of the files.
        inputs: the names of the inputs of a model, unless a setting overrides them.
        tokens: the special tokens.
        is_class_known: whether a file names a class.
    """
    config = files.config
    found: dict[str, Any] = {name: config[name] for name in AS_THEY_ARE if name in config}
    found["model_max_length"] = _length(config.get("model_max_length", config.get("max_len")))
    found["named_tokens"] = {name: token.content for name, token in tokens.named.items()}
    found["extra_special_tokens"] = [token.content for token in tokens.extras]
    stated = config.get("model_input_names")
    if stated is not None or is_class_known:
        found["model_input_names"] = list(sequence(stated or inputs, "model_input_names"))
    if not is_class_known and files.document is not None:
        specials = {token["content"] for token in files.document.get("added_tokens") or ()}
        unk_token = files.unigram.unk_token if files.unigram is not None else model_of(files.document).get("unk_token")
        usual = named_tokens(specials, unk_token, files.document.get("padding"))
        found["named_tokens"] = {**usual, **found["named_tokens"]}
    return found


def _length(value: Any) -> int | None:
    """The length of a model's input; a very large number means no limit."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError(f"model_max_length {quoted(value)} is not a number")
    return None if value > MAX_MODEL_LENGTH else int(value)
