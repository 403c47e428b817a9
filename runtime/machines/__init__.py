"""The machines: each folder contains the kernels and the public class of a machine."""
