"""The tokenizer of WordPiece tables."""
