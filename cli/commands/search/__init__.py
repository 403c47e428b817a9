"""The command `fst search`: find keywords in documents."""
