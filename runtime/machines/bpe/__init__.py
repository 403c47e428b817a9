"""The tokenizer of byte-level BPE tables."""
