"""Maps of characters, and the maps that normalizers of `tokenizers` apply."""
