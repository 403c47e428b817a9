"""Training with the results and the files of SentencePiece."""
