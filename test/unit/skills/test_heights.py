"""The map of heights: whole tops of large objects, nothing beside them."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import rotation_about
from deskhand.perception.fit.surface import complete_surface
from deskhand.skills.heights import HeightMap, top_of
from deskhand.testing.desk_scene import scene_object
from deskhand.types import Scene, SceneObject, Table

SHAPES = [("box", (0.30, 0.20, 0.05)), ("cylinder", (0.20, 0.20, 0.05)), ("cylinder", (0.02, 0.02, 0.20)), ("sphere", (0.09, 0.09, 0.09))]


def turned(shape: str, size: tuple[float, float, float], axis: list[float], angle: float) -> SceneObject:
    item = scene_object("box_1", shape, size, (0.02, 0.01, 0.1))
    pose = item.pose.copy()
    pose[:3, :3] = rotation_about(axis, angle)
    return replace(item, pose=pose, points=np.zeros((0, 3), np.float32))


@pytest.mark.parametrize("angle", [0.0, 0.4, 0.8])
@pytest.mark.parametrize(("shape", "size"), SHAPES[:2])
def test_the_map_has_no_holes_in_large_objects_and_shows_nothing_beside_them(shape: str, size: tuple[float, float, float], angle: float) -> None:
    item = turned(shape, size, [0, 0, 1], angle)
    ground = HeightMap(Scene((item,), Table(np.eye(4), (0.9, 1.1)), 0.0), np.zeros(2), margin=0.0)
    u = np.linspace(-0.18, 0.18, 91)
    local = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    beyond = np.hypot(*local.T) - size[0] / 2 if shape == "cylinder" else (np.abs(local) - np.asarray(size[:2]) / 2).max(axis=1)
    heights = ground.below(local @ item.pose[:2, :2].T + item.pose[:2, 3])
    assert np.allclose(heights[beyond < -0.004], item.top) and (heights[beyond > 0.008] == 0.0).all()


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 2, 2.0])
@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_a_solid_reaches_as_high_as_its_surface_does(shape: str, size: tuple[float, float, float], angle: float) -> None:
    item = turned(shape, size, [1.0, 0.3, 0.2], angle)
    points = item.position + 0.999 * (complete_surface(item, 0.004).points - item.position)  # within the outline
    over = top_of(item, points[:, :2])
    assert (over > points[:, 2]).all() and top_of(item, np.array([[0.5, 0.5]]))[0] == -np.inf
    along = np.abs(item.pose[2, :3])
    support = {
        "box": float(along @ np.asarray(size)) / 2,
        "cylinder": float(along[2] * size[2] + np.sqrt(1 - along[2] ** 2) * size[0]) / 2,
        "sphere": size[0] / 2,
    }
    assert over.max() == pytest.approx(item.position[2] + support[shape], abs=0.006), "no more than its highest point"
