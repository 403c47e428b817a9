"""Training of Unigram: pieces with scores, pruned from all frequent substrings."""
