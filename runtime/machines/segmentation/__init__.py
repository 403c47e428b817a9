"""Segmenters, which cut texts into words."""
