"""Compile transducers into tables for look-up."""
