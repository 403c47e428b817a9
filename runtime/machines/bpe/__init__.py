"""Byte-pair encoding at run time."""
