"""`fst search`: find keywords in documents."""
