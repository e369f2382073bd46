"""Triangle meshes from OBJ and STL files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

Faces = npt.NDArray[np.int32]
_STL = np.dtype([("normal", "<3f4"), ("corners", "<9f4"), ("attribute", "<u2")])


def load_mesh(path: Path) -> tuple[Array, Faces]:
    """Vertices (V, 3) in the file's units and triangles (F, 3) of an OBJ or STL file (ASCII or binary).

    Raises:
        DeskhandError: ``invalid_input`` when the file is missing, of another kind, or holds no triangles.
    """
    readers = {".obj": _read_obj, ".stl": _read_stl}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DeskhandError("invalid_input", f"{path} is not a mesh that can be read; valid: {', '.join(readers)}.")
    try:
        vertices, faces = reader(path.read_bytes())
    except OSError as error:
        raise DeskhandError("invalid_input", f"the mesh {path} cannot be read: {error.strerror}.") from error
    except (ValueError, IndexError) as error:
        raise DeskhandError("invalid_input", f"the mesh {path} is broken: {error}.") from error
    if not len(faces):
        raise DeskhandError("invalid_input", f"the mesh {path} holds no triangles.")
    if not np.all(np.isfinite(vertices)) or faces.min() < 0 or faces.max() >= len(vertices):
        raise DeskhandError("invalid_input", f"the mesh {path} is broken: values that are not finite, or faces without vertices.")
    return vertices, faces


def _read_obj(data: bytes) -> tuple[Array, Faces]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            # indices count from 1, negative ones from the newest vertex
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [corner - 1 if corner > 0 else len(vertices) + corner for corner in corners]
            faces += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    return np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=np.int32).reshape(-1, 3)


def _read_stl(data: bytes) -> tuple[Array, Faces]:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        corners = np.frombuffer(data, _STL, offset=84)["corners"].reshape(-1, 3)
    else:
        rows = [line.split()[1:4] for line in data.decode("utf-8", "replace").splitlines() if line.split()[:1] == ["vertex"]]
        corners = np.array(rows, dtype=float).reshape(-1, 3)
        if len(corners) % 3:
            raise ValueError("an STL file must have three vertices a facet")
    vertices, index = np.unique(corners.astype(float), axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3).astype(np.int32)
