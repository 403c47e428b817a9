"""Counted words, from which vocabularies are trained."""
