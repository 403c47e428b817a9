"""Machines: one file a kind of table."""
