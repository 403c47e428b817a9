"""Read documents from files: plain text, JSON lines, Parquet and Arrow, compressed or not, local or remote.

`reading` is the entry point for the library. Each of the other modules uses the ones after it: `names` expands folders and patterns to
files; `inputs` reads each file by its format; `lines`, `records` and `columns` are the formats; `streams` and `packing` read and unpack
bytes.
"""
