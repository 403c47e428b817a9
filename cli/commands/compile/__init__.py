"""`fst compile`: compile sources into tables."""
