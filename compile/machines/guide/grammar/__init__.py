"""Grammars of guides: readers of three syntaxes, and the parts of a grammar."""
