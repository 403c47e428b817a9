"""Functions over arrays, compiled by numba, that kernels of several machines share."""
