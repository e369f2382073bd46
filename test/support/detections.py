"""Detections of a look, for tests of ids."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import make_transform
from deskhand.perception.track.tracking import Detection
from deskhand.types import SceneObject

RGB = {"red": (200, 30, 30), "blue": (30, 60, 190), "green": (30, 150, 50)}


def seen(label, color, x, y, size=(0.035, 0.035, 0.035), relation="on", cut=False, z=None):
    pose = make_transform(None, (x, y, size[2] / 2 if z is None else z))
    item = SceneObject("", label, color, "box", np.array(size), pose, np.zeros((0, 3), np.float32), 0.9, relation=relation)
    item = replace(item, is_container=label == "bin")
    return Detection(item, np.array(RGB[color], float), cut)
