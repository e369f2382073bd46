"""How well the objects of recorded RGB-D frames, labelled or not, are found: frames that nobody made for deskhand."""
