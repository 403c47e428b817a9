"""Read a folder with a model of SentencePiece and a vocabulary that gives other ids to its pieces.

The reference for a folder whose files name a class of `transformers` is the class, version 5.24. The class is written in Python: it cuts
added tokens out of a text, encodes each part between them with `sentencepiece`, and looks up the pieces. The reference for a folder with a
``dict.txt`` and no class is fairseq's ``Dictionary.encode_line`` of the pieces.

Source: transformers 5.24, ``tokenization_python.py`` and ``models/*/tokenization_*.py``; fairseq 0.12, ``data/dictionary.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from fst.compile.files import contents
from fst.compile.sources.inputs import (
    BPE_PIECES,
    CONFIG,
    DICTIONARY,
    DOCUMENT,
    IDS,
    MERGES,
    MODELS,
    SOURCE_PIECES,
    TARGET_IDS,
    TARGET_PIECES,
)
from fst.compile.sources.pretrained import folder as pretrained
from fst.compile.sources.pretrained.folder import ELSE, OTHER_INPUTS, Files
from fst.compile.sources.pretrained.special_tokens import AddedToken, special_tokens
from fst.compile.sources.renumbered import vocabularies
from fst.compile.sources.renumbered.languages import M2M100, M2M100_CODES, MUSTC
from fst.compile.sources.renumbered.source import Vocabulary, of_model
from fst.compile.sources.sentencepiece import model_file
from fst.compile.sources.sentencepiece.model_file import SentencePieceModel
from fst.compile.text.source import FAIRSEQ, NO_SETTINGS, TRANSFORMERS, Model, Source
from fst.errors import UnsupportedError, VocabularyError, listed, quoted, reason
from fst.tables.header import FIRST, SECOND, Piece, Templates

Json = Mapping[str, Any]
Ids = Mapping[str, int]

ENDS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
SEPARATE = "separate_vocabs"  # the setting of Marian that the two languages have a vocabulary each


@dataclass(frozen=True)
class Parts:
    """The contents of a folder that a class needs."""

    model: SentencePieceModel
    ids: Ids  # the ids of the vocabulary
    config: Json  # tokenizer_config.json


@dataclass(frozen=True)
class Family:
    """A class of tokenizers that looks up pieces in a vocabulary."""

    names: Mapping[str, str]  # the special tokens, unless a setting overrides them
    types: tuple[str, ...]  # the model types in config.json for which `transformers` uses this class
    prefix: Callable[[Parts], tuple[int, ...]]  # the ids before a text
    more: Callable[[Parts], Ids] = lambda _: {}  # tokens that are neither in the vocabulary nor in texts, and their ids
    extras: Callable[[Json], list[str]] = lambda _: []  # special tokens without a name, before those of the files
    refused: tuple[str, ...] = ()  # settings that are refused unless they are false
    codes: tuple[str, str] | None = None  # the strings around codes at the start of a text
    usual: Json = field(default_factory=dict)  # settings, unless tokenizer_config.json overrides them


def _m2m100_codes(parts: Parts) -> Ids:
    codes = parts.config.get("language_codes") or M2M100
    if codes not in M2M100_CODES:
        raise UnsupportedError(f"{CONFIG} asks for language_codes {quoted(codes)}; expected {listed(M2M100_CODES)}")
    return {f"__{code}__": len(parts.ids) + number for number, code in enumerate(M2M100_CODES[codes])}


def _m2m100_prefix(parts: Parts) -> tuple[int, ...]:
    source, codes = parts.config.get("src_lang") or "en", _m2m100_codes(parts)
    if f"__{source}__" not in codes:
        raise VocabularyError(f"{CONFIG} has src_lang {quoted(source)}; expected the code of a language of the model, such as 'en'")
    return (codes[f"__{source}__"],)


def _languages(config: Json) -> list[str]:
    codes = config.get("lang_codes")
    if codes not in (None, "mustc"):
        raise UnsupportedError(f"{CONFIG} asks for lang_codes {quoted(codes)}; expected 'mustc'")
    return [f"<lang:{code}>" for code in MUSTC] if codes else []


def _speech_prefix(parts: Parts) -> tuple[int, ...]:
    """The number of the target language's piece in the model, which the class uses as an id."""
    languages = _languages(parts.config)
    if not languages:
        return ()
    asked = f"<lang:{parts.config.get('tgt_lang') or MUSTC[0]}>"
    if asked not in languages:
        raise VocabularyError(f"{CONFIG} has tgt_lang {quoted(parts.config['tgt_lang'])}; expected {listed(MUSTC)}")
    return (parts.model.pieces.index(asked) if asked in parts.model.pieces else parts.model.unk_id,)


