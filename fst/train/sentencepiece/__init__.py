"""Trainers that learn the same pieces and scores as SentencePiece, and the writer of its files."""
