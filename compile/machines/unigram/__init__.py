"""The compiler of Unigram: scores become a table."""
