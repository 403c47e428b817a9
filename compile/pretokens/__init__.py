"""The compiler of splitters: patterns become automata and contexts of boundaries."""
