"""A stand-in for the ``Encoding`` of ``tiktoken``."""
