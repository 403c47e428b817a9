"""Convert post-processors to templates, which describe the ids that are added around a text, or around the texts of a pair.

A template is a sequence of parts, each with a type id. A part is either the ids of special tokens, or "A" or "B", which represents a text.
If no special tokens are added, a text still gets the type id of its part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fst.compile.text.components import field_of, kind_of, sequence
from fst.compile.text.source import Trimming
from fst.errors import UnsupportedError, cut, listed, quoted
from fst.tables.header import FIRST, MAX_TYPE_ID, SECOND, Piece, Template, Templates

TEMPLATE = "a template of TemplateProcessing"
BYTE_LEVEL = "ByteLevel"  # a post-processor of this type adds no ids
FIELDS = {"cls", "sep", "trim_offsets", "add_prefix_space", "use_regex", "single", "pair", "special_tokens", "processors"}


BARE = Templates(((FIRST, 0),), ((FIRST, 0), (SECOND, 1)))


def bert(cls: int, sep: int) -> Templates:
    """BERT's templates.

    Examples:
        >>> bert(101, 102).single
        (((101,), 0), ('A', 0), ((102,), 0))
    """
    single: Template = ((cls,), 0), (FIRST, 0), ((sep,), 0)
    return Templates(single, (*single, (SECOND, 1), ((sep,), 1)))


def roberta(cls: int, sep: int) -> Templates:
    """RoBERTa's templates: two separators between the texts of a pair, and no type ids.

    Examples:
        >>> roberta(0, 2).pair
        (((0,), 0), ('A', 0), ((2,), 0), ((2,), 0), ('B', 0), ((2,), 0))
    """
    single: Template = ((cls,), 0), (FIRST, 0), ((sep,), 0)
    return Templates(single, (*single, ((sep,), 0), (SECOND, 0), ((sep,), 0)))


def after(eos: int) -> Templates:
    """Templates with one token after each text, as in fairseq.

    Examples:
        >>> after(2).pair
        (('A', 0), ((2,), 0), ('B', 1), ((2,), 1))
    """
    single: Template = (FIRST, 0), ((eos,), 0)
    return Templates(single, (*single, (SECOND, 1), ((eos,), 1)))


def before(token: int) -> Templates:
    """Templates with one token before each text, as in BioGPT.

    Examples:
        >>> before(2).pair
        (((2,), 0), ('A', 0), ((2,), 0), ('B', 1))
    """
    single: Template = ((token,), 0), (FIRST, 0)
    return Templates(single, (*single, ((token,), 0), (SECOND, 1)))


def of_post_processor(part: Mapping[str, Any] | None) -> Templates:
    """Convert the post-processor of a tokenizer.json to templates."""
    if part is None:
        return BARE
    kind = kind_of(part, "post_processor")
    if kind not in POST_PROCESSORS:
        raise UnsupportedError(f"post_processor {cut(kind)}: only {', '.join(POST_PROCESSORS)} are supported")
    return POST_PROCESSORS[kind](part)


def trimming(part: Mapping[str, Any] | None) -> Trimming | None:
    """How a post-processor, which `of_post_processor` accepts, trims the offsets of tokens; None if it does not trim offsets."""
    processors = _processors(part)
    places = [place for place, one in enumerate(processors) if one.get("trim_offsets")]
    if not places:
        return None
    if len(places) > 1 or any(one["type"] != BYTE_LEVEL for one in processors[: places[0]]):
        raise UnsupportedError("post_processor Sequence with trim_offsets twice, or after a processor that adds ids")
    return Trimming(processors[places[0]]["add_prefix_space"])


def _processors(part: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The post-processors of a Sequence, including those of nested Sequences; or the single post-processor."""
    if part is None:
        return []
    return [one for inner in part["processors"] for one in _processors(inner)] if part["type"] == "Sequence" else [part]


def added_ids(template: Template) -> list[int]:
    """The ids that a template adds, in order."""
    return [number for content, _ in template if not isinstance(content, str) for number in content]


def _of_bert(part: Mapping[str, Any]) -> Templates:
    cls, sep = map(_id, _fields(part, "cls", "sep"))
    return bert(cls, sep)


