"""Pre-tokens: the splitting of texts, and a table of the words that are one token."""
