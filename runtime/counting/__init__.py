"""Count words in documents."""
