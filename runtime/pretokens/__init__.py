"""Find pre-tokens in texts at run time, and look them up."""
