"""Scene files: a world as YAML that anyone can write (docs/scene-files.md), to a WorldSpec and back."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.arms.config import list_arms, load_arm
from deskhand.calibration.board import Board
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, look_at
from deskhand.sim.camera import mounted
from deskhand.sim.fields import Field
from deskhand.sim.fixtures.file import fixture_from, fixture_to_dict
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.objectfile import color_from, object_from, object_to_dict
from deskhand.sim.reality.file import draw, load_reality, to_dict
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.reality.world import with_reality
from deskhand.sim.spec import BoardSpec, CameraSpec, ObjectSpec, StainSpec, WorldSpec
from deskhand.sim.stains import cells_of
from deskhand.types.yaml_file import read_yaml

KEYS = ("arm", "table", "camera", "seed", "objects", "fixtures", "stains", "board", "reality")
STAIN_KEYS = ("name", "color", "colour", "outline", "size", "pose", "spots")
BOARD_KEYS = ("name", "pose", "link")
CAMERA_KEYS = ("mount", "link", "frame_id", "position", "look_at", "pose", "fovy", "fovy_deg", "width", "height")
MAX_OBJECTS = 60


def load_world(path: Path | str, default_arm: str = "wx250s", default_reality: str = "none", reality: str = "") -> WorldSpec:
    """The world of a scene file; mesh files are looked for beside it. ``default_arm``, ``default_reality``: where the file says nothing; ``reality`` goes
    before what it says.

    Raises:
        DeskhandError: ``scene_file_error``, naming the field, for example ``objects[2].size``.
    """
    path = Path(path)
    try:
        data = read_yaml(path)
    except OSError as error:
        raise DeskhandError("scene_file_error", f"the scene file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DeskhandError("scene_file_error", f"the scene file {path} is not text.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise DeskhandError("scene_file_error", f"the scene file {path} is not YAML{where}: {getattr(error, 'problem', None) or error}.") from error
    world = world_from_dict(data, path.parent, default_arm, str(path), default_reality, reality)
    check_world(world, str(path))
    return world


def world_from_dict(
    data: Any, folder: Path | None = None, default_arm: str = "wx250s", file: str = "scene", default_reality: str = "none", reality: str = ""
) -> WorldSpec:
    """The world that plain data says; ``folder`` is where relative mesh files are.

    Raises:
        DeskhandError: ``scene_file_error``, naming the field.
    """
    root = Field(data, "", file)
    root.mapping(KEYS)
    arm = root.get("arm").text(default_arm)
    if arm not in list_arms() and not arm.endswith((".yaml", ".yml")):
        raise root.get("arm").error(f"there is no arm {arm!r}; valid: {', '.join(list_arms())}")
    table = root.get("table").numbers((2,), (0.9, 1.1), low=0.3, high=3.0)
    board = _board(root.get("board"))
    items = root.get("objects").items()
    if not items and board is None and root.get("fixtures").absent and root.get("stains").absent:
        raise root.get("objects").error("there must be at least one object")
    if len(items) > MAX_OBJECTS:
        raise root.get("objects").error(f"at most {MAX_OBJECTS} objects, not {len(items)}")
    objects: list[ObjectSpec] = []
    for item in items:
        spec = object_from(item, objects, folder or Path.cwd())
        _check_on_desk(item, spec.pose, table)
        objects.append(spec)
    fixtures: list[FixtureSpec] = []
    for item in root.get("fixtures").items():
        fixture = fixture_from(item, {*(one.name for one in objects), *(one.name for one in fixtures)})
        _check_on_desk(item, fixture.pose, table)
        fixtures.append(fixture)
    stains: list[StainSpec] = []
    for item in root.get("stains").items():
        names = [[one.name for one in objects], [one.name for one in fixtures], [one.name for one in stains]]
        stains.append(_stain(item, {name for some in names for name in some}, table))
    camera, seed = _camera(root.get("camera"), arm), root.get("seed").whole(0)
    world = WorldSpec(
        tuple(objects), arm=arm, camera=camera, table=(table[0], table[1]), seed=seed, board=board, fixtures=tuple(fixtures), stains=tuple(stains)
    )
    said = root.get("reality")
    own = None if said.absent else _reality(said, seed, folder)
    return with_reality(world, load_reality(reality or default_reality, seed) if reality or said.absent else own)


def _check_on_desk(item: Field, pose: Array, table: Sequence[float]) -> None:
    x, y = pose[:2, 3]
    if abs(x) > table[0] / 2 or abs(y) > table[1] / 2:
        raise item.get("pose").error(f"({x:g}, {y:g}) is beyond the desk, which reaches to x +-{table[0] / 2:g}, y +-{table[1] / 2:g} m")


def _stain(field: Field, taken: Collection[str], table: Sequence[float]) -> StainSpec:
    """Paint on the desk: an ``outline``, or a rectangle of ``size`` at a ``pose`` [x, y] or [x, y, yaw]."""
    field.mapping(STAIN_KEYS)
    name = field.get("name").text("stain")
    if name in taken:
        raise field.get("name").error(f"{name!r} is used twice; give each a name of its own")
    if field.get("outline").absent:
        length, width = field.get("size").numbers((2,), low=0.005, high=1.0)
        x, y, *turn = field.get("pose").numbers((2, 3))
        c, s = math.cos(turn[0] if turn else 0.0), math.sin(turn[0] if turn else 0.0)
        flat = np.array([(a * length / 2, b * width / 2) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
        outline = flat @ np.array([[c, s], [-s, c]]) + (x, y)
    elif field.get("size").absent and field.get("pose").absent:
        outline = np.array([corner.numbers((2,)) for corner in field.get("outline").items()]).reshape(-1, 2)
    else:
        raise field.error("give an outline, or size and pose, not both")
    if np.any(np.abs(outline) > np.asarray(table) / 2):
        raise field.error(f"reaches beyond the desk, which reaches to x +-{table[0] / 2:g}, y +-{table[1] / 2:g} m")
    item = StainSpec(name, outline, color_from(field), field.get("spots").whole(StainSpec.spots, low=1, high=400))
    try:
        cells_of(item)
    except DeskhandError as error:
        raise field.error(error.message.rstrip(".")) from error
    return item


def _stain_to_dict(item: StainSpec) -> dict[str, Any]:
    return {"name": item.name, "color": list(item.rgb), "outline": item.outline.tolist(), "spots": item.spots}


def check_world(world: WorldSpec, file: str = "scene") -> None:
    """See that the world can be built and nothing overlaps at the start.

    Raises:
        DeskhandError: ``scene_file_error`` saying which objects overlap or what cannot be built.
    """
    from deskhand.sim.simulation import check_start

    try:
        check_start(world)
    except DeskhandError as error:
        if error.code != "invalid_input":
            raise
        raise DeskhandError("scene_file_error", f"{file}: {error.message}") from error


def world_to_dict(world: WorldSpec) -> dict[str, Any]:
    """Plain data that :func:`world_from_dict` turns into the same world."""
    camera = world.camera
    return {
        "arm": world.arm,
        "table": list(world.table),
        "camera": {
            "pose": camera.world_T_camera.tolist(),
            "fovy": camera.fovy,
            "width": camera.width,
            "height": camera.height,
            "frame_id": camera.frame_id,
            **({"link": camera.link} if camera.link else {}),
        },
        "seed": world.seed,
        "objects": [object_to_dict(item) for item in world.objects],
        **({"fixtures": [fixture_to_dict(item) for item in world.fixtures]} if world.fixtures else {}),
        **({"stains": [_stain_to_dict(item) for item in world.stains]} if world.stains else {}),
        **({"board": _board_to_dict(world.board)} if world.board is not None else {}),
        "reality": to_dict(world.reality) if world.reality is not None else "none",
    }


def save_world(world: WorldSpec, path: Path | str) -> None:
    """Write a scene file."""
    Path(path).write_text(yaml.safe_dump(world_to_dict(world), sort_keys=False, default_flow_style=None))


def _reality(field: Field, seed: int, folder: Path | None) -> RealitySpec | None:
    """Drawn from the seed: by a name of ``config/reality``, a file beside the scene's, or a mapping."""
    if isinstance(field.value, dict):
        return draw(field, seed)
    name = field.text()
    beside = (folder or Path.cwd()) / name
    try:
        return load_reality(str(beside) if name.endswith((".yaml", ".yml")) else name, seed)
    except DeskhandError as error:
        raise error if error.code == "scene_file_error" else field.error(error.message.rstrip(".")) from error


