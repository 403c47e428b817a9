"""Read a vocabulary and what comes with it: a ``vocab.txt``, a ``tokenizer.json``, or a list of tokens.

The result says everything that ids depend on, and nothing else is looked at later. What a ``tokenizer.json`` asks for and this version
does not do is refused here, by name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fst.compile.sources import hub, pretrained
from fst.compile.sources.conventions import model_input_names, named_tokens, side
from fst.compile.sources.files import parse_json, parse_lines, read_text
from fst.compile.sources.kinds import ONLY, mistaken
from fst.compile.sources.models import kind_by_fields, model_of, need_wordpiece, tokens_of
from fst.compile.sources.templates import BARE, around, bert, of_post_processor, trims
from fst.compile.text import normalizers, pre_tokenizers
from fst.compile.text.added_tokens import LateToken, added_tokens
from fst.compile.text.components import field_of, kind_of
from fst.errors import UnsupportedError, VocabularyError, cut, listed, quoted, reason
from fst.metadata import FLAGS, RULES, Template
from fst.rows import MAX_OUTPUT, MAX_WORD, WHITE_SPACE

BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


SETTINGS = (
    ("lowercase", bool, "true or false"),
    ("strip_accents", bool | None, "true, false or null"),
    ("clean_text", bool, "true or false"),
    ("handle_chinese_chars", bool, "true or false"),
    ("unk_token", str, "a string"),
    ("continuing_subword_prefix", str, "a string"),
)


@dataclass(frozen=True)
class Vocabulary:
    """A WordPiece vocabulary with its options, named as in Hugging Face's ``tokenizers``.

    Attributes:
        tokens: token → id.
        specials: strings that are recognised in raw text, and their ids; they need not be in ``tokens``.
        skipped: those of them, and of the late ones, that decoding leaves out.
        late: added tokens found in normalised text, or dependent on their neighbours; see `fst.compile.text.added_tokens`.
        single: what stands around the ids of a text, [CLS] and [SEP]; see `fst.compile.sources.templates`.
        pair: what stands around those of two texts.
        decoder: ``{"prefix": str, "cleanup": bool}``, or None: tokens are joined with blanks.
        pre_tokenizer: "bert", "none", or "other", as `pre_tokenizer_parts` say.
        normalizer_parts: where the source has others than one BertNormalizer: what they are. The settings of BertNormalizer then only
            say in short what they do.
        pre_tokenizer_parts: where the source has others than one BertPreTokenizer: what they are.
        truncation: what the source asks for; kept to be shown, never applied unasked.
        padding: likewise.
        named_tokens: names such as pad_token, and their tokens.
        extra_special_tokens: special tokens that have no name.
        model_max_length: how many ids a model takes; None if that is not known.
        model_input_names: what it takes.
        padding_side: where rows are padded, "right" or "left".
        truncation_side: where they are cut.
        clean_up_tokenization_spaces: whether blanks before punctuation go from decoded text once more.
    """

    tokens: Mapping[str, int]
    specials: Mapping[str, int]
    skipped: frozenset[str]
    late: Mapping[str, LateToken] = field(default_factory=dict)
    single: Template = BARE[0]
    pair: Template = BARE[1]
    lowercase: bool = True
    strip_accents: bool | None = None
    clean_text: bool = True
    handle_chinese_chars: bool = True
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    pre_tokenizer: str = "bert"
    normalizer_parts: Sequence[Mapping[str, Any]] | None = None
    pre_tokenizer_parts: Sequence[Mapping[str, Any]] | None = None
    decoder: Mapping[str, Any] | None = None
    truncation: Mapping[str, Any] | None = None
    padding: Mapping[str, Any] | None = None
    named_tokens: Mapping[str, str] = field(default_factory=dict)
    extra_special_tokens: Sequence[str] = field(default_factory=list)
    model_max_length: int | None = None
    model_input_names: Sequence[str] = field(default_factory=list)
    padding_side: str = "right"
    truncation_side: str = "right"
    clean_up_tokenization_spaces: bool = False

    @property
    def added_ids(self) -> dict[str, int]:
        """The ids of all strings that are cut out of a text."""
        return {**self.specials, **{content: token.id for content, token in self.late.items()}}

    @property
    def unk_id(self) -> int:
        """The id of the unknown token."""
        return self.tokens[self.unk_token]

    @property
    def normalizers(self) -> Sequence[Mapping[str, Any]]:
        """The components that normalise a text, in their order."""
        if self.normalizer_parts is not None:
            return self.normalizer_parts
        return ({"type": "BertNormalizer", **{name: getattr(self, name) for name in FLAGS}},)

    @property
    def pre_tokenizers(self) -> Sequence[Mapping[str, Any]]:
        """The components that split a text into words, in their order."""
        if self.pre_tokenizer == "other":
            return self.pre_tokenizer_parts or ()
        return ({"type": "BertPreTokenizer"},) if self.pre_tokenizer == "bert" else ()


def read(source: str | Path | Sequence[str], options: Mapping[str, Any]) -> Vocabulary:
    """Read a source; options that are not None replace what it says.

    Raises:
        VocabularyError: the source is not a vocabulary, or has no unknown token.
        UnsupportedError: it asks for something that this version does not do.
        OSError: it cannot be read.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(source, str | Path):
        return _of_path(_found(source), given, str(source))
    if isinstance(source, Mapping):
        raise VocabularyError("the vocabulary is a mapping: give the tokens as a list in the order of their ids, or a tokenizer.json")
    return _checked(_of_tokens({token: number for number, token in enumerate(source)}, given), "the vocabulary")


