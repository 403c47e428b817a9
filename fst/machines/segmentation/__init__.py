"""Segmentation by dictionaries: MaxMatch, jieba and MeCab."""
