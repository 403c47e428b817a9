"""`fst warmup`: compile kernels ahead of time."""
