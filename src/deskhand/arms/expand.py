"""An arm's URDF file expanded by xacro, with the files of its meshes found."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError

_ARGUMENT = re.compile(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)[\"']")
_INCLUDE = re.compile(r"<xacro:include\s[^>]*?filename\s*=\s*[\"']([^\"']+)[\"']")
_PACKAGE = "package://"


def expand(file: Path, arguments: Mapping[str, str]) -> Any:
    """The expanded file as an XML document; names of meshes are those of files, relative ones beside ``file``, ``package://`` in the sourced ROS 2.

    Raises:
        DeskhandError: ``missing_dependency`` without xacro, ``config_error`` when the file cannot be expanded.
    """
    try:
        import xacro
    except ImportError as error:
        raise DeskhandError("missing_dependency", "xacro is not installed.", hint="pip install xacro, or apt install ros-$ROS_DISTRO-xacro.") from error
    try:
        document = xacro.process_file(str(file), mappings=dict(arguments))
    except Exception as error:  # what is written in the file is evaluated, and may raise anything
        said = " ".join(str(error).split()) or type(error).__name__
        raise DeskhandError("config_error", f"{file} cannot be expanded: {said}.") from error
    for mesh in document.getElementsByTagName("mesh"):
        mesh.setAttribute("filename", mesh_file(mesh.getAttribute("filename"), file))
    return document


def mesh_file(name: str, urdf: Path) -> str:
    """``file://`` and the whole path of a mesh; a name in a package that is not there stays as it is."""
    if name.startswith(_PACKAGE):
        package, _, rest = name.removeprefix(_PACKAGE).partition("/")
        for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
            if (found := Path(prefix) / "share" / package / rest).is_file():
                return f"file://{found}"
        return name
    return f"file://{(urdf.parent / name.removeprefix('file://')).resolve()}"


def declared(file: Path, seen: frozenset[Path] = frozenset()) -> set[str]:
    """Names of the arguments (``xacro:arg``) that the file, or one that it includes, declares."""
    try:
        text = file.read_text()
    except (OSError, ValueError):
        return set()
    names, seen = set(_ARGUMENT.findall(text)), seen | {file.resolve()}
    for name in _INCLUDE.findall(text):
        inner = (file.parent / name).resolve()
        names |= declared(inner, seen) if inner not in seen and "$" not in name else set()
    return names
