"""The compiler of byte-pair encoding: merges into a table."""
