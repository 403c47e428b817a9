"""Tokenizers of other libraries, with which `fst verify`, `fst bench` and tests/bench compare tables."""
