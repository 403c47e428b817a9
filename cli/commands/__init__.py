"""The commands: one module or folder each, with the options, the help and the body. A folder has the command in `command`."""
