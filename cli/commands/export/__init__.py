"""The command `fst export`."""
