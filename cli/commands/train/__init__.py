"""`fst train`: vocabularies from texts."""
