"""Run tables of token masks."""
