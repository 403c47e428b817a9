"""The tokenizer of Unigram tables."""
