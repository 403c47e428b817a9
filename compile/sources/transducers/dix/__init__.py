"""Apertium's dictionaries (``.dix``) → machines, as lt-comp compiles them."""
