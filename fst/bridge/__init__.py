"""Calls that need both the compiler and the runtime, which import each other nowhere else."""
