"""`fst bench`: speed and counts of a table, and a comparison with other tokenizers."""
