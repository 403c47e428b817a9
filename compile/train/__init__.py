"""The trainers: they make vocabularies from counted words."""
