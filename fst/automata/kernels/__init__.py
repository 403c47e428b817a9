"""Kernels over automata."""
