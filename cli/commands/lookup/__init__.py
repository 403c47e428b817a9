"""`fst lookup`: look up words in a transducer."""
