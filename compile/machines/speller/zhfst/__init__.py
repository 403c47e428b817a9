"""Spellers of a lexicon and an error model, from ``.zhfst`` archives."""
