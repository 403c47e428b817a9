"""Counted words, the input for training of vocabularies."""
