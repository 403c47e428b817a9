"""Keyword search."""
