"""Code that all layers use: compilation of kernels, numbers of threads, files and JSON."""
