"""Kernels of Unigram."""
