"""Read the decoder of a ``tokenizer.json``."""

from __future__ import annotations

from fst.compile.pretokens import metaspace
from fst.compile.text.components import Component, field_of, kind_of, only, sequence
from fst.errors import UnsupportedError, cut, quoted
from fst.tables.decoder_steps import KNOWN, METASPACE, Step, are_steps
from fst.tables.header import BYTE_LEVEL, AnyDecoder, Decoder, StepsDecoder


def decoder_of(part: Component | None, supported: str) -> AnyDecoder | None:
    """Convert the decoder of a file.

    Args:
        part: the decoder in the file; None if the file has none.
        supported: the type of decoder that tables of this kind of model support. Unless it is WordPiece, steps (`fst.tables.decoder_steps`)
            are also supported.
    """
    if part is None:
        return None
    parts = _flat(part)
    kinds = [kind_of(found, "decoder") for found in parts]
    if kinds == [supported]:
        return _byte_level(parts[0]) if supported == BYTE_LEVEL.kind else _wordpiece(parts[0])
    if supported == Decoder.kind:
        raise UnsupportedError(f"decoder {cut(kind_of(part, 'decoder'))}: only {supported} is supported")
    for kind in kinds:
        if kind not in KNOWN:
            others = "" if len(parts) == 1 else " in a Sequence with others"
            raise UnsupportedError(f"decoder {cut(kind)}{others}: supported are {supported} alone, and {', '.join(KNOWN)}")
    steps = [_step(found) for found in parts]
    if not are_steps(steps):
        raise ValueError(f"the decoder has a step that is malformed, or too many of them: {quoted(steps)}")
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


def _step(part: Component) -> Step:
    """Check that a decoder step has exactly the fields of its type, and return the step."""
    if part["type"] == METASPACE:
        return metaspace.of_decoder(part)
    only(part, "decoder", " ".join(("type", *KNOWN[part["type"]])))
    found = {"type": part["type"], **{name: field_of(part, name, f"decoder {part['type']}") for name in KNOWN[part["type"]]}}
    if "Regex" in found.get("pattern", ()):
        raise UnsupportedError(f"decoder Replace of {quoted(found['pattern'])}: only Strings are supported")
    return found
