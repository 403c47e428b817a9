"""Finite-state transducers as immutable arc tables; and operations on these tables, which run at compile time."""
