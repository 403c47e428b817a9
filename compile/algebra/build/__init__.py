"""Machines from arcs, strings, edits and regular expressions."""
