"""Kernels of look-up."""
