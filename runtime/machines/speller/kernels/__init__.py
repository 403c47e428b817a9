"""The kernels of spell checking over rows of words and of running text."""
