"""The text of a token in the decoder of WordPiece, as in ``tokenizers``."""

from __future__ import annotations

from fst.tables.header import Decoder

CLEANED = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def cleaned(piece: str) -> str:
    """The text of a token, after the spaces before punctuation and contractions are removed.

    Examples:
        >>> cleaned(" n't")
        "n't"
    """
    for old, new in CLEANED:
        piece = piece.replace(old, new)
    return piece


def piece_of(token: str, decoder: Decoder | None) -> str:
    """The text that a token adds to a decoded text, if it is not the first.

    Args:
        token: the token.
        decoder: the settings of the decoder; None: tokens are joined with spaces.

    Examples:
        >>> decoder = Decoder(prefix="##", cleanup=True)
        >>> piece_of("un", decoder), piece_of("##able", decoder), piece_of("!", decoder)
        (' un', 'able', '!')
    """
    if decoder is None:
        return f" {token}"
    token = token.removeprefix(decoder.prefix) if token.startswith(decoder.prefix) else f" {token}"
    return cleaned(token) if decoder.cleanup else token


def first_piece_of(token: str, decoder: Decoder | None) -> str:
    """The text of a token that is the first of a decoded text."""
    return cleaned(token) if decoder and decoder.cleanup else token
