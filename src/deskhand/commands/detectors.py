"""``deskhand detectors``: which detectors are configured, and weights from packages that the user downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from deskhand.errors import DeskhandError

WEIGHTS = Path("~/.deskhand/models/objectron.onnx")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Detectors that name objects beside geometry.", no_args_is_help=True)
    group.command("list")(list_detectors)
    group.command("import")(import_weights)
    app.add_typer(group, name="detectors")


def list_detectors(
    config: Annotated[Path | None, typer.Option(help="File like config/detectors.yaml, which is the default.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help='Write {"detectors": [{"name", "kind", "used", "ready", "problem"}]}.')] = None,
) -> None:
    """List the detectors of the configuration: used or not, and ready or why not."""
    from deskhand.perception.detectors.config import GEOMETRY, detector_list, make_detector, read

    used, known, path = detector_list(config)
    rows = [{"name": GEOMETRY, "kind": GEOMETRY, "used": GEOMETRY in used, "ready": True, "problem": ""}]
    for name, data in known.items():
        try:
            entry = read(name, data, path)
            make_detector(entry)
            problem = ""
        except DeskhandError as error:
            problem = str(error)
        rows.append({"name": name, "kind": str(data.get("kind", "")), "used": name in used, "ready": not problem, "problem": problem})
    table = Table("detector", "kind", "used", "ready")
    for row in rows:
        table.add_row(str(row["name"]), str(row["kind"]), "yes" if row["used"] else "no", "yes" if row["ready"] else str(row["problem"]))
    Console().print(table)
    if json_file is not None:
        json_file.write_text(json.dumps({"detectors": rows}, indent=1))


def import_weights(
    package: Annotated[Path, typer.Argument(help="mediapipe-objectron-*.tgz as `npm pack @mediapipe/objectron` gives it, or the folder it was unpacked to.")],
    out: Annotated[Path, typer.Option(help="ONNX file to write.")] = WEIGHTS,
) -> None:
    """Make an ONNX detector of the weights in a package that you downloaded; nothing is fetched."""
    from deskhand.perception.detectors.objectron import convert

    target = out.expanduser()
    labels = convert(package.expanduser(), target)
    Console().print(f"{target}: {len(labels)} labels: {', '.join(labels)}", highlight=False)
