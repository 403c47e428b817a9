"""Kernels of token masks that compiler and runtime share."""
