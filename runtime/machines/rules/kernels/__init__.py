"""Kernels of rewrite rules."""
