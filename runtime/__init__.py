"""The runtime encodes, searches and segments text with compiled tables."""
