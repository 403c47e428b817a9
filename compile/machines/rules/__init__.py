"""The compiler of rewrite rules."""
