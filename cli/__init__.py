"""The command line, `fst COMMAND …`: `main` lists the commands, `group` turns errors into exit codes, `files` writes outputs."""
