"""The compilers of segmentation: dictionaries become tables."""
