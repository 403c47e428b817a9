"""Read a folder that contains a ``.model`` of SentencePiece, and files of `transformers` that name a class.

The reference is ``transformers.AutoTokenizer.from_pretrained``, version 5.24. The class reads pieces, scores and charsmap from the model,
and builds all other parts from settings, so its ids differ from those of `sentencepiece`. For the classes in `FAMILIES`, this module makes
a ``tokenizer.json`` that gives the same ids; for other classes, `transformers` builds the tokenizer, if it is installed.

Source: transformers 5.24, ``convert_slow_tokenizer.py`` and ``models/*/tokenization_*.py``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fst.automata.rows import MAX_OUTPUT
from fst.compile.files import contents
from fst.compile.sources import live
from fst.compile.sources.inputs import ADDED, CONFIG, MODEL, SPECIALS
from fst.compile.sources.pretrained import folder as pretrained
from fst.compile.sources.pretrained.conventions import BERT_NAMES, ROBERTA_NAMES
from fst.compile.sources.pretrained.folder import ELSE, OTHER_INPUTS, Files, OtherClassError
from fst.compile.sources.pretrained.special_tokens import AddedToken, SpecialTokens, special_tokens
from fst.compile.sources.sentencepiece import model_file
from fst.compile.sources.sentencepiece.model_file import CONTROL, USER_DEFINED, SentencePieceModel
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import UnsupportedError, VocabularyError, cut, quoted, reason
from fst.tables.header import TokenizerClass
from fst.tables.live import BASE

Json = dict[str, Any]
Template = list[tuple[str, int]]  # a template: special tokens and texts, each with a type id

FIRST, SECOND = "$A", "$B"  # the texts in a template
USUAL_FILE = "tokenizer.model"  # the name under which every class reads a model file
LANGUAGES = (
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT", "ja_XX", "kk_KZ",
    "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN",
)  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """The contents of a folder that a class of `transformers` needs to build a tokenizer."""

    model: SentencePieceModel  # the model of SentencePiece
    config: Json  # tokenizer_config.json
    tokens: SpecialTokens  # the special tokens

    def rows(self, first: int = 0) -> list[list[Any]]:
        """The pieces whose ids are at least `first`, with their scores."""
        return [[*row] for row in zip(self.model.pieces[first:], self.model.scores[first:], strict=True)]

    @property
    def own(self) -> list[AddedToken]:
        """The control pieces and user-defined pieces, as added tokens."""
        kinds = zip(self.model.pieces, self.model.types, strict=True)
        return [AddedToken(piece, normalized=False, special=kind == CONTROL) for piece, kind in kinds if kind in (CONTROL, USER_DEFINED)]

    @property
    def charsmap(self) -> Json | None:
        """The normalizer for the model's charsmap."""
        data = self.model.normalizer.charsmap
        return {"type": "Precompiled", "precompiled_charsmap": b64encode(data).decode()} if data else None


@dataclass(frozen=True)
class PieceFamily:
    """A class of tokenizers that is built from the pieces of a model."""

    names: Mapping[str, str]  # the special tokens, unless a setting overrides them
    file: str  # another name of the model file, in addition to `USUAL_FILE`
    types: tuple[str, ...]  # the model types in config.json for which `transformers` uses this class
    build: Callable[[Parts], Json]  # the parts of the tokenizer.json: model, normalizer, pre_tokenizer and decoder
    templates: Callable[[Parts], tuple[Template, Template]]  # the special tokens around a text, and around the texts of a pair
    # the default special tokens without a name; a setting may override them
    extras: Callable[[Parts], list[AddedToken]] = lambda parts: parts.own
    greedy: tuple[str, ...] = ()  # the names of special tokens that include the space before them if a setting contains them as strings
    padding_side: str = "right"  # the side of padding, unless a setting overrides it
    refused: tuple[str, ...] = ()  # settings that are refused, whatever their value, because they would change ids
    # the attributes and the options of `fst.tables.header.TokenizerClass`; None for a class without members of its own
    attributes: Callable[[Parts, Mapping[str, int]], tuple[Json, Json]] | None = None


def names_class(folder: Path) -> bool:
    """Whether a folder contains files of transformers, which `read` requires."""
    model = pretrained.json_object(folder / MODEL) or {}
    return any((folder / name).is_file() for name in (CONFIG, SPECIALS, ADDED)) or bool(model.keys() & {"model_type", "tokenizer_class"})


