"""Maps of characters, and the reference's maps."""
