"""The modules of ``pynini.lib`` that are here."""
