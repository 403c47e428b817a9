"""Training with SentencePiece's results and files."""
