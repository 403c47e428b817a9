"""The compiler of splitters, which turns patterns into automata, and automata into windows of symbols that decide boundaries."""
