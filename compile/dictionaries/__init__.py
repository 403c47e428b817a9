"""Word lists from files and columns: words with their values, for any machine over words."""
