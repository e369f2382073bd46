"""Pictures of single objects on an empty table, from their meshes: ``python references.py KIND OUT.npz NAME...``. Runs in LIBERO's environment.

KIND is whose objects they are: ``libero`` or ``robosuite``.

Each object is shown as its file has it from eight sides round about, and with each of its other sides up from four, at the elevation of a camera on a desk.
No scene of any task is used.
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
YAWS, MORE_YAWS = 4, 8  # directions from which it is seen; as it stands upright
FILL = 1.9  # the picture is this much wider than the object's diagonal
SIDES_UP = ((1, 0, 0, 0), (0, 1, 0, 0), (0.7071, 0.7071, 0, 0), (0.7071, -0.7071, 0, 0), (0.7071, 0, 0.7071, 0), (0.7071, 0, -0.7071, 0))  # wxyz


ROBOSUITE = ("MilkObject", "BreadObject", "CerealObject", "CanObject")

KEPT: list[object] = []
"""Renderers: the ending of one takes the others' contexts with it."""


def robosuite_files() -> dict[str, Path]:
    """Model files of robosuite's own objects by their names."""
    from robosuite.models import objects

    return {kind.__name__.removesuffix("Object").lower(): Path(kind(name="shown").file) for kind in (getattr(objects, name) for name in ROBOSUITE)}


def libero_files() -> dict[str, Path]:
    """Model files of LIBERO's objects by their names."""
    from libero.libero.envs.objects import OBJECTS_DICT

    found = {}
    for name, make in OBJECTS_DICT.items():
        try:
            found[name] = Path(make().file)
        except Exception as error:  # some of them need arguments: they are fixtures of scenes that nobody asks for here
            sys.stderr.write(f"{name}: {error}\n")
    return found


FILES = {"libero": libero_files, "robosuite": robosuite_files}


def scene(file: Path) -> str:
    """A model with the object on a body of its own that can be put anywhere."""
    tree = ElementTree.parse(file)
    root = tree.getroot()
    for element in [*root.iter("mesh"), *root.iter("texture")]:
        if element.get("file"):
            element.set("file", str((file.parent / str(element.get("file"))).resolve()))
    geoms = list(root.iter("geom"))
    if not any(geom.get("group") == "1" for geom in geoms):  # robosuite shows the meshes that it collides with
        for geom in geoms:
            geom.set("group", "1")
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
    options.sitegroup[:] = 0  # marks that a scene shows when it wants to
    for side, up in enumerate(SIDES_UP):
        yaws = MORE_YAWS if side == 0 else YAWS
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, np.array(up, float))
        data.mocap_quat[0], data.mocap_pos[0] = up, -turned.reshape(3, 3) @ middle
        mujoco.mj_forward(model, data)
        for number in range(yaws):
            camera = mujoco.MjvCamera()
            camera.lookat[:], camera.distance = 0.0, distance
            camera.azimuth, camera.elevation = 360.0 * number / yaws + 20.0, -np.degrees(ELEVATION)
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
    """Least and greatest coordinates (3,) [m] of what is visible, the object standing as its file has it."""
    points = []
    for geom in range(model.ngeom):  # type: ignore[attr-defined]
        if model.geom_group[geom] != 1:  # type: ignore[attr-defined]
            continue
        rotation = np.asarray(data.geom_xmat[geom]).reshape(3, 3)  # type: ignore[attr-defined]
        points.append(surface(model, geom) @ rotation.T + data.geom_xpos[geom])  # type: ignore[attr-defined]
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def surface(model: object, geom: int) -> np.ndarray:
    """Points (N, 3) [m] of a mesh; of another shape the corners of its box. In the frame of the geom."""
    mesh = int(model.geom_dataid[geom])  # type: ignore[attr-defined]
    if mesh >= 0:
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])  # type: ignore[attr-defined]
        return np.asarray(model.mesh_vert[first : first + count])  # type: ignore[attr-defined]
    a, b, c = map(float, model.geom_size[geom])  # type: ignore[attr-defined]
    half = {2: (a, a, a), 3: (a, a, a + b), 5: (a, a, b)}.get(int(model.geom_type[geom]), (a, b, c))  # type: ignore[attr-defined]  # sphere, capsule, cylinder
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half


def main() -> int:
    """Write the file."""
    if len(sys.argv) < 4 or sys.argv[1] not in FILES:
        sys.stderr.write(str(__doc__))
        return 2
    os.environ.setdefault("MUJOCO_GL", "egl")
    known, kept = FILES[sys.argv[1]](), {}
    for name in sys.argv[3:]:
        if name not in known:
            sys.stderr.write(f"there is no object {name!r}; there are {', '.join(sorted(known))}\n")
            return 1
        views, size = pictures(known[name])
        kept[f"{name}/size"] = size
        for number, (color, mask) in enumerate(views):
            kept[f"{name}/{number}/color"], kept[f"{name}/{number}/mask"] = color, mask
    np.savez_compressed(sys.argv[2], **kept)  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # EGL's own ending complains about contexts that are gone
