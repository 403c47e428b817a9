"""Look-up, which finds all analyses of words."""
