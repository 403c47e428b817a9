"""Other tokenizers, made from the files that they read: references of `fst verify`, peers of `fst bench` and of tests/bench."""
