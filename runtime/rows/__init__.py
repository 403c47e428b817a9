"""Rows of texts in lists and in Arrow columns, and rows of ids in batches."""
