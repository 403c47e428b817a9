"""Training by merges: the state, its kernels, and the loop that BPE, WordPiece by frequency and `extend` share."""
