"""The kernels of suggestions."""
