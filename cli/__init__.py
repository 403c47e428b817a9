"""The command line, `fst COMMAND …`: `main` names the commands, `group` turns errors into exit codes, `files` writes outputs."""
