"""JSON Schema: a schema becomes a set of values; the set becomes an automaton over the bytes of the values' texts."""
