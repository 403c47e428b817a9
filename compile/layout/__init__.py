"""States become rows of a table."""
