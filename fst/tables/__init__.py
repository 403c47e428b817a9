"""Tables: their file format, their metadata, and proofs that kernels may use them."""
