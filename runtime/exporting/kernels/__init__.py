"""Kernels of exported programs."""