def _board(field: Field) -> BoardSpec | None:
    if field.absent:
        return None
    field.mapping(BOARD_KEYS)
    name = field.get("name").text("5x7@35/26mm")
    try:
        Board.parse(name)
    except DeskhandError as error:
        raise field.get("name").error(error.message) from error
    return BoardSpec(name, field.get("pose").matrix(), field.get("link").text(""))


def _board_to_dict(board: BoardSpec) -> dict[str, Any]:
    return {"name": board.board, "pose": board.pose.tolist(), **({"link": board.link} if board.link else {})}


def _camera(field: Field, arm: str) -> CameraSpec:
    if field.absent:
        return CameraSpec()
    field.mapping(CAMERA_KEYS)
    default = CameraSpec()
    fovy = field.get("fovy").number(math.radians(field.get("fovy_deg").number(math.degrees(default.fovy), low=10, high=120)), low=0.17, high=2.1)
    if not field.get("mount").absent:
        if not all(field.get(key).absent for key in ("position", "look_at", "pose", "link")):
            raise field.get("mount").error("a mount says where the camera is; give no pose beside it")
        default = mounted(field.get("mount").text(), load_arm(arm).name)
    return CameraSpec(
        world_T_camera=_camera_pose(field, default),
        link=field.get("link").text(default.link),
        frame_id=field.get("frame_id").text(default.frame_id),
        width=field.get("width").whole(default.width, low=64, high=1920),
        height=field.get("height").whole(default.height, low=64, high=1080),
        fovy=fovy,
    )


def _camera_pose(field: Field, default: CameraSpec) -> Array:
    if not field.get("pose").absent:
        return field.get("pose").matrix()
    position, target = field.get("position"), field.get("look_at")
    if position.absent and target.absent:
        return default.world_T_camera
    eye = np.array(position.numbers((3,), (0.58, 0.0, 0.62), low=-3, high=3))
    aim = np.array(target.numbers((3,), (0.03, 0.0, 0.0), low=-3, high=3))
    if np.linalg.norm(eye - aim) < 0.05:
        raise position.error("the camera is where it looks at")
    straight_down = np.linalg.norm((eye - aim)[:2]) < 1e-3
    return look_at(eye, aim, up=(-1.0, 0.0, 0.0) if straight_down else (0.0, 0.0, 1.0))
