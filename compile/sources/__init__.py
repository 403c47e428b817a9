"""Readers of vocabulary files, one module per file format. Every reader returns a `fst.compile.text.source.Source`."""
