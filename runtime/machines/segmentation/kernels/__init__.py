"""Kernels of MaxMatch, jieba and MeCab."""
