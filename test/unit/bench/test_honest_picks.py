"""A pick in physics whose fingers close on the wrong object says so."""

from dataclasses import replace

import numpy as np

from deskhand.bench.grasp.picks import bench
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.pick import pick

BLOCK = {"kind": "block", "name": "block", "color": "blue", "size": [0.032, 0.032, 0.032], "pose": [0.03, 0.05]}
ERASER = {"kind": "eraser", "name": "eraser", "color": "yellow", "size": [0.024, 0.05, 0.0145], "pose": {"x": 0.03, "y": 0.05, "z": 0.0395}}


def test_what_rides_on_the_object_between_the_fingers_is_not_held():
    with bench(world_from_dict({"objects": [BLOCK, ERASER]})) as desk:
        true = desk.robot.generate_grasps

        def too_low(scene, name, count=20):
            def lower(grasp):
                pose = grasp.pose.copy()
                pose[2, 3] -= 0.012
                return replace(grasp, pose=pose, opening=desk.robot.arm.gripper.width_max, joints=np.zeros(0))

            return [lower(grasp) for grasp in true(scene, name, count)]

        desk.robot.generate_grasps = too_low
        scene = desk.context().look()
        item = max(scene.objects, key=lambda obj: obj.top)
        before = desk.simulation.truth()
        wrong = pick(desk.context(), item.id, attempts=1)
        after = desk.simulation.truth()
        assert wrong.code == "grasp_failed" and "came along" in wrong.message, wrong.message
        assert not after.in_hand and desk.belief.held is None
        for obj in before.objects:  # put back, not dropped
            assert np.linalg.norm(after.get(obj.name).pose[:3, 3] - obj.pose[:3, 3]) < 0.01
        desk.robot.generate_grasps = true
        scene = desk.context().look()
        again = desk.pick(max(scene.objects, key=lambda obj: obj.top))
        assert again.success and not again.code, again.message
