"""Texts to model inputs, with the arguments of ``transformers``."""
