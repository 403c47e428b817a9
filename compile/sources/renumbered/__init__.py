"""Models of SentencePiece whose pieces get other ids, from a ``vocab.json`` or a ``dict.txt`` next to the model."""
