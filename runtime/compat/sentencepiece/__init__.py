"""The stand-in for a ``SentencePieceProcessor``."""
