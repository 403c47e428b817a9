"""Kernels that normalize text, convert it to symbols, and search it for pre-tokens."""
