"""Suggestions for misspelled words."""
