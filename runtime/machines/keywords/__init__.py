"""The searcher of keywords."""
