"""Models of SentencePiece."""
