"""The trainers, which make vocabularies from words and their counts."""
