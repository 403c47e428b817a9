"""The compiler of WordPiece vocabularies into a table."""
