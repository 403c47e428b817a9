"""Rewrite rules."""
