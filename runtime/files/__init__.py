"""Read documents from files: plain text, JSON lines, Parquet and Arrow, compressed or not, local or remote.

`reading` is the entry point for the library. The other modules, from the highest level to the lowest: `names` expands folders and patterns
to file names; `inputs` reads each file by its format; `lines` and `columns` implement the formats; `streams` and `packing` read
and unpack bytes. `outputs` writes files that get their name when they are complete, and `shards` the formats of training programs.
"""
