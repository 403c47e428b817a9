"""Suggestions as Hunspell 1.7 gives them."""
