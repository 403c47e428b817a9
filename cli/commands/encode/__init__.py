"""`fst encode`: turn documents into token ids."""
