"""Decisions about machines: whether each input has one output, and whether two machines are equivalent."""
