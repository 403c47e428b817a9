"""Kernels that encode, sample and list segmentations by Unigram."""
