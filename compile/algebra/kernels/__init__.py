"""Loops over arc tables. They allocate nothing: tables and pools are passed in, and a call that fills one returns, to be continued."""
