"""Words counted in documents."""
