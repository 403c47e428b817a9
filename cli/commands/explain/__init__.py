"""`fst explain`: a text into tokens, step by step."""
