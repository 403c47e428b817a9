"""Join tokens into a text, like the decoders of ``tokenizers``."""

from __future__ import annotations

from collections.abc import Sequence

from fst.tables.cleanup import cleaned
from fst.tables.decoder_steps import joined
from fst.tables.header import AnyDecoder, StepsDecoder


def decoded(tokens: Sequence[str], decoder: AnyDecoder | None) -> str:
    """Join tokens into a text.

    Args:
        tokens: the tokens.
        decoder: the settings of the decoder; None: join the tokens with spaces.

    Examples:
        >>> from fst.tables.header import Decoder
        >>> decoded(["un", "##able", "!"], Decoder(prefix="##", cleanup=True))
        'unable!'
    """
    if decoder is None:
        return " ".join(tokens)
    if isinstance(decoder, StepsDecoder):
        return joined(decoder.steps, tokens)
    prefix = decoder.prefix
    continued = (token.removeprefix(prefix) if token.startswith(prefix) else f" {token}" for token in tokens[1:])
    pieces = [*tokens[:1], *continued]
    return "".join(map(cleaned, pieces) if decoder.cleanup else pieces)
