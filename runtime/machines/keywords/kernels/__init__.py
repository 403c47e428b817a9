"""Kernels of keyword search."""
