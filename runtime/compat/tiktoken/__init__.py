"""The stand-in for a ``tiktoken.Encoding``."""