class Way(NamedTuple):
    """How to read a folder: the class, None for fairseq's dictionary; and the name of the model's file."""

    name: str | None
    model: str


FAMILIES: Mapping[str, Family] = {
    "MarianTokenizer": Family(
        {name: ENDS[name] for name in ("eos_token", "unk_token", "pad_token")},
        ("marian",),
        lambda _: (),
        codes=(">>", "<<"),
        usual={"model_max_length": 512},
    ),
    "M2M100Tokenizer": Family({**ENDS, "sep_token": "</s>"}, ("m2m_100",), _m2m100_prefix, _m2m100_codes),
    "Speech2TextTokenizer": Family(
        ENDS, ("speech_to_text",), _speech_prefix, extras=_languages, refused=("do_lower_case", "do_upper_case")
    ),
}
MODEL_TYPES = {kind: name for name, family in FAMILIES.items() for kind in family.types}
MARIAN = (SOURCE_PIECES, TARGET_PIECES, IDS)
REFUSED = ("sp_model_kwargs", "use_source_tokenizer")


def is_side(path: Path) -> bool:
    """Whether a file is one of the two models of a folder of Marian."""
    others = (path.parent / name for name in MARIAN)
    return path.name in (SOURCE_PIECES, TARGET_PIECES) and all(map(Path.is_file, others))


def way_of(path: Path) -> Way | None:
    """How to read a folder, or one of Marian's models in it; None for other folders. `path`: a folder, or a file with `is_side`."""
    if not path.is_dir():
        return Way("MarianTokenizer", path.name)
    held = {found.name for found in path.iterdir() if found.is_file()}
    has_ids = DOCUMENT not in held and not held >= {IDS, MERGES} and not held.isdisjoint((IDS, DICTIONARY))
    return _way_of_folder(path, held) if has_ids else None


def _way_of_folder(folder: Path, held: set[str]) -> Way | None:
    name = _class_of(folder)
    if name == "MarianTokenizer" or (name is None and held.issuperset(MARIAN)):
        return Way("MarianTokenizer", SOURCE_PIECES)
    if name in FAMILIES:
        return Way(name, BPE_PIECES)
    models = sorted(found for found in held if found.endswith(MODELS))
    if name is not None or not models:
        return None
    if len(models) > 1:
        raise VocabularyError(f"{folder} holds {listed(models)}; expected one model next to {listed(sorted(held & {IDS, DICTIONARY}))}")
    if DICTIONARY in held:
        return Way(None, models[0])
    raise VocabularyError(f"{folder} holds {models[0]} and {IDS}, and no file names a class; add its {CONFIG}, or name the model alone")


def read(path: Path) -> Source[Model] | None:
    """The source of a folder, or of one of Marian's models in it; None for other folders. `path`: as in `way_of`."""
    way = way_of(path)
    if way is None:
        return None
    folder = path if path.is_dir() else path.parent
    return _of_class(folder, way.name, way.model) if way.name else _of_fairseq(folder, way.model)


def _class_of(folder: Path) -> str | None:
    """The class that the files of a folder name, without the suffix "Fast"; None if they name none."""
    stated = pretrained.config_of(folder).get("tokenizer_class")
    kind = pretrained.without_vocabulary(folder).model.get("model_type")
    name = str(stated).removesuffix("Fast") if stated else MODEL_TYPES.get(str(kind))
    return name or (str(kind) if kind else None)


def _model(path: Path) -> SentencePieceModel:
    if not path.is_file():
        raise VocabularyError(f"{path.parent} lacks {path.name}, which its class needs; add it")
    return model_file.parse(contents(path), str(path))


