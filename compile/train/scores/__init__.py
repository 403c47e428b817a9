"""Training of WordPiece by score: pairs whose parts rarely occur in other pairs are merged first."""
