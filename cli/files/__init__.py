"""The output of commands: file formats, files that get their name only when they are complete, and progress bars."""
