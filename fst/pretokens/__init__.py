"""Pre-tokens: splitters, local contexts of boundaries, and words that are one token."""