def read(folder: Path, path: Path) -> tuple[Json, Json]:
    """Read the tokenizer of a folder. `path`: the path of the ``.model`` in the folder. Returns the tokenizer.json that all files define
    together, and further settings, named as in `fst.tables.header.Settings`.
    """
    files = pretrained.without_vocabulary(folder)
    remedy = f"save its tokenizer.json with transformers, or name {path} for the ids of sentencepiece"
    try:
        pretrained.refuse_settings(files.config)
        family = _family(files)
        _refuse(files.config, family, path)
        return _outcome(files, family, model_file.parse(contents(path), str(path)))
    except OtherClassError as error:
        return live.of_folder(folder, f"{folder}: {error}; {remedy}")
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {str(error).removesuffix(f'; {ELSE}')}; {remedy}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a tokenizer: {reason(error)}") from None


def _family(files: Files) -> PieceFamily:
    """The class that ``AutoTokenizer`` of `transformers` chooses for the folder."""
    kind = files.model.get("model_type")
    stated = files.config.get("tokenizer_class") or files.model.get("tokenizer_class")
    name = str(stated).removesuffix("Fast") if stated else MODEL_TYPES.get(str(kind))
    if name not in FAMILIES:
        found = f"tokenizer_class {cut(str(stated))}" if stated else f"no tokenizer_class, and the type of model {quoted(kind)}"
        raise OtherClassError(f"a .model with {found}; supported are {', '.join(FAMILIES)}")
    if stated and kind and kind not in (*MODEL_TYPES, *OTHER_TYPES):
        raise OtherClassError(f"a .model with tokenizer_class {stated}, and the type of model {quoted(kind)}")
    return FAMILIES[name]


def _refuse(config: Json, family: PieceFamily, path: Path) -> None:
    """Refuse settings that would change ids, and a model file whose name the class does not use."""
    asked = [name for name in family.refused if name in config] + ["fix_mistral_regex"] * bool(config.get("fix_mistral_regex"))
    for name in asked:
        raise UnsupportedError(f"{CONFIG} asks for {name} {quoted(config[name])}")
    if path.name.removesuffix(".gz") not in (family.file, USUAL_FILE):
        raise UnsupportedError(f"the model is named {path.name}, and transformers expects {family.file} or {USUAL_FILE}; rename it")


def _outcome(files: Files, family: PieceFamily, model: SentencePieceModel) -> tuple[Json, Json]:
    tokens = special_tokens(files.config, files.specials, files.added, {}, family.names, family.greedy)
    parts = Parts(model, files.config, tokens)
    if not tokens.lists_extras:
        parts = replace(parts, tokens=replace(tokens, extras=family.extras(parts)))
    built = family.build(parts)
    document = {"version": "1.0", "truncation": None, "padding": None, **built, **_around(parts, family, _ids(built["model"]))}
    settings = pretrained.settings(files, OTHER_INPUTS, parts.tokens, is_class_known=True)
    return document, {"padding_side": family.padding_side, **settings, "tokenizer_class": _class_of(parts, family, document)}


def _class_of(parts: Parts, family: PieceFamily, document: Json) -> TokenizerClass | None:
    """The class, if its objects do more than the tokenizer.json or a setting adds special tokens; otherwise None."""
    named = {name: f"{name}_token" for name in ("bos", "eos")}
    flags = {f"_add_{role}": True for role in named.values() if parts.config.get(f"add_{role}") and role in parts.tokens.named}
    if family.attributes is None:
        return TokenizerClass(BASE, flags, {}) if flags else None
    ids = {**_ids(document["model"]), **{token["content"]: token["id"] for token in document["added_tokens"]}}
    attributes, options = family.attributes(parts, ids)
    name = next(name for name, one in FAMILIES.items() if one is family)
    return TokenizerClass(name, {**attributes, **flags}, options)


def _ids(model: Json) -> dict[str, int]:
    vocabulary = model["vocab"]
    return vocabulary if model["type"] == "BPE" else {piece: number for number, (piece, _) in enumerate(vocabulary)}


