"""Word lists and dictionaries."""
