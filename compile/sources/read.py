"""Read a source of any form: find the file, apply the compiler's options, and refuse sources that would fail later or give wrong ids."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

from fst.automata.rows import MAX_OUTPUT
from fst.compile.files import beginning, contents, parse_json, read_text
from fst.compile.sources import live, rwkv, tekken, tiktoken, tokenizer_json
from fst.compile.sources.codes import folder as codes
from fst.compile.sources.gguf import header as gguf
from fst.compile.sources.inputs import CODES, CONFIG, FILES, MERGES, MODELS, RANKS, located, single_files
from fst.compile.sources.kinds import need_kind
from fst.compile.sources.mistaken import mistaken
from fst.compile.sources.pretrained import chat_templates, japanese, ranks, sentencepiece
from fst.compile.sources.pretrained import folder as pretrained
from fst.compile.sources.renumbered import folders as renumbered
from fst.compile.sources.sentencepiece import model_file
from fst.compile.sources.sentencepiece import source as sentencepiece_source
from fst.compile.sources.templates import added_ids
from fst.compile.sources.vocab_txt import of_tokens, parse_lines
from fst.compile.text.source import Source, TextPipeline
from fst.core.json_fields import is_text, written
from fst.errors import UnsupportedError, VocabularyError, listed, not_one_of, quoted
from fst.tables.header import FLAGS, RULES
from fst.tables.live import is_encoding, is_live, is_processor

NO_NORMALIZER = {"type": "BertNormalizer", **dict.fromkeys(FLAGS, False)}
PRE_TOKENIZERS = {"bert": ({"type": "BertPreTokenizer"},), "none": ()}
TEXT_OPTIONS = (*FLAGS, "pre_tokenizer")  # options of the text pipeline; all other options of WordPiece are fields of the model
LOOKED_AT = 1 << 14  # the number of first bytes that identify a sentencepiece model
DICTIONARY = "dictionary"  # the option with the folder of MeCab's dictionary
LIVE = "the tokenizer"  # the name of a live tokenizer in messages
Given = Mapping[str, Any]
NO_OPTIONS: Given = {}


def read(source: Any, options: Given, kind: str | None = None) -> Source[Any]:
    """Read a source. Options that are not None override the values in the source. `source`: a file, a folder, the name of a model, the
    tokens of WordPiece, or a live tokenizer of tiktoken, tokenizers, transformers or sentencepiece. `options`: options of the compiler.
    `kind`: the required kind of model; None: any kind.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(source, str | Path):
        return _of_path(located(source), given, str(source), kind)
    if isinstance(source, Mapping):
        raise VocabularyError("the vocabulary is a mapping: give the tokens as a list in the order of their ids, or a tokenizer.json")
    if is_encoding(source):
        need_kind("BPE", kind)
        _refuse(given, "a tiktoken.Encoding contains it")
        return _checked(tiktoken.of_encoding(source), f"the encoding {source.name!r}")
    if is_processor(source):
        return _checked(_of_proto(source.serialized_model_proto(), LIVE, given, kind), LIVE)
    if is_live(source):
        return of_exported(live.exported(source), LIVE, given, kind)
    need_kind("WordPiece", kind)
    if not isinstance(source, Iterable):
        known = "a file, a folder, the name of a model, a list of tokens, or a live tokenizer"
        raise VocabularyError(f"the vocabulary is {type(source).__name__}; expected {known}")
    tokens = {token: number for number, token in enumerate(source)}
    return _checked(_with_options(of_tokens(tokens, given), given), "the vocabulary")


def of_exported(exported: tuple[Any, Given], where: str, options: Given = NO_OPTIONS, kind: str | None = None) -> Source[Any]:
    """Make a source from the value of a ``tokenizer.json`` and further settings. `exported`: the value of the JSON; and settings that are
    not in the JSON, named as in `fst.tables.header.Settings`. `where`: the name of the source in messages. `options`, `kind`: as in `read`.
    """
    return _checked(_of_exported(exported, Path(where), options, kind), where)