def _around(parts: Parts, family: PieceFamily, vocabulary: Mapping[str, int]) -> Json:
    """The members of the tokenizer.json around the model: the added tokens and the post-processor."""
    added = parts.tokens.added_to((), vocabulary)
    ids = {**vocabulary, **{token["content"]: token["id"] for token in added}}
    single, pair = family.templates(parts)
    around = {content for content, _ in pair} - {FIRST, SECOND}
    special = {content: {"id": content, "ids": [ids[content]], "tokens": [content]} for content in around}
    processor = {"type": "TemplateProcessing", "single": _template(single), "pair": _template(pair), "special_tokens": special}
    return {"added_tokens": added, "post_processor": processor}


def _template(template: Template) -> list[Json]:
    texts = {FIRST: "A", SECOND: "B"}
    return [
        {"Sequence" if content in texts else "SpecialToken": {"id": texts.get(content, content), "type_id": kind}}
        for content, kind in template
    ]


def _unigram(rows: list[list[Any]], unk_id: int, normalizer: Json | None, scheme: str = "always") -> Json:
    """The parts of a Unigram tokenizer that splits at whitespace."""
    metaspace = {"type": "Metaspace", "replacement": SYMBOL, "prepend_scheme": scheme, "split": True}
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": unk_id, "vocab": rows, "byte_fallback": False},
    }


def _scheme(parts: Parts) -> str:
    return "always" if parts.config.get("add_prefix_space", True) else "never"


def _extra_ids(parts: Parts) -> int:
    number = parts.config.get("extra_ids", 100)
    if type(number) is not int or not 0 <= number <= MAX_OUTPUT:
        raise ValueError(f"extra_ids is {quoted(number)}; expected a whole number from 0 to {MAX_OUTPUT}")
    return number


def _t5(parts: Parts) -> Json:
    extra = [[f"<extra_id_{number}>", 0.0] for number in reversed(range(_extra_ids(parts)))]
    return _unigram(parts.rows() + extra, 2, parts.charsmap)


def _t5_extras(parts: Parts) -> list[AddedToken]:
    own, number = sum("<extra_id_" in token.content for token in parts.own), _extra_ids(parts)
    if own and number not in (0, own):
        raise UnsupportedError(f"extra_ids is {number}, and the model has {own} pieces of this name")
    return parts.own + [AddedToken(f"<extra_id_{n}>", special=True) for n in range(0 if own else number)]


def _t5_templates(parts: Parts) -> tuple[Template, Template]:
    end = (parts.tokens.content("eos_token"), 0)
    return [(FIRST, 0), end], [(FIRST, 0), end, (SECOND, 0), end]


def _albert(parts: Parts) -> Json:
    quotes = [{"type": "Replace", "pattern": {"String": mark}, "content": '"'} for mark in ("``", "''")]
    accents = [] if parts.config.get("keep_accents", False) else [{"type": "NFKD"}, {"type": "StripAccents"}]
    case = [{"type": "Lowercase"}] if parts.config.get("do_lower_case", True) else []
    charsmap = [parts.charsmap] if parts.charsmap else []
    return _unigram(parts.rows(), 1, {"type": "Sequence", "normalizers": [*quotes, *accents, *case, *charsmap]}, _scheme(parts))


def _albert_templates(parts: Parts) -> tuple[Template, Template]:
    cls, sep = (parts.tokens.content(name) for name in ("cls_token", "sep_token"))
    single = [(cls, 0), (FIRST, 0), (sep, 0)]
    return single, [*single, (SECOND, 1), (sep, 1)]


def _fairseq_rows(parts: Parts, *more: str) -> list[list[Any]]:
    """The pieces in the order of fairseq.

    Four special tokens replace the first three pieces. The tokens `more` and the mask token follow the last piece.
    """
    first = [parts.tokens.content(name) for name in ("bos_token", "pad_token", "eos_token", "unk_token")]
    last = [*more, parts.tokens.content("mask_token")]
    return [*([token, 0.0] for token in first), *parts.rows(3), *([token, 0.0] for token in last)]


def _xlm_roberta(parts: Parts) -> Json:
    return _unigram(_fairseq_rows(parts), 3, parts.charsmap, _scheme(parts))


def _xlm_roberta_templates(parts: Parts) -> tuple[Template, Template]:
    begin, end = ((parts.tokens.content(name), 0) for name in ("bos_token", "eos_token"))
    return [begin, (FIRST, 0), end], [begin, (FIRST, 0), end, end, (SECOND, 0), end]


def _mbart(parts: Parts) -> Json:
    return _unigram(_fairseq_rows(parts, *LANGUAGES), 3, None)


