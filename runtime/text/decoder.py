"""Join tokens into a text, like the decoders of ``tokenizers``."""

from __future__ import annotations

from collections.abc import Sequence

from fst.tables.cleanup import first_piece_of, piece_of
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
    if isinstance(decoder, StepsDecoder):
        return joined(decoder.steps, tokens)
    first = [first_piece_of(token, decoder) for token in tokens[:1]]
    return "".join(first + [piece_of(token, decoder) for token in tokens[1:]])
