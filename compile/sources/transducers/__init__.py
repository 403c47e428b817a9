"""Files of transducers → machines: AT&T text, OpenFst, HFST, lexc, and dictionaries of Apertium and Hunspell."""
