"""`fst warmup`: kernels compiled ahead of time."""
