"""The compiler of WordPiece: a vocabulary becomes a table."""
