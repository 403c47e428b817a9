"""Maps of characters, and the maps that the reference applies."""
