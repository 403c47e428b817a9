"""Machines at run time, one folder each: kernels, and the public class."""
