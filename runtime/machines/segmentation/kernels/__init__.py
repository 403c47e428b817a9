"""Kernels of segmentation."""
