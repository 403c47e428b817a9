"""Vocabularies derived from an existing one."""
