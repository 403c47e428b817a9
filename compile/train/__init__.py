"""Trainers: counted words in, vocabularies out."""