def _mbart_extras(parts: Parts) -> list[AddedToken]:
    return [*(AddedToken(language, special=True) for language in LANGUAGES), *parts.own]


def _mbart_templates(parts: Parts) -> tuple[Template, Template]:
    language = parts.config.get("src_lang")
    around = [(parts.tokens.content("eos_token"), 0), ("en_XX" if language is None else language, 0)]
    return [(FIRST, 0), *around], [(FIRST, 0), (SECOND, 0), *around]


def _mbart_attributes(parts: Parts, ids: Mapping[str, int]) -> tuple[Json, Json]:
    options = {name: parts.config.get(name) for name in ("src_lang", "tgt_lang")}
    source = options["src_lang"] or "en_XX"
    language, end = ids[source], ids[parts.tokens.content("eos_token")]
    languages = {"lang_code_to_id": {code: ids[code] for code in LANGUAGES}, "cur_lang_code": language}
    around = {"prefix_tokens": [], "suffix_tokens": [end, language], "fairseq_offset": 1}
    return {"_src_lang": source, "tgt_lang": options["tgt_lang"], **languages, **around}, options


def _llama(parts: Parts) -> Json:
    has_prefix = parts.config.get("add_prefix_space")
    has_prefix = True if has_prefix is None else bool(has_prefix)
    scheme = ("always" if parts.config.get("legacy") else "first") if has_prefix else "never"
    vocabulary = {piece: number for number, piece in enumerate(parts.model.pieces)}
    steps: list[Json] = [{"type": "Replace", "pattern": {"String": SYMBOL}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return {
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": SYMBOL, "prepend_scheme": scheme, "split": False},
        "decoder": {
            "type": "Sequence",
            "decoders": [*steps, {"type": "Strip", "content": " ", "start": 1, "stop": 0}] if has_prefix else steps,
        },
        "model": {"type": "BPE", "fuse_unk": True, "byte_fallback": True, "vocab": vocabulary, "merges": _merges(vocabulary)},
    }


def _merges(vocabulary: Mapping[str, int]) -> list[list[str]]:
    """All pairs of pieces whose concatenation is a piece, sorted by the id of this piece and then by the length of the left part."""
    pairs = ((piece[:place], piece[place:]) for piece in vocabulary for place in range(1, len(piece)))
    return [[left, right] for left, right in pairs if left in vocabulary and right in vocabulary]


def _llama_templates(parts: Parts) -> tuple[Template, Template]:
    asked = {name: parts.config.get(f"add_{name}") and name in parts.tokens.named for name in ("bos_token", "eos_token")}
    begin, end = ([parts.tokens.content(name)] if is_asked else [] for name, is_asked in asked.items())
    single = [(content, 0) for content in (*begin, FIRST, *end)]
    return single, [*single, *((content, 1) for content in (*begin, SECOND, *end))]


_ENDS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_FAIRSEQ = {**_ENDS, **ROBERTA_NAMES}
FAMILIES = {
    "T5Tokenizer": PieceFamily(
        {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
        "spiece.model",
        ("mt5", "musicgen", "musicgen_melody", "switch_transformers", "t5"),
        _t5,
        _t5_templates,
        _t5_extras,
    ),
    "AlbertTokenizer": PieceFamily(
        {**BERT_NAMES, "bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "<unk>", "pad_token": "<pad>"},
        "spiece.model",
        ("albert", "yoso"),
        _albert,
        _albert_templates,
        refused=("add_bos_token", "add_eos_token"),
    ),
    "MBartTokenizer": PieceFamily(
        _FAIRSEQ, "sentencepiece.bpe.model", ("mbart",), _mbart, _mbart_templates, _mbart_extras, greedy=("mask_token",),
        attributes=_mbart_attributes,
    ),
    "XLMRobertaTokenizer": PieceFamily(
        _FAIRSEQ,
        "sentencepiece.bpe.model",
        ("gte", "jina_embeddings_v3", "metaclip_2", "trocr", "xlm-roberta", "xmod"),
        _xlm_roberta,
        _xlm_roberta_templates,
    ),
    "LlamaTokenizer": PieceFamily(_ENDS, USUAL_FILE, ("idefics", "idefics2"), _llama, _llama_templates, padding_side="left"),
}
MODEL_TYPES = {kind: name for name, family in FAMILIES.items() for kind in family.types}
# Additional model types, for which a file must name the class.
OTHER_TYPES = ("llama", *pretrained.MODEL_TYPES)
