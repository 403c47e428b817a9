"""What commands write: formats, files that appear whole or not at all, and progress for a person."""
