"""WordPiece at run time."""
