"""Finite-state transducers as immutable arc tables, and the operations on them, which run before run time."""
