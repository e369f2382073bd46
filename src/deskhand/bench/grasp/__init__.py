"""The grasp benchmark: picks of single objects and of clutter in simulation, judged by ground truth."""
