"""What a host without Python needs of a tokenizer or a searcher: prepared calls of its kernels, and the bytes of its tokens."""