def _of_path(path: Path, given: Given, where: str, kind: str | None) -> Source[Any]:
    """Read a file or a folder. If reading fails and the first bytes show the kind of the file, the message names this kind."""
    if DICTIONARY in given and not (path.is_dir() and japanese.names_class(path)):
        _refuse({DICTIONARY: given[DICTIONARY]}, f"only a folder of {japanese.CLASS} needs it")
    try:
        is_folder = path.is_dir() or renumbered.is_side(path)
        return _checked(_of_folder(path, given, kind) if is_folder else _of_file(path, given, kind), where)
    except VocabularyError:
        files = [path / name for name in FILES if name not in (MERGES, CODES)] if path.is_dir() else [path]
        message = next(filter(None, map(mistaken, filter(Path.is_file, files))), None)
        if message:
            raise VocabularyError(message) from None
        raise


def is_model(path: Path) -> bool:
    """Whether a file is a SentencePiece model, by its content or its name. (Llama 3's tokenizer.model is a file of `tiktoken`.)"""
    begun = beginning(path, LOOKED_AT)
    is_named = path.name.removesuffix(".gz").endswith(MODELS)
    return model_file.begins_model(begun) or (is_named and not tiktoken.is_ranks(begun.decode(errors="replace")))


def exported(source: Any) -> tuple[Any, Given] | None:
    """The ``tokenizer.json`` of a source, and the settings that it does not contain; None for sources of other forms.

    The settings are named as in `fst.tables.header.Settings`.

    Args:
        source: a live tokenizer, a file, a folder, or the name of a model.
    """
    if is_live(source):
        return live.exported(source)
    path = located(source)
    if path.is_dir():
        found = None if _has_other_ids(path) else _of_files(path)
        return found and (found[0], {**found[1], "chat_templates": _chat_templates(path)})
    if gguf.is_model(path):
        return _exported_gguf(path)
    if Path(path.name.removesuffix(".gz")).suffix != ".json":
        return None
    document = parse_json(read_text(path), path)
    return None if tekken.is_tekken(document) else (document, {})


def _exported_gguf(path: Path) -> tuple[Any, Given] | None:
    from fst.compile.sources.gguf.source import read as read_gguf

    found = read_gguf(path)
    return None if isinstance(found, Source) else (found, {})


def config_of(source: str | Path) -> Given:
    """The ``tokenizer_config.json`` of a folder or of the name of a model, with the class that the files name; empty for other sources."""
    path = located(source)
    return pretrained.config_of(path) if path.is_dir() else {}


def _has_other_ids(folder: Path) -> bool:
    """Whether a folder has a reader of its own, because no ``tokenizer.json`` gives its ids."""
    return japanese.names_class(folder) or codes.family_of(folder) is not None or renumbered.way_of(folder) is not None


def _of_folder(path: Path, given: Given, kind: str | None) -> Source[Any]:
    if japanese.names_class(path):
        return _of_japanese(path, given, kind)
    family = codes.family_of(path)
    own = None if family else renumbered.read(path)
    if own:
        need_kind(own.model.kind, kind)
        _refuse(given, f"the files of {path} contain it")
        return own
    if family:
        source = _of_codes(path, family, given, kind)
    elif found := _of_files(path):
        source = _of_exported(found, path, given, kind)
    else:
        source = _of_single(path, single_files(path)[0], given, kind)
    return replace(source, settings=replace(source.settings, chat_templates=_chat_templates(path)))


def _of_single(folder: Path, path: Path, given: Given, kind: str | None) -> Source[Any]:
    """Read the only file of a folder with a complete vocabulary; a class of transformers completes ranks of `tiktoken`."""
    ranked = ranks.read(folder, path)
    if ranked is None:
        return _of_file(path, given, kind)
    need_kind("BPE", kind)
    _refuse(given, f"{folder} contains it")
    return ranked


