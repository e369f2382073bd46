"""What tools bring: the same tasks without them, with some groups of them and with all; and why what failed has failed."""
