"""The command line, `fst COMMAND …`. The module `main` lists the commands, `group` turns errors into exit codes, and `files` writes
outputs.
"""
