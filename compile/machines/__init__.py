"""The compilers of the machines, one folder per machine."""
