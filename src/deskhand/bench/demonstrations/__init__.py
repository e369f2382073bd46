"""Demonstrations in numbers: videos with the sentences of their maker, and how near what is understood comes to them."""
