"""The compiler of byte-pair encoding: merges become a table."""
