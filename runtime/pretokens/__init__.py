"""Pre-tokens at run time: found, looked up, and turned back into text."""
