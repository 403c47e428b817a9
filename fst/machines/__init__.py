"""Machines. The folder of a machine contains its table, slow walk and proof, and the arguments of its kernels."""
