"""Where vocabularies come from: one file a format."""
