"""Write ids in the file formats that training programs read, one module for each format.

`formats` is the registry and the entry point; `shard` has what all formats share; `records` recognises complete outputs in a folder, and
writes the index of all outputs.
"""
