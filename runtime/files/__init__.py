"""Readers of files: documents of text from plain text, JSON lines, Parquet and Arrow, packed or not, on this machine or another.

`reading` is the way in for the library. The modules below it, from the outside to the inside: `names` finds the files that names stand
for, `inputs` reads each by its format, `lines`, `records` and `columns` are the formats, and `streams` and `packing` give their bytes.
"""
