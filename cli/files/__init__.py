"""The output of commands: formats, files that appear only when complete, and progress bars."""
