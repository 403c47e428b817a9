"""Kernels that compile token masks."""
