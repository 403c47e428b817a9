"""The runtime: it encodes, searches and segments text with tables."""
