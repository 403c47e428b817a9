"""Spell checking by dictionaries of Hunspell: the table, its proof, and the kernels that decide whether a word is correct."""
