"""Spell checking with a lexicon and an error model."""
