"""Takes the two networks that read text out of the wheel of the Python package rapidocr, which the user downloads; nothing is fetched."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.onnx_model import OnnxModel
from deskhand.perception.detectors.packages import OCR, opened
from deskhand.perception.detectors.printed_text import CHARACTERS

_MARKS = ("_det_", "_rec_")


def convert(package: Path, target: Path) -> list[str]:
    """Write the network that finds text to ``target``, that which reads it beside it (``_det`` becomes ``_rec``); returns a sample of the signs.

    Raises:
        DeskhandError: ``config_error`` when the package is not the one or a file in it is no such network, ``missing_dependency`` without onnxruntime.
    """
    reader = reader_of(target)
    with opened(package) as files:
        for mark, file in zip(_MARKS, (target, reader), strict=True):
            names = [path for path in files if path.endswith(".onnx") and mark in PurePosixPath(path).name]
            if len(names) != 1:
                raise DeskhandError("config_error", f"{package} has {len(names)} networks named *{mark}*.onnx, not one as {OCR.package} has.", hint=OCR.get)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(files.read(PurePosixPath(names[0]).name))
    OnnxModel(target).inputs()
    signs = OnnxModel(reader).metadata().get(CHARACTERS, "").split("\n")
    if len(signs) < 2:
        raise DeskhandError("config_error", f"{reader} does not say which signs it reads.", hint=OCR.get)
    return [sign for sign in signs if sign.isascii() and sign.isalnum()]


def reader_of(finder: Path) -> Path:
    """Where the network that reads lies, for where that which finds does."""
    return finder.with_name(finder.name.replace("_det", "_rec") if "_det" in finder.name else f"{finder.stem}_rec{finder.suffix}")
