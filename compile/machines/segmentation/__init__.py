"""The compilers of segmentation dictionaries into tables."""
