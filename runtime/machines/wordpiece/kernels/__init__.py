"""Kernels of WordPiece."""
