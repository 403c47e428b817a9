"""The data of a tokenizer or a searcher for a host without Python: prepared calls of kernels, and the bytes of all tokens."""
