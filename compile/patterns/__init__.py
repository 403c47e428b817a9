"""The front end for regular expressions: from patterns to trees over sets of code points."""
