"""Pictures of single objects on an empty table, from their meshes: ``python references.py OUT.npz NAME...``. Runs in LIBERO's environment.

Each object is shown with each of its sides up, from four sides round about, at the elevation of a camera on a desk. No scene of any task is used.
The file holds ``NAME/i/color`` (H, W, 3), ``NAME/i/mask`` (H, W) and ``NAME/size`` (3,) [m], the extents of the visible mesh.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

SIDE = 192  # [px]
ELEVATION = 0.6  # [rad]
YAWS = 4
FILL = 1.9  # the picture is this much wider than the object's diagonal
SIDES_UP = ((1, 0, 0, 0), (0, 1, 0, 0), (0.7071, 0.7071, 0, 0), (0.7071, -0.7071, 0, 0), (0.7071, 0, 0.7071, 0), (0.7071, 0, -0.7071, 0))  # wxyz


KEPT: list[object] = []
"""Renderers: the ending of one takes the others' contexts with it."""


def files() -> dict[str, Path]:
    """Model files by the objects' names."""
    from libero.libero.envs.objects import OBJECTS_DICT

    found = {}
    for name, make in OBJECTS_DICT.items():
        try:
            found[name] = Path(make().file)
        except Exception as error:  # some of them need arguments: they are fixtures of scenes that nobody asks for here
            sys.stderr.write(f"{name}: {error}\n")
    return found


def scene(file: Path) -> str:
    """A model with the object on a body of its own that can be put anywhere."""
    tree = ElementTree.parse(file)
    root = tree.getroot()
    for element in [*root.iter("mesh"), *root.iter("texture")]:
        if element.get("file"):
            element.set("file", str((file.parent / str(element.get("file"))).resolve()))
    asset, world = root.find("asset"), root.find("worldbody")
    assert asset is not None and world is not None
    named = set()
    for element in list(asset):  # some files have one texture twice
        if element.get("name") is not None and (element.tag, element.get("name")) in named:
            asset.remove(element)
        named.add((element.tag, element.get("name")))
    for element in list(root.iter("body")):
        for joint in [*element.findall("joint"), *element.findall("freejoint")]:
            element.remove(joint)
    outer = world.find("body")
    assert outer is not None
    outer.set("mocap", "true")
    outer.set("name", "shown")
    outer.set("pos", "0 0 0")
    parts = [ElementTree.tostring(part, encoding="unicode") for part in (asset, outer)]
    return f"""<mujoco><compiler angle="radian"/>
<visual><headlight ambient="0.2 0.2 0.2" diffuse="0.4 0.4 0.4" specular="0.2 0.2 0.2"/>
<global fovy="20" offwidth="{SIDE}" offheight="{SIDE}"/><map znear="0.01"/></visual>
{parts[0]}
<worldbody><light pos="0.5 0.5 3" dir="-0.15 -0.15 -1" directional="true" diffuse="0.9 0.9 0.9" specular="0.3 0.3 0.3" castshadow="false"/>
<camera name="eye" pos="0 0 0" fovy="20"/>{parts[1]}</worldbody></mujoco>"""


def pictures(file: Path) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Views (colour, mask) of one object, and its extents (3,) [m]."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(scene(file))
    data = mujoco.MjData(model)
    for geom in range(model.ngeom):
        if model.geom_group[geom] == 0:
            model.geom_rgba[geom, 3] = 0.0
    mujoco.mj_forward(model, data)
    low, high = extents(model, data)
    size, middle = high - low, (high + low) / 2
    distance = FILL * float(np.linalg.norm(size)) / 2 / np.tan(np.radians(20) / 2)
    views = []
    renderer = mujoco.Renderer(model, SIDE, SIDE)
    options = mujoco.MjvOption()
    options.geomgroup[:] = 0
    options.geomgroup[1] = 1
    for up in SIDES_UP:
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, np.array(up, float))
        data.mocap_quat[0], data.mocap_pos[0] = up, -turned.reshape(3, 3) @ middle
        mujoco.mj_forward(model, data)
        for number in range(YAWS):
            camera = mujoco.MjvCamera()
            camera.lookat[:], camera.distance = 0.0, distance
            camera.azimuth, camera.elevation = 360.0 * number / YAWS + 20.0, -np.degrees(ELEVATION)
            renderer.update_scene(data, camera, options)
            color = renderer.render().copy()
            renderer.enable_segmentation_rendering()
            renderer.update_scene(data, camera, options)
            mask = renderer.render()[..., 0] >= 0
            renderer.disable_segmentation_rendering()
            views.append((color, mask))
    KEPT.append(renderer)
    return views, size


def extents(model: object, data: object) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates (3,) [m] of the visible meshes, the object standing as its file has it."""
    points = []
    for geom in range(model.ngeom):  # type: ignore[attr-defined]
        mesh = int(model.geom_dataid[geom])  # type: ignore[attr-defined]
        if mesh < 0 or model.geom_group[geom] != 1:  # type: ignore[attr-defined]
            continue
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])  # type: ignore[attr-defined]
        rotation = np.asarray(data.geom_xmat[geom]).reshape(3, 3)  # type: ignore[attr-defined]
        points.append(model.mesh_vert[first : first + count] @ rotation.T + data.geom_xpos[geom])  # type: ignore[attr-defined]
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def main() -> int:
    """Write the file."""
    if len(sys.argv) < 3:
        sys.stderr.write(str(__doc__))
        return 2
    os.environ.setdefault("MUJOCO_GL", "egl")
    known, kept = files(), {}
    for name in sys.argv[2:]:
        if name not in known:
            sys.stderr.write(f"there is no object {name!r}; there are {', '.join(sorted(known))}\n")
            return 1
        views, size = pictures(known[name])
        kept[f"{name}/size"] = size
        for number, (color, mask) in enumerate(views):
            kept[f"{name}/{number}/color"], kept[f"{name}/{number}/mask"] = color, mask
    np.savez_compressed(sys.argv[1], **kept)  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # EGL's own ending complains about contexts that are gone
