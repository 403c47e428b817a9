"""The compiler of Unigram models into tables."""
