"""`fst encode`: documents into token ids."""
