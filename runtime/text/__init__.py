"""Normalize text at run time, before it is split; and decode ids to text."""
