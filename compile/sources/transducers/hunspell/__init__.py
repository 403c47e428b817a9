"""Read dictionaries of Hunspell: words with flags (``.dic``), and the affixes that the flags allow (``.aff``)."""
