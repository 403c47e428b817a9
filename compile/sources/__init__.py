"""Sources: the files that hold vocabularies, one module a format. All of them give a `fst.compile.sources.source.Source`."""
