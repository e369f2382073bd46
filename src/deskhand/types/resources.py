"""Where the package's data files (config, urdf, launch) are: in the source tree, or in the installed share folder."""

from __future__ import annotations

import sys
from pathlib import Path

from deskhand.errors import DeskhandError

_SOURCE = Path(__file__).resolve().parents[3]


def resource_path(name: str) -> Path:
    """Absolute path of a data file or folder, for example ``config/arms``.

    Raises:
        DeskhandError: ``config_error`` when neither the source tree nor an install prefix has it.
    """
    prefixes = [parent for parent in Path(__file__).resolve().parents if (parent / "share/deskhand").is_dir()]
    for root in (_SOURCE, *(prefix / "share/deskhand" for prefix in prefixes), Path(sys.prefix) / "share/deskhand"):
        if (root / name).exists():
            return root / name
    raise DeskhandError("config_error", f"the data file {name!r} is not in {_SOURCE} nor in a share/deskhand folder; reinstall the package.")
