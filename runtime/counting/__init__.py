"""Counting of words in documents, from which trainers make vocabularies."""
