"""Training of Unigram."""
