"""The rewriter, which applies rewrite rules."""
