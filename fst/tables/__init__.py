"""Tables as files: arrays with a header, and proofs that kernels may use them."""
