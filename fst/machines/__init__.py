"""Machines, one folder each: the table, its slow walk, its proof, and the arguments of its kernels."""
