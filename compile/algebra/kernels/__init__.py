"""Loops over arc tables. They allocate nothing: the caller passes tables and pools, and a call that fills one returns, so that the caller
can continue it.
"""
