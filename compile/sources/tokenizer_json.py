"""Read a ``tokenizer.json``, and refuse unsupported features by name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from fst.compile.patterns import code_points, parser
from fst.compile.patterns.tree import Characters, Node, Repeat
from fst.compile.pretokens import metaspace, splits
from fst.compile.sources import kinds
from fst.compile.sources.inputs import ADDED, CONFIG, MERGES, MODEL, SPECIALS
from fst.compile.sources.pretrained.conventions import model_input_names, named_tokens, side
from fst.compile.sources.templates import of_post_processor, trimming
from fst.compile.text.added_tokens import added_tokens
from fst.compile.text.components import Component, field_of, kind_of, only, sequence
from fst.compile.text.source import NO_SETTINGS, Source, Trimming
from fst.errors import UnsupportedError, VocabularyError, counted, cut, listed, quoted, reason
from fst.tables.decoder_steps import BYTES, KNOWN, METASPACE, Step, are_steps, byte_of, plan
from fst.tables.header import BYTE_LEVEL, AnyDecoder, Decoder, StepsDecoder

HALVINGS = 31  # number of steps that each halve a run; no token has more than 1 << HALVINGS characters, so one character of a run is left


def of_document(source: Any, path: Path, kind: str | None = None) -> Source[Any]:
    """Make a source from a parsed ``tokenizer.json``. `path`: the name of the file in messages. `kind`: the required kind of model, or
    None.
    """
    if not isinstance(source, dict):
        tokens = "; write tokens one a line into a vocab.txt" if isinstance(source, list) else ""
        raise VocabularyError(f"{path} is not laid out as a tokenizer.json: it is not a JSON object, but {quoted(source)}{tokens}")
    other = _other(source, path)
    if other:
        raise VocabularyError(f"{path} {other}")
    try:
        return _of_parts(source, kind)
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError) as error:
        raise VocabularyError(f"{path} is not laid out as a tokenizer.json: {reason(error)}") from None


def _other(source: dict[str, Any], path: Path) -> str | None:
    """A description of a JSON object that was passed by mistake as a tokenizer.json, and the remedy; None if it may be a tokenizer.json."""
    if path.name in (CONFIG, SPECIALS, ADDED, MODEL):
        return f"is one of several files of a tokenizer, and contains no vocabulary: compile their folder, {path.parent}"
    if source and all(type(number) is int for number in source.values()):
        return f"maps {counted(len(source), 'token')} to ids, as GPT-2's vocab.json does: compile its folder, with the {MERGES} in it"
    if "model" in source:
        return None
    return "is not laid out as a tokenizer.json: it has no 'model'" + (f", but {listed(source)}" if source else "")


def _of_parts(source: dict[str, Any], kind: str | None) -> Source[Any]:
    only(source, "tokenizer.json", "version truncation padding added_tokens normalizer pre_tokenizer post_processor decoder model")
    if source.get("version", "1.0") != "1.0":
        raise UnsupportedError(f"tokenizer.json version {quoted(source['version'])}: only 1.0 is known")
    found, part = kinds.kind_and_model(source)
    kinds.need_kind(found.name, kind)
    text = found.text(source.get("normalizer"), source.get("pre_tokenizer"))
    model = found.read(part, text)
    added = added_tokens(source.get("added_tokens") or [], model.tokens)
    templates = of_post_processor(source.get("post_processor"))
    decoder = _decoder_of(source.get("decoder"), found.decoder, [*model.tokens, *added.ids])
    trimmed = trimming(source.get("post_processor"))
    if found.decoder == BYTE_LEVEL.kind and splits.BYTES not in text.pre_tokenizers:
        _need_no_letters_for_bytes(found.name, decoder, trimmed)
    truncation, padding = source.get("truncation"), source.get("padding")
    settings = replace(
        NO_SETTINGS,
        decoder=decoder,
        truncation=truncation,
        padding=padding,
        named_tokens=named_tokens(added.ids, model.unk_token, padding),
        model_input_names=model_input_names(templates.pair, found.name),
        truncation_side=side(truncation),
        padding_side=side(padding),
    )
    return Source(model, text, added, templates, settings, trimmed)


def _need_no_letters_for_bytes(kind: str, decoder: AnyDecoder | None, trimmed: Trimming | None) -> None:
    """Refuse components that interpret letters of tokens as bytes, if the letters are characters and tables of this kind need bytes."""
    reads_letters = decoder == BYTE_LEVEL and kind != kinds.BPE.name
    for name, found in (("decoder ByteLevel", reads_letters), ("post_processor with trim_offsets", trimmed is not None)):
        if found:
            raise UnsupportedError(f"{name} without a pre_tokenizer ByteLevel, though it takes letters for bytes")


def _decoder_of(part: Component | None, supported: str, names: Collection[str]) -> AnyDecoder | None:
    """Convert the decoder of a file. `part`: the decoder in the file; None if the file has none. `supported`: the type of decoder that
    tables of this kind of model support, beside WordPiece and steps (`fst.tables.decoder_steps`). `names`: the tokens of the vocabulary,
    and the added tokens.
    """
    if part is None:
        return None
    parts = _flat(part)
    types = [kind_of(found, "decoder") for found in parts]
    if types == [Decoder.kind]:
        return _wordpiece(parts[0])
    has_bytes = any(byte_of(name) is not None for name in names)
    if types == [supported] or (types == [BYTES, supported] and not has_bytes):
        return _byte_level(parts[-1])
    for kind in types:
        if kind not in KNOWN:
            others = "" if len(parts) == 1 else " in a Sequence with others"
            alone = " and ".join(dict.fromkeys((Decoder.kind, supported)))
            raise UnsupportedError(f"decoder {cut(kind)}{others}: supported are {alone} alone, and {', '.join(KNOWN)}")
    steps = [step for place, found in enumerate(parts) for step in _steps(found, is_first=place == 0)]
    if not are_steps(steps):
        raise ValueError(f"the decoder has a step that is malformed, or too many of them: {quoted(steps)}")
    if plan(steps) is None and not has_bytes:
        steps = [step for step in steps if step["type"] != BYTES]  # which changes nothing, so that a stream may decode
    return StepsDecoder(tuple(steps))


def _flat(part: Component) -> list[Component]:
    """The decoders of a sequence in order, including those of nested sequences."""
    if kind_of(part, "decoder") != "Sequence":
        return [part]
    inner = sequence(field_of(part, "decoders", "decoder"), "decoders of a decoder Sequence")
    return [found for each in inner for found in _flat(each)]


def _byte_level(part: Component) -> Decoder:
    only(part, "decoder", "type add_prefix_space trim_offsets use_regex")
    return BYTE_LEVEL


def _wordpiece(part: Component) -> Decoder:
    only(part, "decoder", "type prefix cleanup")
    prefix, cleanup = (field_of(part, name, "decoder") for name in ("prefix", "cleanup"))
    if not isinstance(prefix, str) or not isinstance(cleanup, bool):
        raise ValueError("a decoder's prefix is a string, and its cleanup true or false")
    return Decoder(prefix, cleanup)


def _steps(part: Component, *, is_first: bool) -> list[Step]:
    """Check that a decoder step has exactly the fields of its type, and return the step; for a Replace of a pattern, the equivalent steps.
    `is_first`: whether the step reads tokens of the vocabulary, in which runs are not longer than `HALVINGS` allows.
    """
    if part["type"] == METASPACE:
        return [metaspace.of_decoder(part)]
    only(part, "decoder", " ".join(("type", *KNOWN[part["type"]])))
    found = {"type": part["type"], **{name: field_of(part, name, f"decoder {part['type']}") for name in KNOWN[part["type"]]}}
    pattern = found.get("pattern")
    if not isinstance(pattern, dict) or pattern.keys() != {"Regex"} or not isinstance(pattern["Regex"], str):
        return [found]
    char, is_run = _replaced(parser.parse(pattern["Regex"]))
    if not char or (is_run and not is_first):
        expected = "expected a String, or as the first decoder a run of one character, such as ' +'"
        raise UnsupportedError(f"decoder Replace of {quoted(pattern)}: {expected}")
    shorter = {**found, "pattern": {"String": char * 2}, "content": char}  # makes each run half as long
    return [*[shorter] * (HALVINGS * is_run), {**found, "pattern": {"String": char}}]


def _replaced(tree: Node) -> tuple[str, bool]:
    """The character that a pattern matches, and whether it matches runs of this character; an empty string for any other pattern."""
    if isinstance(tree, Repeat) and (tree.least, tree.most, tree.lazy) == (1, None, False):
        char, is_run = _replaced(tree.body)
        return "" if is_run else char, True
    is_one = isinstance(tree, Characters) and code_points.members(tree.edges).size == 1
    return (chr(code_points.members(tree.edges)[0]) if is_one and isinstance(tree, Characters) else ""), False
