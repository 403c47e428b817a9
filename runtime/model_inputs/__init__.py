"""Conversion of texts to the inputs of a model, with the arguments of ``transformers``."""
