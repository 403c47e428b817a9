"""Kernels of byte-pair encoding."""
