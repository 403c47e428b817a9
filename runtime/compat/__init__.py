"""Stand-ins for other libraries."""
