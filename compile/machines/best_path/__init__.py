"""The compiler of weighted transducers into tables for the best path."""
