"""Stand-ins for the tokenizers of ``transformers``: the same calls, the same results."""
