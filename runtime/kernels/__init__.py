"""Kernels: compiled functions over arrays."""
