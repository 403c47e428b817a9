"""Read SentencePiece models."""
