"""The front end for regular expressions, which parses patterns into trees over sets of code points."""
