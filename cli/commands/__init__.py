"""The commands: one module or folder each, with the options, the help and the body. In a folder, the module `command` has the command."""
