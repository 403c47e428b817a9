"""The commands. Each command is a module with its options, help and code, or a folder whose module `command` contains the command."""
