"""The compiler of keywords into a table."""
