"""The layout of states as rows of a table."""
