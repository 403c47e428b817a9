"""The clean-up of pieces of text by the decoder of WordPiece, like that of ``tokenizers``."""

from __future__ import annotations

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
