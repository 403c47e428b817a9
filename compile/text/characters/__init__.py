"""Mappings from characters to strings of symbols, including the mappings that normalizers of `tokenizers` apply."""
