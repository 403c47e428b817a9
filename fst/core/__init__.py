"""The base of every layer: the compiler of kernels, threads, files, and JSON."""
