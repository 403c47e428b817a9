"""Regular expressions: the one front end, from patterns to trees over sets of code points."""
