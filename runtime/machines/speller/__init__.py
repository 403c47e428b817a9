"""Spell checking with compiled dictionaries of Hunspell."""