def _of_codes(path: Path, family: codes.CodesFamily, given: Given, kind: str | None) -> Source[Any]:
    need_kind("BPE", kind)
    source = codes.read(path, family, given.get("pre_tokenizer"))
    return _with_options(source, {name: value for name, value in given.items() if name != "pre_tokenizer"})


def _of_japanese(path: Path, given: Given, kind: str | None) -> Source[Any]:
    if kind is not None:
        raise UnsupportedError(f"{path} is a {japanese.CLASS}; expected {kind}; take fst.compile.tokenizer")
    _refuse({name: value for name, value in given.items() if name != DICTIONARY}, f"{path} contains it")
    return japanese.read(path, given.get(DICTIONARY))


def _chat_templates(path: Path) -> Mapping[str, str]:
    return chat_templates.of_folder(path, pretrained.json_object(path / CONFIG) or {})


def _of_files(path: Path) -> tuple[Any, Given] | None:
    """The ``tokenizer.json`` and the settings of a folder without chat templates; None if the source is a single file."""
    found = [] if pretrained.holds_vocabulary(path) else single_files(path)
    if len(found) > 1:
        raise VocabularyError(f"{path} holds {listed([file.name for file in found])}: name the one to compile")
    if found and sentencepiece.names_class(path) and is_model(found[0]):
        return sentencepiece.read(path, found[0])
    return None if found else pretrained.read(path)


def _of_exported(exported: tuple[Any, Mapping[str, Any]], path: Path, given: Given, kind: str | None) -> Source[Any]:
    document, settings = exported
    source = tokenizer_json.of_document(document, path, kind)
    return _with_options(replace(source, settings=replace(source.settings, **settings)), given)


def _of_file(path: Path, given: Given, kind: str | None) -> Source[Any]:
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if gguf.is_model(path):
        return _of_gguf(path, given, kind)
    if is_model(path):
        return _of_model(path, given, kind)
    text = read_text(path)
    if suffix == RANKS or tiktoken.is_ranks(text):
        need_kind("BPE", kind)
        return _of_ranks(text, path, given)
    if rwkv.is_vocabulary(text):
        need_kind("BPE", kind)
        _refuse(given, f"{path} contains it")
        return rwkv.of_text(text, path)
    if suffix == ".json" or (suffix != ".txt" and text.lstrip().startswith("{")):
        return _of_json(parse_json(text, path), path, given, kind)
    if kind == "BPE":
        raise VocabularyError(f"{path} contains no BPE vocabulary: name a tokenizer.json, a file of tiktoken, a tekken.json or a folder")
    contradiction = pretrained.contradiction(path, given)
    if contradiction:
        logging.getLogger("fst").warning("fst: %s", contradiction)
    return _with_options(of_tokens(parse_lines(text), given), given)


def _of_gguf(path: Path, given: Given, kind: str | None) -> Source[Any]:
    from fst.compile.sources.gguf.source import read as read_gguf  # few sources are GGUF models

    found = read_gguf(path)
    if not isinstance(found, Source):
        return _of_exported((found, NO_OPTIONS), path, given, kind)
    need_kind(found.model.kind, kind)
    return _with_options(found, given)


def _of_model(path: Path, given: Given, kind: str | None) -> Source[Any]:
    return _of_proto(contents(path), str(path), given, kind)


def _of_proto(data: bytes, where: str, given: Given, kind: str | None) -> Source[Any]:
    _refuse(given, f"{where} contains it")
    source = sentencepiece_source.of_bytes(data, where)
    need_kind(source.model.kind, kind)
    return source


def _of_json(document: Any, path: Path, given: Given, kind: str | None) -> Source[Any]:
    if not tekken.is_tekken(document):
        return _with_options(tokenizer_json.of_document(document, path, kind), given)
    need_kind("BPE", kind)
    _refuse(given, f"{path} contains it")
    return tekken.of_document(document, path)


