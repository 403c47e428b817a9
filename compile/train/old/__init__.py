"""Derive a vocabulary from an existing vocabulary."""
