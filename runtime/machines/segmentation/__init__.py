"""Segmentation at run time."""
