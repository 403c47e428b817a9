"""Other forms of a machine, with the same pairs and weights: without ε, deterministic, minimal."""
