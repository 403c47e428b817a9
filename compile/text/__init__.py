"""What happens to text before the model reads it, as classes of characters."""
