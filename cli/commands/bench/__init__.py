"""`fst bench`: the speed and the token counts of a table, and a comparison with other tokenizers."""
