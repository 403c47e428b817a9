"""Kernels of token masks."""
