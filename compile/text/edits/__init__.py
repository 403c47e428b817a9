"""Normalizers that act on strings and not on single characters."""
