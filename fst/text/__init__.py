"""Text before it is split: normalizers, added tokens and alphabets as data. Each has a slow walk and a proof."""