def _of_fairseq(folder: Path, name: str) -> Source[Model]:
    ids = vocabularies.of_lines(folder / DICTIONARY)
    skipped = tuple(ids[token] for token in vocabularies.FAIRSEQ)
    settings = replace(NO_SETTINGS, named_tokens=ENDS, model_input_names=[*OTHER_INPUTS])
    by = Vocabulary(ids, vocabularies.UNKNOWN, {}, skipped)
    return _made(folder, lambda: of_model(_model(folder / name), by, _around((), ids[ENDS["eos_token"]]), settings, FAIRSEQ))


def _of_class(folder: Path, name: str, model: str) -> Source[Model]:
    return _made(folder, lambda: _outcome(folder, name, model, pretrained.without_vocabulary(folder)))


def _made(folder: Path, make: Callable[[], Source[Model]]) -> Source[Model]:
    try:
        return make()
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {str(error).removesuffix(f'; {ELSE}')}") from None
    except VocabularyError as error:
        raise VocabularyError(str(error) if str(error).startswith(str(folder)) else f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a tokenizer: {reason(error)}") from None


def _outcome(folder: Path, name: str, model: str, files: Files) -> Source[Model]:
    family, config = FAMILIES[name], files.config
    if config.get("eos_token") == "":
        raise UnsupportedError(f"{CONFIG} has an empty eos_token, so decoding leaves out other tokens, such as '</s>'; expected a token")
    pretrained.refuse_settings(config)
    for setting in (*REFUSED, *family.refused):
        if config.get(setting):
            raise UnsupportedError(f"{CONFIG} asks for {setting} {quoted(config[setting])}; expected none")
    is_target = model == TARGET_PIECES and config.get(SEPARATE)
    path = folder / (TARGET_IDS if is_target else IDS)
    if not path.is_file():
        raise VocabularyError(f"{folder} lacks {path.name}, which its class needs; add it")
    ids = vocabularies.of_json(path)
    tokens = special_tokens(config, files.specials, files.added, {}, family.names, ())
    parts = Parts(_model(folder / model), ids, config)
    more = family.more(parts)
    found = replace(tokens, extras=[*map(AddedToken, family.extras(config)), *tokens.extras]).added_in_python(ids)
    flagged = next((token["content"] for token in found if any(token[flag] for flag in ("single_word", "lstrip", "rstrip"))), None)
    if flagged is not None:
        raise UnsupportedError(f"added token {quoted(flagged)} has single_word, lstrip or rstrip; expected none of them")
    added = {token["content"]: token["id"] for token in found}
    _need_apart(ids, more, added)
    known = {**ids, **more}
    skipped = {token["id"] for token in found if token["special"]}
    by = Vocabulary(known, tokens.content("unk_token"), added, tuple(skipped), family.codes)
    files = replace(files, config={**family.usual, **config})
    settings = replace(NO_SETTINGS, **pretrained.settings(files, OTHER_INPUTS, tokens, is_class_known=True))
    end = added[tokens.content("eos_token")]
    return of_model(parts.model, by, _around(family.prefix(parts), end), settings, TRANSFORMERS)


def _need_apart(ids: Ids, more: Ids, added: Ids) -> None:
    """Refuse an added token with the id of a token of a language, and a token of a language with two ids."""
    languages = {number: token for token, number in more.items()}
    for token, number in added.items():
        if languages.get(number, token) != token:
            found = f"added token {quoted(token)} has the id {number}, that of {quoted(languages[number])}"
            raise UnsupportedError(f"{found}; expected all languages, in the order of the class")
    for token, number in more.items():
        other = ids.get(token, added.get(token, number))
        if other != number:
            raise UnsupportedError(f"token {quoted(token)} has the ids {other} and {number}; expected one id")


def _around(prefix: tuple[int, ...], end: int) -> Templates:
    """The templates of a text, and of a pair, whose texts follow each other."""
    before: tuple[Piece, ...] = ((prefix, 0),) if prefix else ()
    return Templates((*before, (FIRST, 0), ((end,), 0)), (*before, (FIRST, 0), (SECOND, 0), ((end,), 0)))
