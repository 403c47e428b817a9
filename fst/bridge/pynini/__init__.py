"""The stand-in for pynini, which `fst.pynini` exports."""
