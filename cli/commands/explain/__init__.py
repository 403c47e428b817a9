"""`fst explain`: show step by step how a text becomes tokens."""
