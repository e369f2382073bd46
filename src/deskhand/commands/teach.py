"""``deskhand teach``: objects of your own and what you call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from deskhand.errors import DeskhandError

console = Console(highlight=False)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("teach")(teach)


def teach(
    name: Annotated[str, typer.Argument(help='What you call it, for example "my mug".')] = "",
    object_id: Annotated[str, typer.Option("--object", help="Its id as detect_objects gives it; default: the only object on the desk.")] = "",
    views: Annotated[int, typer.Option(min=1, max=20, help="How many views to take; before each a camera that stands still asks you to turn the object.")] = 5,
    picture: Annotated[
        list[Path] | None, typer.Option(help="Learn from a picture instead, once for each: with transparency (PNG), a --mask, or before a plain background.")
    ] = None,
    mask: Annotated[list[Path] | None, typer.Option(help="Picture that is white where the object is, one for each --picture.")] = None,
    mesh: Annotated[Path | None, typer.Option(help="Learn from a mesh (OBJ with texture coordinates, or STL) instead: it is rendered from all sides.")] = None,
    texture: Annotated[Path | None, typer.Option(help="PNG of the mesh's texture.")] = None,
    size: Annotated[tuple[float, float, float] | None, typer.Option(help="Its three extents [m], in any order, for pictures.")] = None,
    scale: Annotated[float, typer.Option(help="Metres in a unit of the mesh.")] = 1.0,
    list_all: Annotated[bool, typer.Option("--list", help="List what was taught.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Forget the name.")] = False,
    store: Annotated[Path | None, typer.Option(help="File of taught objects. Default: $DESKHAND_TAUGHT, or ~/.deskhand/taught.sqlite.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help='Write {"store", "taught": [{"name", "views", "size", "sources"}]}: all names there are now.')
    ] = None,
) -> None:
    """Teach an object: the running robot looks at it (default), or you give pictures or a mesh. It is known again under this name, after a restart too."""
    from deskhand.world.taught import TaughtStore, store_path

    path = store or store_path()
    if not list_all and not name:
        raise DeskhandError("invalid_input", "what is it called?", hint='deskhand teach "my mug", or deskhand teach --list.')
    if list_all or forget or picture or mesh:
        with TaughtStore(path) as kept:
            if forget:
                kept.forget(name)
            elif picture or mesh:
                kept.add(name, _given(picture or [], mask or [], mesh, texture, size or (), scale))
    else:
        if store is not None:
            raise DeskhandError("invalid_input", "the running robot keeps its own file of taught objects.", hint="Start it with DESKHAND_TAUGHT=FILE.")
        _shown(name, object_id, views)
    _tell(path, json_file)


def _given(pictures: list[Path], masks: list[Path], mesh: Path | None, texture: Path | None, size: tuple[float, ...], scale: float) -> list[Any]:
    """Views from files."""
    from deskhand.perception.taught.pictures import view_from_files

    if masks and len(masks) != len(pictures):
        raise DeskhandError("invalid_input", f"{len(pictures)} pictures and {len(masks)} masks.", hint="Give a --mask for each --picture, or none.")
    found = [view_from_files(one, masks[number] if masks else None, size) for number, one in enumerate(pictures)]
    if mesh is not None:
        from deskhand.sim.mesh_views import mesh_views

        found += mesh_views(mesh, texture, scale)
    return found


def _shown(name: str, object_id: str, views: int) -> None:
    """The running robot looks at the object until it has its views; a person turns it before a camera that stands still."""
    from deskhand.commands.tools import call_over_ros

    taken = 0
    while taken < views:
        result = call_over_ros("teach_object", {"name": name, "object_id": object_id or _only_one(), "views": min(8, views - taken)})
        if not result.ok:
            raise DeskhandError(result.code or "tool_failed", result.message, hint=result.hint)
        taken += max(1, int(result.data["learnt"]))
        console.print(f"{taken} of {views} views. {result.data['note']}", markup=False)
        if taken < views:
            object_id = object_id if taken > 1 and int(result.data["learnt"]) > 1 else ""
            typer.prompt("Turn it to another side and press Enter", default="", show_default=False)


def _only_one() -> str:
    """The id of the only object on the desk that is no container."""
    from deskhand.commands.tools import call_over_ros

    result = call_over_ros("detect_objects", {})
    if not result.ok:
        raise DeskhandError(result.code or "tool_failed", result.message, hint=result.hint)
    found = result.data["objects"]
    loose = [item["id"] for item in found if not item["is_container"]] or [item["id"] for item in found]
    if len(loose) != 1:
        raise DeskhandError("invalid_input", f"{len(loose)} objects are on the desk: {', '.join(loose) or 'none'}.", hint="Say which one: --object ID.")
    return str(loose[0])


def _tell(path: Path, json_file: Path | None) -> None:
    from deskhand.world.taught import TaughtStore

    with TaughtStore(path) as kept:
        lines = kept.listing()
    table = Table("name", "views", "size [mm]", "from")
    for line in lines:
        table.add_row(line.name, str(line.views), " x ".join(f"{1000 * side:.0f}" for side in line.size), ", ".join(line.sources))
    console.print(table if lines else f"nothing has been taught yet ({path})")
    if json_file is not None:
        rows = [{"name": line.name, "views": line.views, "size": list(line.size), "sources": list(line.sources)} for line in lines]
        json_file.write_text(json.dumps({"store": str(path), "taught": rows}, indent=1))
