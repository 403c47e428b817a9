"""Kernels over pre-tokens."""
