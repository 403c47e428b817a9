"""`fst train`: train vocabularies on texts."""
