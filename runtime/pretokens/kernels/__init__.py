"""Kernels that find pre-tokens, look them up and write their spans."""
