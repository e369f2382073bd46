"""Language models behind one Protocol, one file a variant."""
