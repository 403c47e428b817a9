"""JSON Schema: a schema becomes a set of values, and the set an automaton over the bytes of their texts."""
