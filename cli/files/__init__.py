"""The output of commands: file formats, files that appear only when complete, and progress bars."""
