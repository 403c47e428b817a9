"""A stand-in for the ``SentencePieceProcessor`` of ``sentencepiece``."""
