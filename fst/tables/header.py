"""The metadata of a table: options, run-time data, and the settings of the source.

Modules read the metadata as objects of these classes, never by the keys of the JSON. Files are not trusted, so every value is checked when
it is read. Values that depend on the arrays are checked by the proof of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, TypeVar, cast, get_type_hints

from fst.automata.rows import CODE_POINTS, MAX_LABEL, MAX_NEXT, MAX_OUTPUT, MAX_WORD
from fst.core.json_fields import (
    FLAG,
    TEXT,
    TEXTS,
    Json,
    Rule,
    is_text,
    is_whole,
    one_of,
    optional,
    or_null,
    read,
    record,
    rules,
    stored_as,
    stored_unless_none,
    whole,
    written,
)
from fst.errors import TableError, listed
from fst.tables.decoder_steps import Steps, are_steps
from fst.tables.ids import IDS, TOKEN_IDS, are_ids
from fst.tables.leading_codes import LEADING_CODES, LeadingCodes
from fst.tables.words_decoder import WordsDecoder

LAYOUTS = COMPACT, LINKED = "compact", "linked"
SIDES = ("right", "left")
FLAGS = ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars")  # the settings of BertNormalizer
CONTEXTUAL_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")  # the flags of a contextual added token, named as in tokenizer.json
FIRST, SECOND = "A", "B"  # the names of the texts in a template
MAX_TYPE_ID = (1 << 31) - 1
MAX_MODEL_LENGTH = 10**9  # a larger `model_max_length` means "no limit" in ``transformers``
MAX_DEPTH = 32  # maximum depth of nested lists and mappings in a component
MAX_TEMPLATES = 1 << 20  # maximum total number of characters in the chat templates of a vocabulary
MAX_SIZE, MAX_NUMBER = (1 << 64) - 1, (1 << 32) - 1  # the highest sizes and ids for truncation and padding in the reference

SIDE = one_of(*SIDES)


@dataclass(frozen=True)
class Automaton:
    """The layout of the rows.

    Attributes:
        kind: the kind of machine.
        layout: "compact" or "linked".
        states: the number of states.
        columns: 1 more than the highest label of a class.
        dead: the dead state. A word that reaches the dead state has no segmentation.
    """

    kind: str = stored_as(TEXT)
    layout: str = stored_as(one_of(*LAYOUTS))
    states: int = stored_as(whole(1, MAX_NEXT))
    columns: int = stored_as(whole(1, MAX_LABEL))
    dead: int = stored_as(whole(0, MAX_NEXT))


@dataclass(frozen=True)
class Model:
    """The model. The fields are named as in Hugging Face's ``tokenizers``.

    Attributes:
        unk_id, unk_token: the token for a word without a segmentation.
        model_tokens: the number of tokens of the model; the other tokens of the table are added tokens.
        continuing_subword_prefix: the first characters of a token that continues a word.
        max_input_chars_per_word: the maximum number of characters of a word; a longer word becomes one unknown token.
        trims_offsets: whether offsets exclude whitespace at the ends of tokens. If so, no token of the model begins or ends with
            whitespace.
    """

    unk_id: int = stored_as(whole(0, MAX_OUTPUT))
    unk_token: str = stored_as(TEXT)
    model_tokens: int = stored_as(whole(1, 1 << 31))
    continuing_subword_prefix: str = stored_as(TEXT)
    max_input_chars_per_word: int = stored_as(whole(0, MAX_WORD))
    trims_offsets: bool = stored_as(FLAG)


def _is_components(value: Any) -> bool:
    """Whether a value is a list of JSON mappings without fractional numbers, at most `MAX_DEPTH` levels deep."""
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        return False
    level: list[Any] = value
    for _ in range(MAX_DEPTH):
        if not all(isinstance(held, dict | list | int | None) or is_text(held) for held in level):
            return False
        inner = ([*held, *held.values()] if isinstance(held, dict) else held for held in level if isinstance(held, dict | list))
        level = [held for values in inner for held in values]
    return not level


COMPONENTS = or_null(Rule(_is_components, "a list of mappings that hold strings, whole numbers, true, false and null", write=list))


def form_of(kind: Any) -> Rule:
    """The rule for a field that is null or the JSON form of an object, whose class has the methods `stored` and `from_stored`."""
    return or_null(Rule(lambda value: isinstance(value, dict), "a mapping", kind.from_stored, lambda value: value.stored()))


@dataclass(frozen=True)
class PreTokenizer:
    """The splitting of text into words.

    Attributes:
        name: "bert": split at spaces and punctuation; "none": do not split; "other": split as `parts` define.
        parts: the components, unless the only component is a BertPreTokenizer.
    """

    name: str = stored_as(one_of("bert", "none", "other"), "pre_tokenizer")
    parts: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "pre_tokenizer_parts")


@dataclass(frozen=True)
class ContextualToken:
    """An added token that is found in normalized text, or depending on the characters next to it.

    Attributes:
        id: the token's id.
        single_word: the token is recognized only if no letter, digit, mark or underscore is next to it.
        lstrip, rstrip: the token includes the whitespace before it (lstrip) or after it (rstrip).
        normalized: whether the token is found in normalized text, not in raw text.
        decoded: the spelling of the token in decoded text.
    """

    id: int = stored_as(whole(0, MAX_OUTPUT))
    single_word: bool = stored_as(FLAG)
    lstrip: bool = stored_as(FLAG)
    rstrip: bool = stored_as(FLAG)
    normalized: bool = stored_as(FLAG)
    decoded: str = stored_as(TEXT)


TOKEN = record(ContextualToken, "an id, four flags, and 'decoded', a string")
CONTEXTUAL = Rule(
    lambda value: isinstance(value, dict) and all(content and is_text(content) and TOKEN.holds(token) for content, token in value.items()),
    f"a mapping of non-empty tokens to mappings, each with {TOKEN.expected}",
    lambda value: {content: TOKEN.read(token) for content, token in value.items()},
    lambda tokens: {content: TOKEN.write(token) for content, token in tokens.items()},
)


def _is_code_points(value: Any) -> bool:
    return isinstance(value, list) and len(value) % 2 == 0 and all(is_whole(code, 0, CODE_POINTS - 1) for code in value)


def _is_ascending(value: Any) -> bool:
    """Whether a value is a list of the first and last code points of ascending runs."""
    ascend = _is_code_points(value) and all(last < first for last, first in zip(value[1::2], value[2::2], strict=False))
    return ascend and all(first <= last for first, last in zip(value[0::2], value[1::2], strict=True))


RUNS = Rule(_is_ascending, "first and last code points of runs, ascending")


@dataclass(frozen=True)
class Context:
    """The sets of characters that determine whether a contextual token next to such a character is recognized. A set is stored as runs: the
    first and the last code point of each run.

    Attributes:
        word: the characters that are parts of words, for `single_word`.
        begins_word, ends_word: characters whose first (or last) symbol is part of a word.
        spaced: characters whose symbols begin or end with a space.
        mixed: characters with symbols that are parts of words, and symbols that are not. A row is a code point, and the index of a symbol
            that is part of a word.
    """

    word: Sequence[int] = stored_as(RUNS)
    begins_word: Sequence[int] = stored_as(RUNS)
    ends_word: Sequence[int] = stored_as(RUNS)
    spaced: Sequence[int] = stored_as(RUNS)
    mixed: Sequence[int] = stored_as(Rule(_is_code_points, "pairs of numbers below 0x110000"))


CONTEXT = record(Context, "a mapping of 'word', 'begins_word', 'ends_word' and 'spaced' to ascending runs, and of 'mixed' to pairs")


@dataclass(frozen=True)
class AddedTokens:
    """Tokens that are cut out of a text before the model reads it.

    Attributes:
        specials: the tokens that are found at any position in raw text, and their ids.
        contextual: all other added tokens.
        context: the context of the contextual tokens; None if there are no contextual tokens.
        skipped: the ids that decoding leaves out.
        normalized: the ids of special tokens with the flag ``normalized`` in the source. No normalizer changes these tokens.
        leading: the codes at the start of a text; None if there are none.
    """

    specials: Mapping[str, int] = stored_as(TOKEN_IDS)
    contextual: Mapping[str, ContextualToken] = stored_as(CONTEXTUAL, "late")
    context: Context | None = stored_as(
        Rule(
            lambda value: value == {} or CONTEXT.holds(value),
            f"an empty mapping or {CONTEXT.expected}",
            lambda value: CONTEXT.read(value) if value else None,
            lambda context: {} if context is None else CONTEXT.write(context),
        )
    )
    skipped: Sequence[int] = stored_as(IDS)
    normalized: Sequence[int] = stored_as(IDS, "normalized_specials")
    leading: LeadingCodes | None = stored_unless_none(LEADING_CODES)

    @property
    def ids(self) -> dict[str, int]:
        """The id of each token."""
        return {**self.specials, **{content: token.id for content, token in self.contextual.items()}}

    def listed(self) -> list[Json]:
        """The tokens in the format of a ``tokenizer.json``, sorted by id."""
        plain, normalized, skipped = dict.fromkeys(CONTEXTUAL_FLAGS, False), {*self.normalized}, {*self.skipped}
        flags = {content: {**plain, "normalized": number in normalized} for content, number in self.specials.items()}
        flags |= {content: {flag: getattr(token, flag) for flag in CONTEXTUAL_FLAGS} for content, token in self.contextual.items()}
        by_id = sorted(self.ids.items(), key=lambda token: token[1])
        return [{"id": number, **flags[content], "content": content, "special": number in skipped} for content, number in by_id]


# special ids, or the name of a text (`FIRST` or `SECOND`); and the type id of all ids of this piece
Piece = tuple[tuple[int, ...] | str, int]
Template = tuple[Piece, ...]


def _is_template(value: Any, texts: list[str]) -> bool:
    if not isinstance(value, list) or len(value) > MAX_LABEL:
        return False
    if not all(isinstance(piece, list) and len(piece) == 2 and is_whole(piece[1], 0, MAX_TYPE_ID) for piece in value):
        return False
    contents = [content for content, _ in value]
    around = [content for content in contents if not isinstance(content, str)]
    named = sorted(content for content in contents if isinstance(content, str))
    return named == texts and all(map(are_ids, around)) and sum(map(len, around)) <= MAX_LABEL


def _template(*texts: str) -> Rule:
    return Rule(
        lambda value: _is_template(value, list(texts)),
        f"a list of pieces, [token ids, type id] or [text, type id], with the text {' and '.join(map(repr, texts))} once",
        lambda value: tuple((content if isinstance(content, str) else tuple(content), type_id) for content, type_id in value),
        lambda pieces: [[content if isinstance(content, str) else list(content), type_id] for content, type_id in pieces],
    )


@dataclass(frozen=True)
class Templates:
    """The special ids around texts.

    Attributes:
        single: the template of one text.
        pair: the template of two texts.
    """

    single: Template = stored_as(_template(FIRST))
    pair: Template = stored_as(_template(FIRST, SECOND))


@dataclass(frozen=True)
class Decoder:
    """A decoder that joins tokens of WordPiece.

    Attributes:
        kind: the type of the decoder in a ``tokenizer.json``.
        prefix: the first characters of a token that continues the word before it.
        cleanup: whether spaces before punctuation and contractions are removed.
    """

    kind: ClassVar[str] = "WordPiece"
    prefix: str = stored_as(TEXT)
    cleanup: bool = stored_as(FLAG)


class ByteLevelDecoder(Decoder):
    """A decoder that joins byte-level tokens: the concatenated bytes are the text in UTF-8."""

    kind: ClassVar[str] = "ByteLevel"


BYTE_LEVEL = ByteLevelDecoder("", cleanup=False)


@dataclass(frozen=True)
class StepsDecoder:
    """A decoder that joins tokens in steps, see `fst.tables.decoder_steps`.

    Attributes:
        steps: the steps in the format of a ``tokenizer.json``.
    """

    steps: Steps = stored_as(Rule(are_steps, "a list of decoders in steps, as in a tokenizer.json", tuple, list))


AnyDecoder = Decoder | StepsDecoder | WordsDecoder
_BYTE_LEVEL_STORED = {"kind": ByteLevelDecoder.kind}
_WORDPIECE = record(Decoder, "a mapping with 'prefix', a string, and 'cleanup', true or false")


def _form(decoder: AnyDecoder) -> Json:
    if decoder == BYTE_LEVEL:
        return dict(_BYTE_LEVEL_STORED)
    form: Json = next(rule for kind, rule in _RULES.items() if isinstance(decoder, kind)).write(decoder)
    return form


_STEPS = record(StepsDecoder, "a mapping with 'steps', a list of decoders in steps")
_WORDS = record(WordsDecoder, "a mapping with 'joiner', 'replaced' and 'content', which are strings")
_RULES = {StepsDecoder: _STEPS, WordsDecoder: _WORDS, Decoder: _WORDPIECE}
DECODER = Rule(
    lambda value: value == _BYTE_LEVEL_STORED or any(rule.holds(value) for rule in _RULES.values()),
    f"{_BYTE_LEVEL_STORED}; or {'; or '.join(rule.expected for rule in _RULES.values())}",
    lambda value: BYTE_LEVEL if value == _BYTE_LEVEL_STORED else next(rule for rule in _RULES.values() if rule.holds(value)).read(value),
    _form,
)


def _is_truncation(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.get("direction", "Right") in ("Left", "Right")
        and value.get("strategy") in ("LongestFirst", "OnlyFirst", "OnlySecond")
        and all(is_whole(value.get(name), 0, MAX_SIZE) for name in ("max_length", "stride"))
    )


def _is_padding(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.get("direction") in ("Left", "Right")
        and _is_strategy(value.get("strategy"))
        and (value.get("pad_to_multiple_of") is None or is_whole(value["pad_to_multiple_of"], 0, MAX_SIZE))
        and all(is_whole(value.get(name), 0, MAX_NUMBER) for name in ("pad_id", "pad_type_id"))
        and is_text(value.get("pad_token"))
    )


def _is_strategy(value: Any) -> bool:
    fixed = isinstance(value, Mapping) and value.keys() == {"Fixed"} and is_whole(value["Fixed"], 0, MAX_SIZE)
    return fixed or value == "BatchLongest"


def _is_named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(is_text(name) and is_text(token) for name, token in value.items())


def _are_templates(value: Any) -> bool:
    return _is_named(value) and sum(map(len, value.values())) <= MAX_TEMPLATES


MAX_PLAIN = 1 << 20  # maximum number of values in a mapping of plain values, nested values included


def is_plain(value: Any) -> bool:
    """Whether a value is a mapping of strings to strings, whole numbers, true, false, null, and lists and mappings of such values, at most
    `MAX_DEPTH` levels deep.
    """
    if not isinstance(value, Mapping):
        return False
    level, count = [value], 0
    for _ in range(MAX_DEPTH):
        count += len(level)
        inner: list[Any] = []
        for held in level:
            if isinstance(held, Mapping):
                if not all(map(is_text, held)):
                    return False
                inner += held.values()
            elif isinstance(held, list):
                inner += held
            elif not isinstance(held, int | None) and not is_text(held):
                return False
        if not inner or count + len(inner) > MAX_PLAIN:
            return not inner
        level = inner
    return False


PLAIN = Rule(is_plain, "a mapping of names to strings, whole numbers, true, false, null, and lists and mappings of them", write=dict)


@dataclass(frozen=True)
class TokenizerClass:
    """The class of ``transformers`` that the source names, if objects of this class do more than a ``tokenizer.json`` describes.

    Attributes:
        name: the name of the class.
        attributes: the attributes of the object that only this class has, and the attributes whose value is not the default.
        options: the arguments of the class, except special tokens.
    """

    name: str = stored_as(TEXT)
    attributes: Mapping[str, Any] = stored_as(PLAIN)
    options: Mapping[str, Any] = stored_as(PLAIN)


TOKENIZER_CLASS = record(TokenizerClass, "a mapping with 'name', a string, and the mappings 'attributes' and 'options'")


@dataclass(frozen=True)
class Settings:
    """The settings of a vocabulary's source that do not affect ids. A table stores all settings. By default, calls use only `decoder`,
    `padding_side` and `truncation_side`.

    Attributes:
        decoder: the decoder; None: tokens are joined with spaces.
        truncation, padding: in the format of a ``tokenizer.json``.
        named_tokens: a mapping of names such as pad_token to tokens.
        extra_special_tokens: special tokens without a name.
        model_max_length: the maximum number of ids for the model; None if it is unknown.
        model_input_names: the model's inputs.
        padding_side, truncation_side: the side on which rows are padded and cut.
        clean_up_tokenization_spaces: whether spaces before punctuation are removed from decoded text.
        chat_templates: the text of each chat template, by the name of the template.
        tokenizer_class: the class of ``transformers``; None for a class without members of its own. Only `fst.hf` uses it.
    """

    decoder: AnyDecoder | None = stored_as(or_null(DECODER))
    truncation: Mapping[str, Any] | None = stored_as(
        or_null(Rule(_is_truncation, "a mapping with direction, max_length, strategy and stride, as in tokenizer.json"))
    )
    padding: Mapping[str, Any] | None = stored_as(
        or_null(Rule(_is_padding, "a mapping with direction, strategy, pad_id, pad_type_id and pad_token, as in tokenizer.json"))
    )
    named_tokens: Mapping[str, str] = stored_as(Rule(_is_named, "a mapping of names such as pad_token to tokens"))
    extra_special_tokens: Sequence[str] = stored_as(TEXTS)
    model_max_length: int | None = stored_as(or_null(whole(1, MAX_MODEL_LENGTH)))
    model_input_names: Sequence[str] = stored_as(TEXTS)
    padding_side: str = stored_as(SIDE)
    truncation_side: str = stored_as(SIDE)
    clean_up_tokenization_spaces: bool = stored_as(FLAG)
    chat_templates: Mapping[str, str] = stored_as(
        Rule(_are_templates, f"a mapping of names to chat templates of at most {MAX_TEMPLATES:,} characters together")
    )
    tokenizer_class: TokenizerClass | None = stored_unless_none(TOKENIZER_CLASS)


# the default reference, and two references with different ids
TOKENIZERS, SENTENCEPIECE, LLAMA_CPP = "tokenizers 0.23.3", "sentencepiece", "llama.cpp"
LLAMA_CPP_BERT = "LlamaCppBert"  # the type of the normalizer of GGUF models of the kind bert
TRANSFORMERS = "transformers 5.24.0"  # the reference of classes that run in Python
COUNTING = (TOKENIZERS, TRANSFORMERS)  # the references by which the id of the first added token is the number of tokens
RULES: Mapping[str, Rule] = {key: rule for _, key, rule in rules(Settings)}  # these rules also check the settings of sources


Known = TypeVar("Known", bound="Sections")


@cache
def _sections(metadata: type[Any]) -> Sequence[type[Any]]:
    """The type of each field of a dataclass."""
    types = get_type_hints(metadata)
    return [types[one.name] for one in fields(metadata)]


class Sections:
    """The metadata: a dataclass whose fields are sections, in the order of the file."""

    @classmethod
    def from_json(cls: type[Known], stored: Mapping[str, Any]) -> Known:
        """Read the metadata of a file."""
        sections = _sections(cast(Any, cls))
        keys = {key for section in sections for _, key, _ in rules(section)}
        if missing := sorted(keys - stored.keys() - {key for section in sections for key in optional(section)}):
            raise TableError(f"about lacks {listed(missing)}")
        if unknown := sorted(stored.keys() - keys):
            raise TableError(f"about has {', '.join(map(ascii, unknown)):.80}, which is unknown to this version")
        return cls(*(read(section, stored) for section in sections))

    def to_json(self) -> Json:
        """The JSON that `from_json` reads."""
        return {key: value for one in fields(cast(Any, self)) for key, value in written(getattr(self, one.name)).items()}
