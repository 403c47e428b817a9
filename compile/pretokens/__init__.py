"""The compiler of splitters: it turns patterns into automata, and automata into windows that decide boundaries."""
