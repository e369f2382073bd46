"""Two objects that a look took for one: the hand takes one of them, says so, and puts it down apart, so that the next look tells them apart."""

from dataclasses import replace

import numpy as np

from deskhand.bench.grasp.picks import bench
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.change_detection import united
from deskhand.skills.pick import pick

SPONGE = {"kind": "sponge", "color": "green", "size": [0.038, 0.076, 0.025]}
WORLD = {"objects": [{**SPONGE, "name": "a", "pose": {"x": 0.03, "y": 0.1, "yaw": 0.0}}, {**SPONGE, "name": "b", "pose": {"x": 0.0688, "y": 0.16, "yaw": 0.0}}]}


def test_they_are_told_apart_by_taking_one_of_them():
    with bench(world_from_dict(WORLD)) as desk:
        detect, looks = desk.robot.detect_objects, []

        def as_one(*args, **kwargs):
            scene = detect(*args, **kwargs)
            looks.append(len(scene.objects))
            if len(looks) == 1:
                first, *others = scene.objects
                scene = replace(scene, objects=(replace(united(first, others), shape="other"),))
            return scene

        desk.robot.detect_objects = as_one
        context = desk.context()
        (one,) = context.look().objects
        before = {item.name: item.pose[:3, 3] for item in desk.simulation.truth().objects}
        result = pick(context, one.id, attempts=2)
        after = desk.simulation.truth()
        assert result.data["failures"][0] == "grasp_failed"
        moved = {item.name: float(np.linalg.norm((item.pose[:3, 3] - before[item.name])[:2])) for item in after.objects if item.name not in after.in_hand}
        assert result.ok and len(after.in_hand) == 1, result.message
        assert max(moved.values()) < 0.06
        assert looks[1] == 2
