"""Compile dictionaries of Hunspell for spell checking."""
