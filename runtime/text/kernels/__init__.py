"""Kernels over text before it is split."""