def _of_roberta(part: Mapping[str, Any]) -> Templates:
    cls, sep, *flags = _fields(part, "cls", "sep", "trim_offsets", "add_prefix_space")
    _need_flags(flags)
    return roberta(_id(cls), _id(sep))


def _of_byte_level(part: Mapping[str, Any]) -> Templates:
    _need_flags(_fields({"use_regex": True, **part}, "trim_offsets", "add_prefix_space", "use_regex"))
    return BARE


def _need_flags(flags: Sequence[Any]) -> None:
    if not all(isinstance(flag, bool) for flag in flags):
        raise ValueError("trim_offsets and add_prefix_space are true or false")


def _of_template(part: Mapping[str, Any]) -> Templates:
    *templates, special_tokens = _fields(part, "single", "pair", "special_tokens")
    single, pair = (tuple(_piece(piece, special_tokens) for piece in sequence(template, TEMPLATE)) for template in templates)
    if _texts(single) != [FIRST]:
        raise UnsupportedError("post_processor TemplateProcessing whose 'single' does not have its text exactly once")
    if sorted(_texts(pair)) != [FIRST, SECOND]:
        raise UnsupportedError("post_processor TemplateProcessing whose 'pair' does not have each of its texts exactly once")
    return Templates(single, pair)


def _of_sequence(part: Mapping[str, Any]) -> Templates:
    processors = sequence(_fields(part, "processors")[0], "processors of a post_processor Sequence")
    found = [(of_post_processor(one), one) for one in processors]
    adding = [templates for templates, one in found if any(inner["type"] != BYTE_LEVEL for inner in _processors(one))]
    if len(adding) > 1:
        raise UnsupportedError(f"post_processor Sequence of {len(adding)} that add ids: only one is supported")
    return adding[0] if adding else BARE


POST_PROCESSORS: Mapping[str, Callable[[Mapping[str, Any]], Templates]] = {
    "TemplateProcessing": _of_template,
    "BertProcessing": _of_bert,
    "RobertaProcessing": _of_roberta,
    BYTE_LEVEL: _of_byte_level,
    "Sequence": _of_sequence,
}


def _fields(part: Mapping[str, Any], *names: str) -> list[Any]:
    """The fields of a post-processor. Fields of another post-processor are refused, because `tokenizers` determines the type by the fields;
    it ignores all other fields.
    """
    others = sorted(part.keys() & FIELDS - {*names})
    if others:
        raise UnsupportedError(f"{part['type']} has {listed(others)}, which another post_processor has; remove it")
    return [field_of(part, name, part["type"]) for name in names]


def _id(named: Any) -> Any:
    if not isinstance(named, list) or len(named) != 2:
        raise ValueError(f"post_processor has {quoted(named)} for a special token; it must be a list of a token and its id")
    return named[1]


def _piece(piece: Any, special_tokens: Any) -> Piece:
    kind = next((kind for kind in ("Sequence", "SpecialToken") if isinstance(piece, Mapping) and piece.keys() == {kind}), None)
    if kind is None:
        raise ValueError(f"{TEMPLATE} has the piece {quoted(piece)}; it must be a mapping of Sequence or of SpecialToken")
    type_id, name = (field_of(piece[kind], field, f"{kind} in {TEMPLATE}") for field in ("type_id", "id"))
    if type(type_id) is not int or not 0 <= type_id <= MAX_TYPE_ID:
        raise ValueError(f"type_id {quoted(type_id)} is not a whole number from 0 to {MAX_TYPE_ID}")
    if not isinstance(name, str):
        raise ValueError(f"{kind} in {TEMPLATE} has {quoted(name)} for its id; it must be a string")
    if kind == "Sequence":
        return name, type_id
    token = field_of(special_tokens, name, "special_tokens of TemplateProcessing")
    return tuple(sequence(field_of(token, "ids", f"special token {quoted(name)}"), f"ids of the special token {quoted(name)}")), type_id


def _texts(template: Template) -> list[str]:
    return [content for content, _ in template if isinstance(content, str)]
