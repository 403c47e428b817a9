"""Kernels of byte-level BPE, with and without dropout."""
