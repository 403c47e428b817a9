"""Rows of texts and of ids: in memory, in Arrow columns, and in batches."""
