"""Trainers, which make vocabularies from counted words."""
