"""The compiler of keywords into tables for search."""
