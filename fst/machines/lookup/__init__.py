"""Tables for look-up: morphological analysis and generation."""
