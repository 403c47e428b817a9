"""`fst compile`: sources into tables."""