def _found(source: str | Path) -> Path:
    path = Path(source)
    if hub.is_name(source) and not path.exists():
        return hub.fetched(str(source), pretrained.FILES)
    return path


def _of_path(path: Path, given: Mapping[str, Any], where: str) -> Vocabulary:
    """The vocabulary in a file or a folder. Where reading fails, the message says what the file is, if its first bytes tell."""
    try:
        return _checked(_of_folder(path, given) if path.is_dir() else _of_file(path, given), where)
    except VocabularyError:
        files = [path / name for name in pretrained.FILES] if path.is_dir() else [path]
        told = next(filter(None, map(mistaken, filter(Path.is_file, files))), None)
        if told:
            raise VocabularyError(told) from None
        raise


def _of_folder(path: Path, given: Mapping[str, Any]) -> Vocabulary:
    document, settings = pretrained.read(path)
    return _with_options(replace(_of_json(document, path), **settings), given)


def _of_file(path: Path, given: Mapping[str, Any]) -> Vocabulary:
    text = read_text(path)
    if path.suffix == ".json" or (path.suffix != ".txt" and text.lstrip().startswith("{")):
        return _with_options(_of_json(parse_json(text, path), path), given)
    contradiction = pretrained.contradiction(path, given)
    if contradiction:
        logging.getLogger("fst").warning("fst: %s", contradiction)
    return _of_tokens(parse_lines(text), given)


def _with_options(vocabulary: Vocabulary, given: Mapping[str, Any]) -> Vocabulary:
    flags = [name for name in FLAGS if name in given]
    if flags and vocabulary.normalizer_parts is not None:
        raise UnsupportedError(f"{flags[0]}: the source does not say it with one BertNormalizer; change its normalizer instead")
    named = {"unk_token": given["unk_token"]} if "unk_token" in given else {}
    return replace(vocabulary, named_tokens={**vocabulary.named_tokens, **named}, **given)


def _of_tokens(tokens: dict[str, int], given: Mapping[str, Any]) -> Vocabulary:
    """What the reference's BertWordPieceTokenizer makes of a bare vocabulary."""
    unk_token = given.get("unk_token", "[UNK]")
    specials = {token: tokens[token] for token in dict.fromkeys([*BERT_SPECIALS, unk_token]) if token and token in tokens}
    single, pair = bert(tokens["[CLS]"], tokens["[SEP]"]) if "[CLS]" in tokens and "[SEP]" in tokens else BARE
    vocabulary = Vocabulary(
        tokens=tokens,
        specials=specials,
        skipped=frozenset(specials),
        single=single,
        pair=pair,
        decoder={"prefix": given.get("continuing_subword_prefix", "##"), "cleanup": True},
        named_tokens=named_tokens(specials, unk_token, None),
        model_input_names=model_input_names(pair),
    )
    return replace(vocabulary, **given)


