"""The kernel of spellers with an error model."""
