"""Byte-pair encoding."""
