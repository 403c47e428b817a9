"""Convert texts to model inputs, with the arguments of ``transformers``."""
