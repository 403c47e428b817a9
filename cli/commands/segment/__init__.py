"""`fst segment`: segment documents into the words of a dictionary."""
