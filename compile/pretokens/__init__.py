"""The compiler of splitters: it turns patterns into automata, and automata into windows of symbols that decide boundaries."""
