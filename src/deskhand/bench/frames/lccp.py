"""LCCP of the Point Cloud Library as a contender: a small C++ program, compiled once where libpcl-dev is installed.

S. C. Stein et al., Object Partitioning using Local Convexity, CVPR 2014.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from deskhand.bench.frames.plane import Labels, Region, camera_points
from deskhand.errors import DeskhandError
from deskhand.types import Frame

SOURCE = Path(__file__).with_name("lccp.cpp")
LIBRARIES = ("segmentation", "search", "kdtree", "octree", "features", "filters", "sample_consensus", "ml", "common")
FLAGS = "DESKHAND_PCL_FLAGS"
"""Environment variable with compiler flags that say where PCL and Eigen are, when they are in no usual place."""
WITHOUT_ARGUMENTS = 1
"""Exit code of the program when it starts at all."""
INCLUDES = ("/usr/include", "/usr/local/include")


@dataclass(frozen=True)
class LccpSettings:
    """Parameters in the program's order; see PCL's SupervoxelClustering and LCCPSegmentation. Defaults: chosen on the learn set of mOSD.

    Attributes:
        voxel, seed: resolutions [m].
        color, spatial, normal: importance of each.
        transform: 1 for voxels that grow with the distance.
        refine: 1 to refine supervoxels.
        concavity: tolerance [deg].
        smooth: of the smoothness check.
        min_segment: in supervoxels.
        k: extended convexity.
        sanity: 1 for the sanity check.
    """

    voxel: float = 0.01
    seed: float = 0.04
    color: float = 0.5
    spatial: float = 2.0
    normal: float = 1.0
    transform: int = 1
    refine: int = 1
    concavity: float = 20.0
    smooth: float = 0.5
    min_segment: int = 10
    k: int = 0
    sanity: int = 1


class Lccp:
    """Segments of what is above the table; smaller ones than ``least`` [px] are noise.

    Raises:
        DeskhandError: ``missing_dependency`` when the program cannot be compiled.
    """

    def __init__(self, settings: LccpSettings | None = None, low: float = 0.005, high: float = 0.5, least: int = 600) -> None:
        self._settings, self._low, self._high, self._least = settings or LccpSettings(), low, high, least
        self._program = compiled()

    def __call__(self, frame: Frame, region: Region) -> Labels:
        """See Method."""
        with np.errstate(invalid="ignore"):
            v, u = np.nonzero(np.isfinite(frame.depth) & (region.points[..., 2] > self._low) & (region.points[..., 2] < self._high))
        labels = np.zeros(frame.depth.shape, np.int32)
        if not len(v):
            return labels
        data = np.concatenate([camera_points(frame.depth, frame.intrinsics)[v, u], frame.color[v, u]], axis=1).astype(np.float32)
        command = [str(self._program), *(f"{value:g}" for value in astuple(self._settings))]
        done = subprocess.run(command, input=np.int32(len(v)).tobytes() + data.tobytes(), capture_output=True, timeout=120, check=False)
        if done.returncode or len(done.stdout) != 4 * len(v):
            raise DeskhandError("internal_error", f"{self._program.name} failed: {done.stderr.decode(errors='replace')[-300:]}")
        numbers = np.unique(np.frombuffer(done.stdout, np.int32), return_inverse=True)
        found = (numbers[1].reshape(-1) + 1).astype(np.int32)
        found[numbers[0][found - 1] == 0] = 0
        found[np.bincount(found)[found] < self._least] = 0
        labels[v, u] = found
        return labels


def compiled() -> Path:
    """The program, compiled when it is not there yet. Raises ``missing_dependency`` when it cannot be."""
    flags = shlex.split(os.environ.get(FLAGS, "")) or _usual_flags()
    key = hashlib.sha256((SOURCE.read_text() + repr(flags)).encode()).hexdigest()[:12]
    program = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "deskhand" / f"lccp-{key}"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        built = Path(folder) / "lccp"
        command = ["g++", "-O2", "-w", "-o", str(built), str(SOURCE), *flags, *(f"-lpcl_{name}" for name in LIBRARIES)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _missing(str(error)) from error
        if done.returncode:
            raise _missing(next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-200:]))
        started = subprocess.run([str(built)], capture_output=True, text=True, timeout=60, check=False)
        if started.returncode != WITHOUT_ARGUMENTS:
            raise _missing(started.stderr[-300:])
        built.rename(program)
    return program


def _usual_flags() -> list[str]:
    """Include paths of Debian's packages: those of PCL and Eigen carry a version."""
    found = [path for top in INCLUDES for path in (*sorted(Path(top).glob("pcl-*")), Path(top) / "eigen3")]
    return [f"-I{path}" for path in found if path.is_dir()]


def _missing(why: str) -> DeskhandError:
    hint = f"Debian, Ubuntu: apt-get install g++ libpcl-dev. Elsewhere say where PCL and Eigen are in {FLAGS}."
    return DeskhandError("missing_dependency", f"LCCP needs the Point Cloud Library: {why}", hint=hint)
