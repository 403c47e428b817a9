"""Text before it is split, at run time."""
