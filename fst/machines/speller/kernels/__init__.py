"""The kernels that decide whether a word is correct."""
