"""Stand-ins for the tokenizers of ``tokenizers`` and ``transformers``, with the same methods and results."""
