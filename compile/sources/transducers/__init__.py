"""Files of transducers → machines: AT&T text, OpenFst, HFST, and dictionaries of Apertium."""
