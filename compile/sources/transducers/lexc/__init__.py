"""Read lexc, the format of lexicons of foma, HFST and Xerox."""
