"""Tables for spellers of two transducers: a lexicon and an error model."""
