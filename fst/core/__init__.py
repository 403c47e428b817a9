"""What every layer rests on: the compiler of kernels, threads, files, and JSON."""
