"""Other tokenizers, made from their own files, for `fst verify`, `fst bench` and tests/bench."""
