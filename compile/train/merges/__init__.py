"""Training by merges: the state, its kernels, and the run that BPE, WordPiece by frequency and `extend` share."""
