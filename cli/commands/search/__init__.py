"""`fst search`: keywords in documents."""
