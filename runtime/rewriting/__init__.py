"""The rewriter, which every machine that writes new texts shares."""