def _of_json(source: Any, path: Path) -> Vocabulary:
    if not isinstance(source, dict):
        tokens = "; write tokens one a line into a vocab.txt" if isinstance(source, list) else ""
        raise VocabularyError(f"{path} is not laid out as a tokenizer.json: it is no JSON object, but {quoted(source)}{tokens}")
    other = _other(source, path)
    if other:
        raise VocabularyError(f"{path} {other}")
    try:
        return _of_parts(source)
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError) as error:
        raise VocabularyError(f"{path} is not laid out as a tokenizer.json: {reason(error)}") from None


def _other(source: dict[str, Any], path: Path) -> str | None:
    """The message for a JSON object that is no tokenizer.json: what it is and what to do. None: it may be one."""
    if path.name in (pretrained.CONFIG, pretrained.SPECIALS, pretrained.ADDED, pretrained.MODEL):
        return f"is one of several files of a tokenizer, and holds no vocabulary: compile their folder, {path.parent}"
    if source and all(type(number) is int for number in source.values()):
        return f"maps {len(source):,} tokens to ids, as GPT-2's vocab.json does: {ONLY}, from a tokenizer.json or a vocab.txt"
    if "model" in source:
        return None
    return "is not laid out as a tokenizer.json: it has no 'model'" + (f", but {listed(source)}" if source else "")


def _of_parts(source: dict[str, Any]) -> Vocabulary:
    _only(source, "tokenizer.json", "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model")
    if source.get("version", "1.0") != "1.0":
        raise UnsupportedError(f"tokenizer.json version {quoted(source['version'])}: only 1.0 is known")
    model = model_of(source)
    need_wordpiece(model.get("type") or kind_by_fields(model))
    _only(model, "model", "type vocab unk_token continuing_subword_prefix max_input_chars_per_word")
    tokens, unk_token = tokens_of(model), field_of(model, "unk_token", "model")
    added = added_tokens(source.get("added_tokens") or [], tokens)
    single, pair = of_post_processor(source.get("post_processor"))
    if trims(source.get("post_processor")):
        _untrimmed([*tokens, *added.specials, *added.late])
    return Vocabulary(
        tokens=tokens,
        specials=added.specials,
        late=added.late,
        skipped=added.skipped,
        single=single,
        pair=pair,
        unk_token=unk_token,
        continuing_subword_prefix=model.get("continuing_subword_prefix", "##"),
        max_input_chars_per_word=model.get("max_input_chars_per_word", 100),
        decoder=_decoder(source.get("decoder")),
        truncation=source.get("truncation"),
        padding=source.get("padding"),
        named_tokens=named_tokens({*added.specials, *added.late}, unk_token, source.get("padding")),
        model_input_names=model_input_names(pair),
        truncation_side=side(source.get("truncation")),
        padding_side=side(source.get("padding")),
        **_normalizer(source.get("normalizer")),
        **_pre_tokenizer(source.get("pre_tokenizer")),
    )


def _untrimmed(tokens: list[str]) -> None:
    """Refuse tokens that a post-processor would shorten: what it calls white space is also a letter, Ġ."""
    for token in tokens:
        if token.strip(WHITE_SPACE + "Ġ") != token:
            raise UnsupportedError(f"post_processor with trim_offsets, which would shorten the token {quoted(token)}: set it to false")


def _only(part: Mapping[str, Any], name: str, known: str) -> None:
    unknown = sorted(part.keys() - set(known.split()))
    if unknown:
        raise UnsupportedError(f"{name} has {listed(unknown)}, which this version does not know")


