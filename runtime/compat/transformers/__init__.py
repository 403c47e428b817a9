"""Stand-ins for the tokenizers of ``transformers``: same calls, same results."""
