"""The compiler of byte-pair encoding (BPE): it turns a merge list into a table."""
