"""Maps of characters, and those of the reference."""
