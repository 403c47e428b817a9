"""Normalization of texts before kernels read them, and decoding of ids to text."""
