"""The compiler of byte-pair encoding (BPE), which turns a merge list into a table."""
