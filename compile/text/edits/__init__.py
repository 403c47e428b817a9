"""Normalizers that act on strings instead of single characters."""
