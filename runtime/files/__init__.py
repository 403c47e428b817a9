"""Readers of files: documents from plain text, JSON lines, Parquet and Arrow, compressed or not, local or remote.

`reading` is the entry point for the library. The modules below it, from the outside in: `names` expands folders and patterns to files;
`inputs` reads each file by its format; `lines`, `records` and `columns` are the formats; `streams` and `packing` read and unpack bytes.
"""
