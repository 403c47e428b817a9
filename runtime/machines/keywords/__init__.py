"""Keyword search at run time."""
