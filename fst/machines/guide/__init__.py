"""Token masks: the tokens that keep a text inside a pattern or a schema."""