def _normalizer(part: dict[str, Any] | None) -> dict[str, Any]:
    """The settings of one BertNormalizer, or of none; of other normalizers, what they do in its words, and what they are."""
    parts = normalizers.components(part)
    berts = [part for part in parts if part["type"] == "BertNormalizer"]
    if len(parts) == len(berts) == 1:
        return {name: parts[0][name] for name in FLAGS}
    settings = {name: any(bert[name] for bert in berts) for name in FLAGS}
    settings["lowercase"] |= any(part["type"] == "Lowercase" for part in parts)
    settings["strip_accents"] = any(part["type"] == "StripAccents" or normalizers.strips(part) for part in parts)
    return settings if not parts else {**settings, "normalizer_parts": parts}


def _pre_tokenizer(part: dict[str, Any] | None) -> dict[str, Any]:
    parts = pre_tokenizers.components(part)
    known = {(): "none", ("BertPreTokenizer",): "bert"}.get(tuple(part["type"] for part in parts))
    return {"pre_tokenizer": known} if known else {"pre_tokenizer": "other", "pre_tokenizer_parts": parts}


def _decoder(part: dict[str, Any] | None) -> dict[str, Any] | None:
    if part is None:
        return None
    kind = kind_of(part, "decoder")
    if kind != "WordPiece":
        raise UnsupportedError(f"decoder {cut(kind)}: only WordPiece is supported")
    _only(part, "decoder", "type prefix cleanup")
    prefix, cleanup = (field_of(part, name, "decoder") for name in ("prefix", "cleanup"))
    if not isinstance(prefix, str) or not isinstance(cleanup, bool):
        raise ValueError("a decoder's prefix is a string, and its cleanup true or false")
    return {"prefix": prefix, "cleanup": cleanup}


def _checked(vocabulary: Vocabulary, where: str) -> Vocabulary:
    """Refuse what would only fail later, or silently."""
    if not vocabulary.tokens:
        raise VocabularyError(f"{where} is empty")
    for name, kind, said in SETTINGS:
        if not isinstance(getattr(vocabulary, name), kind):
            raise VocabularyError(f"{where}: {name} is {quoted(getattr(vocabulary, name))}; it is {said}")
    for name, rule in RULES.items():
        if not rule.holds(getattr(vocabulary, name)):
            raise VocabularyError(f"{where}: {name} is {quoted(getattr(vocabulary, name))}; it is {rule.expected}")
    for token, number in [*vocabulary.tokens.items(), *vocabulary.added_ids.items()]:
        if not isinstance(token, str) or (not token.isascii() and any("\ud800" <= char <= "\udfff" for char in token)):
            raise VocabularyError(f"{where}: token {quoted(token)} is not text")
        if type(number) is not int or not 0 <= number <= MAX_OUTPUT:
            token_id = f"token {quoted(token)} has the id {quoted(number)}"
            raise VocabularyError(f"{where}: {token_id}; ids are whole numbers from 0 to {MAX_OUTPUT}")
    if vocabulary.unk_token not in vocabulary.tokens:
        raise VocabularyError(
            f"{where} does not hold the unknown token {quoted(vocabulary.unk_token)}; add it, or name the right one with unk_token"
        )
    known = {*vocabulary.tokens.values(), *vocabulary.added_ids.values()}
    for number in around(vocabulary.single) + around(vocabulary.pair):
        if type(number) is not int or number not in known:
            raise VocabularyError(f"{where}: the post-processor adds the id {quoted(number)}, which no token has")
    others = vocabulary.pre_tokenizer == "other" and vocabulary.pre_tokenizer_parts is not None
    if vocabulary.pre_tokenizer not in ("bert", "none") and not others:
        raise UnsupportedError(f"pre_tokenizer {quoted(vocabulary.pre_tokenizer)}: there are 'bert' and 'none'")
    limit = vocabulary.max_input_chars_per_word
    if type(limit) is not int or not 0 <= limit <= MAX_WORD:
        raise VocabularyError(f"{where}: max_input_chars_per_word is {quoted(limit)}; it is a whole number from 0 to {MAX_WORD}")
    return vocabulary
