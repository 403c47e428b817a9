"""Sources: files of vocabularies, one module for each format. All of them give a `fst.compile.text.source.Source`."""
