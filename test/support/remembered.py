"""Symbolic looks for the tests of memory: objects at places, told to a memory as the belief tells it."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import make_transform
from deskhand.types import Scene, SceneObject, Table

SIZES = {
    "block": (0.035,) * 3,
    "cup": (0.04, 0.04, 0.055),
    "pen": (0.13, 0.01, 0.01),
    "box": (0.06, 0.04, 0.03),
    "bin": (0.18, 0.15, 0.1),
    "sponge": (0.08, 0.04, 0.025),
}


def an_object(name, color, x, y, on="table", relation="on", z=None, label=""):
    label = label or name.rpartition("_")[0]
    size = np.array(SIZES[label])
    is_bin = label == "bin"
    pose = make_transform(None, (x, y, size[2] / 2 if z is None else z))
    shape = "cylinder" if label in ("cup", "pen") else "box"
    return SceneObject(
        name,
        label,
        color,
        shape,
        size,
        pose,
        np.zeros((0, 3), np.float32),
        0.9,
        is_container=is_bin,
        wall=0.004 if is_bin else 0.0,
        support=on,
        relation=relation,
    )


def scene(stamp, *objects):
    return Scene(tuple(objects), Table(np.eye(4), (0.9, 1.1)), stamp)


def at(item, x, y, **changes):
    """``item`` at another place."""
    pose = item.pose.copy()
    pose[:2, 3] = x, y
    return replace(item, pose=pose, **changes)


class Clock:
    """Time that the test sets [s]."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now
