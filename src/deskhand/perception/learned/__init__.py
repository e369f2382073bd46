"""What a network that learnt from rendered piles says of a view: which of its pixels show one object."""
