"""The compilers of machines, one folder each."""
