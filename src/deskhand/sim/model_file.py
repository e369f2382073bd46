"""Model files (``.npz``): an object of others with its print, its convex pieces and the ways it lies; made by ``deskhand bench foreign install``."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types.meshes import Faces

SUFFIX = ".npz"
Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Part:
    """A surface of one material.

    Attributes:
        vertices, faces: (V, 3) [m], (F, 3).
        uv, uv_faces: (T, 2) and (F, 3) places in the picture; empty where the file had none: the picture is then laid over it ``repeat`` times a metre.
        picture: (H, W, 3); empty for plain ``rgb`` (0..1).
    """

    vertices: Array
    faces: Faces
    rgb: tuple[float, float, float]
    picture: Picture = field(default_factory=lambda: np.zeros((0, 0, 3), np.uint8))
    uv: Array = field(default_factory=lambda: np.zeros((0, 2)))
    uv_faces: Faces = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    repeat: tuple[float, float] = (1.0, 1.0)
    uniform: bool = False


@dataclass(frozen=True)
class ModelFile:
    """An object, centred on its bounding box.

    Attributes:
        parts: what is seen.
        hulls: corners (V, 3) [m] of the convex pieces that are collided with.
        mass: [kg]
        rests: (R, 3, 3) world_R_object of the ways it lies on a table by itself, and their ``shares`` (R,), which sum to 1.
    """

    parts: tuple[Part, ...]
    hulls: tuple[Array, ...]
    mass: float
    rests: Array
    shares: Array

    @property
    def vertices(self) -> Array:
        """(V, 3) [m] of all parts."""
        return np.vstack([part.vertices for part in self.parts])

    @property
    def size(self) -> tuple[float, float, float]:
        """Extents [m]."""
        x, y, z = map(float, np.ptp(self.vertices, axis=0))
        return x, y, z


def save_model(model: ModelFile, path: Path) -> None:
    """Write it."""
    data: dict[str, npt.NDArray[np.generic]] = {"mass": np.array(model.mass), "rests": model.rests, "shares": model.shares}
    for number, part in enumerate(model.parts):
        values = {"v": part.vertices.astype(np.float32), "f": part.faces, "rgb": np.array(part.rgb), "picture": part.picture, "uv": part.uv.astype(np.float32)}
        values |= {"uvf": part.uv_faces, "repeat": np.array(part.repeat), "uniform": np.array(part.uniform)}
        data |= {f"part{number}/{key}": value for key, value in values.items()}
    data |= {f"hull{number}": hull.astype(np.float32) for number, hull in enumerate(model.hulls)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **data)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def load_model(path: Path) -> ModelFile:
    """Read it.

    Raises:
        DeskhandError: ``invalid_input`` when it is missing or none.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            parts = tuple(_part(data, f"part{number}/") for number in range(sum(name.endswith("/v") for name in data.files)))
            hulls = tuple(data[f"hull{number}"].astype(float) for number in range(sum(name.startswith("hull") for name in data.files)))
            model = ModelFile(parts, hulls, float(data["mass"]), data["rests"], data["shares"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DeskhandError("invalid_input", f"{path} is no model file: {error}.", hint="Make it with `deskhand bench foreign install`.") from error
    if not parts or not hulls:
        raise DeskhandError("invalid_input", f"{path} holds no surface or no convex piece.", hint="Make it with `deskhand bench foreign install`.")
    return model


def _part(data: np.lib.npyio.NpzFile, name: str) -> Part:
    r, g, b = map(float, data[name + "rgb"])
    u, v = map(float, data[name + "repeat"])
    vertices, faces, picture = data[name + "v"].astype(float), data[name + "f"], data[name + "picture"]
    return Part(vertices, faces, (r, g, b), picture, data[name + "uv"].astype(float), data[name + "uvf"], (u, v), bool(data[name + "uniform"]))
