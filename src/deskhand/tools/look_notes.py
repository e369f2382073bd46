"""What a look has to say of itself."""

ON_THE_ARM = "The camera is on the arm and shows a part of the desk from here: call look to see all of it."
IN_THE_WAY = "The arm stands over the desk and may hide objects from the camera: call look (or move_home, and look again) to be sure."
NOTES = (ON_THE_ARM, IN_THE_WAY)
"""All that :func:`deskhand.tools.looking.look` has to say of a look."""
