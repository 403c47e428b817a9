"""Stand-ins for classes of `outlines-core`."""
