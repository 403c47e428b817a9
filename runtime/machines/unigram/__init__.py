"""Unigram at run time."""
