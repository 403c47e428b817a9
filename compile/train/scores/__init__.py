"""Training of WordPiece by score."""