def _of_ranks(text: str, path: Path, given: Given) -> Source[Any]:
    _refuse({name: value for name, value in given.items() if name not in tiktoken.OPTIONS}, "only WordPiece has it")
    return tiktoken.of_text(text, path, given)


def _refuse(given: Given, why: str) -> None:
    for name in given:
        raise UnsupportedError(f"{name}: {why}; leave the option out")


def _with_options(source: Source[Any], given: Given) -> Source[Any]:
    _refuse({name: value for name, value in given.items() if name in tiktoken.OPTIONS}, "only a file of tiktoken's ranks needs it")
    if source.model.kind != "WordPiece":
        _refuse(given, "only WordPiece has it")
        return source
    model = {name: value for name, value in given.items() if name not in TEXT_OPTIONS}
    named = {"unk_token": given["unk_token"]} if "unk_token" in given else {}
    settings = replace(source.settings, named_tokens={**source.settings.named_tokens, **named})
    return replace(source, model=replace(source.model, **model), text=_text_with(source.text, given), settings=settings)


def _text_with(text: TextPipeline, given: Given) -> TextPipeline:
    flags = {name: given[name] for name in FLAGS if name in given}
    if flags:
        normalizers = tuple(text.normalizers) or (NO_NORMALIZER,)
        if [part["type"] for part in normalizers] != ["BertNormalizer"]:
            name = next(iter(flags))
            raise UnsupportedError(f"{name}: the source does not use one BertNormalizer for it; change its normalizer instead")
        text = replace(text, normalizers=({**normalizers[0], **flags},))
    if "pre_tokenizer" not in given:
        return text
    splitter = given["pre_tokenizer"]
    if splitter not in [*PRE_TOKENIZERS]:  # the value in a file may have any type
        raise UnsupportedError(not_one_of("pre_tokenizer", splitter, ("bert", "none")))
    return replace(text, pre_tokenizers=PRE_TOKENIZERS[splitter])


def _checked(source: Source[Any], where: str) -> Source[Any]:
    if not source.model.tokens:
        raise VocabularyError(f"{where} is empty")
    source.model.check(where)
    _check_flags(source.text, where)
    for name, value in written(source.settings).items():
        if not RULES[name].holds(value):
            raise VocabularyError(f"{where}: {name} is {quoted(value)}; it is {RULES[name].expected}")
    for token, number in [*source.model.tokens.items(), *source.added.ids.items()]:
        _check_token(token, number, where)
    _check_templates(source, where)
    return source


def _check_flags(text: TextPipeline, where: str) -> None:
    """Check the flags that options may have set; the flags of a tokenizer.json are checked when it is read."""
    for name in FLAGS:
        kind, allowed = (bool | NoneType, "true, false or null") if name == "strip_accents" else (bool, "true or false")
        for part in text.normalizers:
            if part["type"] == "BertNormalizer" and not isinstance(part[name], kind):
                raise VocabularyError(f"{where}: {name} is {quoted(part[name])}; it is {allowed}")


def _check_token(token: Any, number: Any, where: str) -> None:
    if not is_text(token):
        raise VocabularyError(f"{where}: token {quoted(token)} is not text")
    if type(number) is not int or not 0 <= number <= MAX_OUTPUT:
        has = f"token {quoted(token)} has the id {quoted(number)}"
        raise VocabularyError(f"{where}: {has}; ids are whole numbers from 0 to {MAX_OUTPUT}")


def _check_templates(source: Source[Any], where: str) -> None:
    known = {*source.model.tokens.values(), *source.added.ids.values()}
    for number in added_ids(source.templates.single) + added_ids(source.templates.pair):
        if type(number) is not int or number not in known:
            raise VocabularyError(f"{where}: the post-processor adds the id {quoted(number)}, which no token has")
