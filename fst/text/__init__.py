"""Text before it is split: normalizers, added tokens and alphabets as data, each with its slow walk and its proof."""
