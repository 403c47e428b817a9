"""Training that learns the same pieces as SentencePiece, and files that SentencePiece can read."""
