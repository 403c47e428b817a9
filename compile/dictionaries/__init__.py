"""Read lists of words, with frequencies and parts of speech, from files and columns."""
