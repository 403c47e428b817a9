"""Training by merges: the state, its kernels, and the common run of BPE, WordPiece by frequency and `extend`."""
