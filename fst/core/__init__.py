"""The base of all layers: the compiler of kernels, threads, files and JSON."""
