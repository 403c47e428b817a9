"""Lay out the states of an automaton as rows of a table."""
