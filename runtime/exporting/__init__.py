"""Exports of tables to hosts without Python: prepared calls of kernels, and the bytes of tokens."""
